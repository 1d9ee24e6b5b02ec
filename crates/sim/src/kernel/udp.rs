//! Simulated UDP: datagrams that may be lost, come twice, or overtake each other.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use libc::c_int;

use super::files::{FileId, Kind};
use super::groups::many;
use super::net::{Claim, Protocol, destination};
use super::{Caller, Errno, Kernel, Packet, Result};
use crate::trace::Record;

/// What a socket keeps at most, as Linux by default. It loses further datagrams.
const BUFFER: usize = 212_992;
/// The longest datagrams of IPv4 and of IPv6.
const LONGEST_V4: usize = 65_507;
const LONGEST_V6: usize = 65_527;
/// How many datagrams one message may be cut into.
const MOST_SEGMENTS: usize = 128;
/// The bytes of the headers of IPv4 and UDP.
const HEADERS: usize = 28;

/// The sockets that are bound, by host, port and file.
pub(crate) type Datagrams = BTreeMap<(usize, u16, FileId), Bound>;

/// A socket for datagrams. It is bound at first use.
#[derive(Clone, Copy, Default)]
pub(crate) struct UdpSocket {
    pub(crate) key: Option<(usize, u16, FileId)>,
    /// The length that datagrams are cut into, by `UDP_SEGMENT`. 0: they are not.
    pub(crate) segment: u16,
    /// Whether its own host does not get its multicasts, by `IP_MULTICAST_LOOP`.
    pub(crate) is_loop_off: bool,
    is_read_shut: bool,
    is_write_shut: bool,
}

/// A datagram on its way.
pub(crate) struct Datagram {
    from_host: usize,
    from: SocketAddr,
    to_host: usize,
    to: SocketAddr,
    data: Arc<[u8]>,
}

pub(crate) enum UdpEvent {
    Arrived(Datagram),
    /// A host answers that no socket receives at the address.
    Refused {
        by_host: usize,
        host: usize,
        to: SocketAddr,
        by: SocketAddr,
    },
}

impl UdpEvent {
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Arrived(datagram) => format!("datagram of {} bytes", datagram.data.len()),
            Self::Refused { .. } => "refusal of a datagram".to_owned(),
        }
    }
}

/// A socket that is bound.
pub(crate) struct Bound {
    file: FileId,
    local: SocketAddr,
    peer: Option<SocketAddr>,
    received: VecDeque<(SocketAddr, Arc<[u8]>)>,
    bytes: usize,
    error: Option<c_int>,
    is_only_v6: bool,
}

impl Bound {
    /// How closely a socket fits a datagram between two addresses. `None`: it does not.
    fn fits(&self, from: SocketAddr, to: SocketAddr) -> Option<u32> {
        let own = self.local.ip();
        let is_addressed = match own.is_unspecified() {
            true => own.is_ipv6() || to.is_ipv4(),
            false => own == to.ip(),
        };
        let is_other_family = own.is_ipv6() && to.is_ipv4() && self.is_only_v6;
        let is_wanted = self.peer.is_none_or(|peer| peer == from);
        (is_addressed && is_wanted && !is_other_family).then(|| {
            let is_connected = u32::from(self.peer.is_some());
            let is_own = u32::from(!own.is_unspecified());
            4 * is_connected + 2 * is_own + u32::from(own.is_ipv4())
        })
    }
}

impl Bound {
    /// Keeps a datagram, if there is room.
    fn keep(&mut self, datagram: &Datagram) -> bool {
        let bytes = self.bytes + datagram.data.len();
        if bytes > BUFFER {
            return false;
        }
        self.bytes = bytes;
        let data = Arc::clone(&datagram.data);
        self.received.push_back((datagram.from, data));
        true
    }
}

impl UdpEvent {
    /// The hosts between which a datagram is on its way.
    pub(crate) fn way(&self) -> (usize, usize) {
        match self {
            Self::Arrived(datagram) => (datagram.from_host, datagram.to_host),
            Self::Refused { by_host, host, .. } => (*by_host, *host),
        }
    }
}

impl Kernel {
    /// The socket that a datagram is for.
    fn receiver(&mut self, host: usize, from: SocketAddr, to: SocketAddr) -> Option<&mut Bound> {
        let port = to.port();
        let range = (host, port, FileId::MIN)..=(host, port, FileId::MAX);
        let fitting = self.datagrams.range_mut(range).filter_map(|(_, bound)| {
            let fits = bound.fits(from, to)?;
            Some((fits, bound))
        });
        fitting
            .max_by_key(|(fits, _)| *fits)
            .map(|(_, bound)| bound)
    }

    fn send_datagram(&mut self, datagram: Datagram) {
        let way = (datagram.from_host, datagram.to_host);
        let bytes = HEADERS + datagram.data.len();
        let copies = match self.links.duplicates(&mut self.random, way.0, way.1) {
            true => 2,
            false => 1,
        };
        for _ in 0..copies {
            let copy = Datagram {
                data: Arc::clone(&datagram.data),
                ..datagram
            };
            self.send_packet(way, bytes, Packet::Udp(UdpEvent::Arrived(copy)));
        }
    }

    pub(crate) fn handle_udp(&mut self, event: UdpEvent) {
        match event {
            UdpEvent::Arrived(datagram) => {
                if !self.hosts[datagram.to_host].is_up {
                    return;
                }
                if many(datagram.to.ip()).is_some() {
                    return self.receive_by_all(&datagram);
                }
                let is_foreign = datagram.from_host != datagram.to_host;
                let socket = self.receiver(datagram.to_host, datagram.from, datagram.to);
                // One that is bound to the loopback is there for its own host only.
                let socket =
                    socket.filter(|it| !is_foreign || !it.local.ip().to_canonical().is_loopback());
                let Some(socket) = socket else {
                    return self.refuse(&datagram);
                };
                if socket.keep(&datagram) {
                    let file = socket.file;
                    self.notify_waiters(file);
                }
            }
            UdpEvent::Refused { host, to, by, .. } => {
                let socket = self.receiver(host, by, to);
                // As Linux, it tells connected sockets only.
                if let Some(socket) = socket.filter(|socket| socket.peer == Some(by)) {
                    socket.error = Some(libc::ECONNREFUSED);
                    let file = socket.file;
                    self.notify_waiters(file);
                }
            }
        }
    }

    /// Gives a datagram to all sockets that it fits.
    fn receive_by_all(&mut self, datagram: &Datagram) {
        let (host, from, to) = (datagram.to_host, datagram.from, datagram.to);
        if many(to.ip()).is_none_or(|many| !self.is_member(host, many)) {
            return;
        }
        let range = (host, to.port(), FileId::MIN)..=(host, to.port(), FileId::MAX);
        let sockets = self.datagrams.range_mut(range).map(|(_, bound)| bound);
        let fitting = sockets.filter(|it| it.fits(from, to).is_some());
        let kept = fitting.filter_map(|it| it.keep(datagram).then_some(it.file));
        for file in kept.collect::<Vec<_>>() {
            self.notify_waiters(file);
        }
    }

    fn refuse(&mut self, datagram: &Datagram) {
        let way = (datagram.to_host, datagram.from_host);
        let refused = UdpEvent::Refused {
            by_host: datagram.to_host,
            host: datagram.from_host,
            to: datagram.from,
            by: datagram.to,
        };
        self.send_packet(way, 2 * HEADERS, Packet::Udp(refused));
    }

    /// Ends the sockets of a host that goes down.
    pub(crate) fn forget_datagrams(&mut self, host: usize) {
        self.datagrams.retain(|(of, ..), _| *of != host);
        self.groups.retain(|(of, ..)| *of != host);
    }
}

/// What programs call.
impl Kernel {
    fn udp(&mut self, id: FileId) -> Result<&mut UdpSocket> {
        match &mut self.files.get_mut(id).kind {
            Kind::Udp(socket) => Ok(socket),
            _ => Err(Errno(libc::EOPNOTSUPP)),
        }
    }

    fn bound(&mut self, id: FileId) -> Result<Option<&mut Bound>> {
        let Some(key) = self.udp(id)?.key else {
            return Ok(None);
        };
        // Gone with its host.
        let bound = self.datagrams.get_mut(&key);
        bound.map(Some).ok_or(Errno(libc::ECONNABORTED))
    }

    pub(crate) fn udp_readiness(&mut self, socket: UdpSocket) -> c_int {
        let mut ready = libc::EPOLLOUT;
        if socket.is_read_shut {
            ready |= libc::EPOLLIN | libc::EPOLLRDHUP;
        }
        if socket.is_read_shut && socket.is_write_shut {
            ready |= libc::EPOLLHUP;
        }
        let Some(socket) = socket.key.and_then(|key| self.datagrams.get(&key)) else {
            return ready;
        };
        if !socket.received.is_empty() {
            ready |= libc::EPOLLIN;
        }
        if socket.error.is_some() {
            ready |= libc::EPOLLERR;
        }
        ready
    }

    /// As Linux, it ends reads and writes of a socket that is not connected, too, although it
    /// returns an error.
    pub(crate) fn shut_down_udp(&mut self, id: FileId, how: c_int) -> Result<()> {
        if !(libc::SHUT_RD..=libc::SHUT_RDWR).contains(&how) {
            return Err(Errno(libc::EINVAL));
        }
        let socket = self.udp(id)?;
        socket.is_read_shut |= how != libc::SHUT_WR;
        socket.is_write_shut |= how != libc::SHUT_RD;
        self.notify_waiters(id);
        self.udp_peer(id).map(drop)
    }

    pub(crate) fn bind_udp(
        &mut self,
        caller: Caller,
        id: FileId,
        addr: SocketAddr,
        claim: Claim,
    ) -> Result<()> {
        if self.udp(id)?.key.is_some() {
            return Err(Errno(libc::EINVAL));
        }
        if many(addr.ip()).is_none() {
            self.check_own(caller.host, addr.ip())?;
        }
        let (host, port) = (caller.host, addr.port());
        let port = self.ports.take(host, Protocol::Udp, port, id, claim)?;
        let key = (host, port, id);
        let bound = Bound {
            file: id,
            local: SocketAddr::new(addr.ip(), port),
            peer: None,
            received: VecDeque::new(),
            bytes: 0,
            error: None,
            is_only_v6: claim.is_only_v6,
        };
        self.datagrams.insert(key, bound);
        self.udp(id)?.key = Some(key);
        Ok(())
    }

    fn bind_to_any(&mut self, caller: Caller, id: FileId) -> Result<()> {
        match self.bound(id)? {
            Some(_) => Ok(()),
            None => {
                let any = match self.files.get(id).domain {
                    libc::AF_INET6 => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
                    _ => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
                };
                self.bind_udp(caller, id, any, Claim::of(any.ip()))
            }
        }
    }

    /// Sets the peer of a socket, or none.
    pub(crate) fn connect_udp(
        &mut self,
        caller: Caller,
        id: FileId,
        peer: Option<SocketAddr>,
    ) -> Result<()> {
        self.bind_to_any(caller, id)?;
        let peer = peer.map(destination);
        let local = match peer {
            Some(peer) => {
                let peer_host = match many(peer.ip()) {
                    Some(_) => caller.host,
                    None => self.host_of(caller.host, peer.ip())?,
                };
                let local = self.bound(id)?.map(|socket| socket.local);
                let local = local.map(|local| self.source(caller.host, local, peer));
                if let Some(local) = local {
                    self.check_source(local, (caller.host, peer_host))?;
                }
                local
            }
            None => None,
        };
        if let Some(socket) = self.bound(id)? {
            socket.peer = peer;
            socket.local = local.unwrap_or(socket.local);
        }
        Ok(())
    }

    /// Checks a message before its datagrams are sent: their number and that they may be.
    pub(crate) fn check_send(&mut self, id: FileId, datagrams: usize) -> Result<()> {
        if self.udp(id)?.is_write_shut {
            return Err(Errno(libc::EPIPE));
        }
        match datagrams <= MOST_SEGMENTS {
            true => Ok(()),
            false => Err(Errno(libc::EINVAL)),
        }
    }

    /// Sends a datagram to its peer, or to the one that the socket is connected to.
    pub(crate) fn send_to(
        &mut self,
        caller: Caller,
        id: FileId,
        bufs: &[&[u8]],
        peer: Option<SocketAddr>,
    ) -> Result<usize> {
        self.bind_to_any(caller, id)?;
        let Some(socket) = self.bound(id)? else {
            return Err(Errno(libc::ENOTCONN));
        };
        if let Some(error) = socket.error.take() {
            return Err(Errno(error));
        }
        let to = peer.or(socket.peer).ok_or(Errno(libc::EDESTADDRREQ))?;
        let local = socket.local;
        if to.port() == 0 {
            return Err(Errno(libc::EINVAL));
        }
        let to = destination(to);
        let is_to_own_family = local.ip().is_unspecified() || local.is_ipv4() == to.is_ipv4();
        if !is_to_own_family {
            return Err(Errno(libc::ENETUNREACH));
        }
        let data = bufs.concat();
        let bytes = data.len();
        if bytes > if to.is_ipv4() { LONGEST_V4 } else { LONGEST_V6 } {
            return Err(Errno(libc::EMSGSIZE));
        }
        let from_host = caller.host;
        let from = self.source(from_host, local, to);
        let hosts = match many(to.ip()) {
            None => {
                let to_host = self.host_of(from_host, to.ip())?;
                to_host..to_host + 1
            }
            Some(_) => 0..self.hosts.len(),
        };
        let is_loop_off = self.udp(id)?.is_loop_off;
        let data: Arc<[u8]> = data.into();
        for to_host in hosts {
            if let Some(many) = many(to.ip()) {
                let is_for_itself = is_loop_off && to_host == from_host && many.is_multicast();
                if is_for_itself || !self.is_member(to_host, many) {
                    continue;
                }
            }
            self.check_source(from, (from_host, to_host))?;
            self.record(Record::sent(from_host, to_host, &data));
            self.send_datagram(Datagram {
                from_host,
                from,
                to_host,
                to,
                data: Arc::clone(&data),
            });
        }
        Ok(bytes)
    }

    /// Takes a datagram, or looks at it.
    pub(crate) fn receive_from(
        &mut self,
        id: FileId,
        is_peek: bool,
    ) -> Result<(SocketAddr, Arc<[u8]>)> {
        let socket = self.bound(id)?.ok_or(Errno(libc::EAGAIN))?;
        if let Some(error) = socket.error.take() {
            return Err(Errno(error));
        }
        let first = socket.received.front().cloned();
        let (from, data) = first.ok_or(Errno(libc::EAGAIN))?;
        if !is_peek {
            socket.bytes -= data.len();
            socket.received.pop_front();
        }
        Ok((from, data))
    }

    /// The length of the first datagram.
    pub(crate) fn unread_datagram(&mut self, id: FileId) -> Result<usize> {
        let first = self.bound(id)?.and_then(|socket| socket.received.front());
        Ok(first.map_or(0, |(_, data)| data.len()))
    }

    pub(crate) fn udp_addr(&mut self, id: FileId) -> Result<Option<SocketAddr>> {
        Ok(self.bound(id)?.map(|socket| socket.local))
    }

    pub(crate) fn udp_peer(&mut self, id: FileId) -> Result<SocketAddr> {
        let peer = self.bound(id)?.and_then(|socket| socket.peer);
        peer.ok_or(Errno(libc::ENOTCONN))
    }

    /// `SO_ERROR`.
    pub(crate) fn udp_error(&mut self, id: FileId) -> c_int {
        let error = self.bound(id).ok().flatten();
        error.and_then(|socket| socket.error.take()).unwrap_or(0)
    }

    pub(crate) fn close_udp(&mut self, owner: Caller, id: FileId, socket: UdpSocket) {
        if let (Some(key), true) = (socket.key, self.is_alive(owner)) {
            self.datagrams.remove(&key);
            self.groups.retain(|(.., file)| *file != id);
            self.ports.give_back(key.0, Protocol::Udp, key.1, id);
        }
    }
}
