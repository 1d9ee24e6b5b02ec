//! Who is at the other end.

use super::{gid_t, pid_t, uid_t};

/// The user, group and process at the other end of a Unix socket, as they were
/// when it was connected; see [`UnixStream::peer_cred`](crate::UnixStream::peer_cred).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UCred {
    pub(crate) pid: Option<pid_t>,
    pub(crate) uid: uid_t,
    pub(crate) gid: gid_t,
}

impl UCred {
    /// The effective user.
    pub fn uid(&self) -> uid_t {
        self.uid
    }

    /// The effective group.
    pub fn gid(&self) -> gid_t {
        self.gid
    }

    /// The process, where the system tells it: Linux and Android.
    pub fn pid(&self) -> Option<pid_t> {
        self.pid
    }
}
