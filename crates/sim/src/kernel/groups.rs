//! Datagrams to many: broadcasts, which all hosts get, and multicasts of IPv4, which the hosts get
//! that have a socket in the group.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use super::files::FileId;
use super::{Errno, Kernel, Result};

/// The groups of all sockets, by host.
pub(crate) type Groups = BTreeSet<(usize, Ipv4Addr, FileId)>;

/// The address of many hosts: a group, or all.
pub(crate) fn many(ip: IpAddr) -> Option<Ipv4Addr> {
    match ip {
        IpAddr::V4(ip) if ip.is_multicast() || ip.is_broadcast() => Some(ip),
        _ => None,
    }
}

impl Kernel {
    /// Puts a socket into a group, or takes it out.
    pub(crate) fn change_membership(
        &mut self,
        host: usize,
        id: FileId,
        group: Ipv4Addr,
        joins: bool,
    ) -> Result<()> {
        let key = (host, group, id);
        match joins {
            true if !group.is_multicast() => Err(Errno(libc::EINVAL)),
            true if !self.groups.insert(key) => Err(Errno(libc::EADDRINUSE)),
            false if !self.groups.remove(&key) => Err(Errno(libc::EADDRNOTAVAIL)),
            _ => Ok(()),
        }
    }

    /// Whether a host gets datagrams to an address. As on Linux, all its sockets get those of a
    /// group that one of them is in.
    pub(crate) fn is_member(&self, host: usize, of: Ipv4Addr) -> bool {
        let range = (host, of, FileId::MIN)..=(host, of, FileId::MAX);
        of.is_broadcast() || self.groups.range(range).next().is_some()
    }
}
