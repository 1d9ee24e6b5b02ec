//! Addresses, names and ports.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use super::files::FileId;
use super::{Errno, Kernel, Result};

/// The address of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Addr {
    Inet(SocketAddr),
    /// A path, an abstract name that begins with a zero, or nothing.
    Unix(Arc<[u8]>, Option<Inode>),
}

/// What the file system knows the file of a Unix socket by: the device and a number.
pub(crate) type Inode = (u64, u64);

/// What a socket that listens is found by, on its host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    Tcp(IpAddr, u16),
    /// The abstract name.
    Unix(Arc<[u8]>),
    File(Inode),
}

impl Addr {
    pub(crate) fn unnamed() -> Self {
        Self::Unix(Arc::default(), None)
    }

    pub(crate) fn name(&self) -> Name {
        match self {
            Self::Inet(addr) => Name::Tcp(addr.ip(), addr.port()),
            Self::Unix(_, Some(inode)) => Name::File(*inode),
            Self::Unix(path, None) => Name::Unix(Arc::clone(path)),
        }
    }

    pub(crate) fn inet(&self) -> Option<SocketAddr> {
        match self {
            Self::Inet(addr) => Some(*addr),
            Self::Unix(..) => None,
        }
    }

    /// Whether only sockets of the same host reach it.
    pub(crate) fn is_local(&self) -> bool {
        match self {
            Self::Inet(addr) => addr.ip().to_canonical().is_loopback(),
            Self::Unix(..) => true,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Protocol {
    Tcp,
    Udp,
}

/// The first port that a host chooses itself, as on Linux.
const FIRST_PORT: u16 = 32_768;
const LAST_PORT: u16 = 60_999;

/// How a socket uses a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub(crate) ip: IpAddr,
    /// Whether `[::]` does not include the addresses of IPv4.
    pub(crate) is_only_v6: bool,
    /// `SO_REUSEADDR`
    pub(crate) reuses_addr: bool,
    /// `SO_REUSEPORT`
    pub(crate) reuses_port: bool,
}

impl Claim {
    /// The claim of a socket whose port the system chooses.
    pub(crate) fn of(ip: IpAddr) -> Self {
        Self {
            ip,
            is_only_v6: false,
            reuses_addr: false,
            reuses_port: false,
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        let is_dual = |claim: &Self| claim.ip.is_unspecified() && !claim.is_only_v6;
        match (self.ip, other.ip) {
            (IpAddr::V6(_), IpAddr::V4(_)) => is_dual(self),
            (IpAddr::V4(_), IpAddr::V6(_)) => is_dual(other),
            (one, two) => one == two || one.is_unspecified() || two.is_unspecified(),
        }
    }
}

/// A socket that uses a port.
struct User {
    file: FileId,
    claim: Claim,
    is_listening: bool,
}

/// The ports of all hosts that are in use, and by which sockets.
#[derive(Default)]
pub(crate) struct Ports {
    used: BTreeMap<(usize, Protocol, u16), Vec<User>>,
    next: BTreeMap<(usize, Protocol), u16>,
}

impl Ports {
    /// Takes a port, or a free one if it is 0.
    pub(crate) fn take(
        &mut self,
        host: usize,
        protocol: Protocol,
        port: u16,
        file: FileId,
        claim: Claim,
    ) -> Result<u16> {
        let user = User {
            file,
            claim,
            is_listening: false,
        };
        if port != 0 {
            let users = self.used.entry((host, protocol, port)).or_default();
            let excludes = |other: &User| {
                let shares_addr = claim.reuses_addr && other.claim.reuses_addr;
                let shares_port = claim.reuses_port && other.claim.reuses_port;
                let shares = shares_port || shares_addr && !other.is_listening;
                other.claim.overlaps(&claim) && !shares
            };
            if users.iter().any(excludes) {
                return Err(Errno(libc::EADDRINUSE));
            }
            users.push(user);
            return Ok(port);
        }
        let next = self.next.entry((host, protocol)).or_insert(FIRST_PORT);
        for _ in FIRST_PORT..=LAST_PORT {
            let port = *next;
            *next = if port == LAST_PORT {
                FIRST_PORT
            } else {
                port + 1
            };
            if let Entry::Vacant(free) = self.used.entry((host, protocol, port)) {
                free.insert(vec![user]);
                return Ok(port);
            }
        }
        Err(Errno(libc::EADDRNOTAVAIL))
    }

    fn users(&mut self, host: usize, port: u16) -> Option<&mut Vec<User>> {
        self.used.get_mut(&(host, Protocol::Tcp, port))
    }

    /// Adds an accepted connection to the port of the socket that listens.
    pub(crate) fn share(&mut self, host: usize, port: u16, listener: FileId, accepted: FileId) {
        let Some(users) = self.users(host, port) else {
            return;
        };
        if let Some(user) = users.iter().find(|user| user.file == listener) {
            let claim = user.claim;
            users.push(User {
                file: accepted,
                claim,
                is_listening: false,
            });
        }
    }

    /// A socket begins to listen. Several may do so at the same port only by `SO_REUSEPORT`.
    pub(crate) fn listen(&mut self, host: usize, port: u16, file: FileId) -> Result<()> {
        let Some(users) = self.users(host, port) else {
            return Ok(());
        };
        let Some(at) = users.iter().position(|user| user.file == file) else {
            return Ok(());
        };
        let claim = users[at].claim;
        let excludes = |other: &User| {
            let shares = claim.reuses_port && other.claim.reuses_port;
            other.file != file && other.is_listening && other.claim.overlaps(&claim) && !shares
        };
        if users.iter().any(excludes) {
            return Err(Errno(libc::EADDRINUSE));
        }
        users[at].is_listening = true;
        Ok(())
    }

    pub(crate) fn stop_listening(&mut self, host: usize, port: u16, file: FileId) {
        let mut users = self.users(host, port).into_iter().flatten();
        if let Some(user) = users.find(|user| user.file == file) {
            user.is_listening = false;
        }
    }

    pub(crate) fn is_only_v6(&self, host: usize, port: u16, file: FileId) -> bool {
        let users = self.used.get(&(host, Protocol::Tcp, port));
        let mut users = users.into_iter().flatten();
        users.any(|user| user.file == file && user.claim.is_only_v6)
    }

    pub(crate) fn give_back(&mut self, host: usize, protocol: Protocol, port: u16, file: FileId) {
        if let Entry::Occupied(mut used) = self.used.entry((host, protocol, port)) {
            used.get_mut().retain(|user| user.file != file);
            if used.get().is_empty() {
                used.remove();
            }
        }
    }

    pub(crate) fn give_back_all(&mut self, host: usize) {
        self.used.retain(|(of, ..), _| *of != host);
    }
}

/// What a host means by an address of no host, when it sends to it: itself.
pub(crate) fn destination(to: SocketAddr) -> SocketAddr {
    match to.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::from((Ipv4Addr::LOCALHOST, to.port())),
        IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::from((Ipv6Addr::LOCALHOST, to.port())),
        _ => to,
    }
}

/// The address of a host.
pub(crate) fn ip_of(host: usize) -> Ipv4Addr {
    let number = u32::try_from(host + 1).expect("there are fewer hosts than addresses");
    Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 0, 0, 0)) + number)
}

impl Kernel {
    /// The host that an address means on a host.
    pub(crate) fn host_of(&mut self, host: usize, ip: IpAddr) -> Result<usize> {
        let ip = ip.to_canonical();
        if ip.is_loopback() || ip.is_unspecified() {
            return Ok(host);
        }
        let number = match ip {
            IpAddr::V4(ip) => u32::from(ip).checked_sub(u32::from(ip_of(0))),
            IpAddr::V6(_) => None,
        };
        let found = number.map(|number| number as usize);
        match found.filter(|number| *number < self.hosts.len()) {
            Some(found) => Ok(found),
            None => {
                self.record_unsimulated(format!(
                    "a route to {ip}, which is not a host of the simulation"
                ));
                Err(Errno(libc::ENETUNREACH))
            }
        }
    }

    /// Checks that an address is one of the host, for a socket to be bound to.
    pub(crate) fn check_own(&mut self, host: usize, ip: IpAddr) -> Result<()> {
        match self.host_of(host, ip) {
            Ok(found) if found == host => Ok(()),
            _ => Err(Errno(libc::EADDRNOTAVAIL)),
        }
    }

    /// The address that `to` sees of a socket that is bound to `local`.
    pub(crate) fn source(&self, host: usize, local: SocketAddr, to: SocketAddr) -> SocketAddr {
        let to_ip = to.ip();
        let is_to_itself = to_ip.to_canonical().is_loopback() || to_ip.is_unspecified();
        match local.ip().is_unspecified() {
            false => local,
            true if is_to_itself && to.is_ipv4() => {
                SocketAddr::from((Ipv4Addr::LOCALHOST, local.port()))
            }
            true if is_to_itself => SocketAddr::new(to_ip, local.port()),
            true => SocketAddr::from((ip_of(host), local.port())),
        }
    }

    /// Checks that packets to another host do not come from the loopback, as Linux does.
    pub(crate) fn check_source(&self, from: SocketAddr, way: (usize, usize)) -> Result<()> {
        match way.0 != way.1 && from.ip().to_canonical().is_loopback() {
            true => Err(Errno(libc::EINVAL)),
            false => Ok(()),
        }
    }

    /// Resolves the name of a host.
    pub(crate) fn resolve(&mut self, host: usize, name: &str) -> Option<Ipv4Addr> {
        if name == "localhost" {
            return Some(Ipv4Addr::LOCALHOST);
        }
        let mut hosts = self.hosts.iter();
        let found = hosts.position(|other| other.name == name).map(ip_of);
        if found.is_none() {
            let asker = self.hosts[host].name.clone();
            self.record_unsimulated(format!(
                "the address of {name:?}, which {asker:?} asked for; add it by Sim::host"
            ));
        }
        found
    }
}
