//! The credentials of the peer.

use super::{gid_t, pid_t, uid_t};

/// The user, group and process at the other end of a Unix socket, as they were when it was
/// connected; see [`UnixStream::peer_cred`](crate::UnixStream::peer_cred).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::UnixStream;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (_client, server) = UnixStream::pair()?;
/// let peer = server.peer_cred()?;
/// println!("user {}, group {}", peer.uid(), peer.gid());
/// # Ok(()) }) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UCred {
    pub(crate) pid: Option<pid_t>,
    pub(crate) uid: uid_t,
    pub(crate) gid: gid_t,
}

impl UCred {
    /// Returns the effective user.
    pub fn uid(&self) -> uid_t {
        self.uid
    }

    /// Returns the effective group.
    pub fn gid(&self) -> gid_t {
        self.gid
    }

    /// Returns the process, on systems that report it: Linux, Android, macOS, illumos and Solaris.
    pub fn pid(&self) -> Option<pid_t> {
        self.pid
    }
}
