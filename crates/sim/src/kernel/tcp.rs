//! Simulated TCP, and Unix streams, which are connections within a host: two ends, each with what it
//! has received.
//!
//! A segment is what one write sends, an end of the stream, or room that a read has made. Segments
//! of one direction arrive in order. One that the link loses arrives later by a time-out of the
//! sender; while the link is cut, or the other host is down, the sender keeps segments and tries
//! again, at first after 0.2 s, then after twice the time, at most 15 times, as Linux does.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use libc::c_int;

use super::files::{FileId, Kind};
use super::link::Fate;
use super::net::{Addr, Claim, Name, Protocol, destination};
use super::{Caller, Errno, Event, Kernel, Packet, Result};
use crate::trace::Record;

/// A stream socket.
#[derive(Clone)]
pub(crate) enum TcpSocket {
    /// Neither connected nor listening.
    New {
        bound: Option<Addr>,
    },
    Listener(Name),
    Connection(EndId),
}

/// How much one direction holds, on its way and unread.
const WINDOW: usize = 256 * 1024;
/// A reader tells the sender of new room when there is so much.
const WINDOW_STEP: usize = WINDOW / 4;
/// The first time-out of a segment; each following one is twice as long, at most `LONGEST_TIME_OUT`.
const TIME_OUT: u64 = 200_000_000;
const LONGEST_TIME_OUT: u64 = 120_000_000_000;
const ATTEMPTS: u32 = 15;
/// The bytes of the headers of IPv4 and TCP.
const HEADERS: usize = 60;
/// The first time-out of an attempt to connect, and the number of attempts.
const CONNECT_TIME_OUT: u64 = 1_000_000_000;
const CONNECT_ATTEMPTS: u32 = 7;

/// An end of a connection. It names none any more once that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndId {
    index: usize,
    generation: u64,
}

/// What travels from one end to the other.
#[derive(Debug)]
pub(crate) enum Segment {
    Data(Box<[u8]>),
    Fin,
    /// The end of a Unix stream reads no more: the other one can not write any more.
    Deaf,
    Room(usize),
}

/// An event of a connection, at the host where it happens.
#[derive(Debug)]
pub(crate) enum TcpEvent {
    /// A client's request has come.
    Connect {
        client: EndId,
    },
    /// The attempt of a client has had no answer.
    ConnectAgain {
        client: EndId,
        attempt: u32,
    },
    Accepted {
        client: EndId,
        server: EndId,
    },
    Refused {
        client: EndId,
    },
    Arrived {
        from: EndId,
        number: u64,
        segment: Segment,
    },
    /// A sender tries again to send what it keeps.
    SendAgain {
        end: EndId,
        attempt: u32,
    },
    Reset {
        end: EndId,
    },
}

#[derive(Default)]
pub(crate) struct Ends {
    ends: slab::Slab<End>,
    generation: u64,
}

struct End {
    generation: u64,
    host: usize,
    local: Addr,
    peer: Addr,
    peer_host: usize,
    /// Whether `connect` has returned that the connection is open.
    is_reported: bool,
    /// The other end, once the connection is open.
    other: Option<EndId>,
    received: VecDeque<u8>,
    /// The other end has ended its direction.
    has_fin: bool,
    has_sent_fin: bool,
    is_read_shut: bool,
    /// The connection was reset or has timed out, and the error was taken.
    is_broken: bool,
    error: Option<c_int>,
    /// How much the other end can still take.
    room: usize,
    is_blocked: bool,
    /// How much was read since the other end was told.
    consumed: usize,
    /// No socket has it any more.
    is_closed: bool,
    /// The socket, once a program has it.
    file: Option<FileId>,
    /// Segments that wait for the link, by their numbers.
    kept: VecDeque<(u64, Segment)>,
    is_trying: bool,
    next_number: u64,
    /// When the last segment arrives.
    last_arrival: u64,
    /// How many segments are on their way.
    in_flight: usize,
}

/// A socket that listens.
pub(crate) struct Listening {
    backlog: usize,
    queue: VecDeque<EndId>,
    local: Addr,
    file: FileId,
}

impl Ends {
    fn add(&mut self, (host, local): (usize, Addr), (peer_host, peer): (usize, Addr)) -> EndId {
        self.generation += 1;
        let generation = self.generation;
        let index = self.ends.insert(End {
            generation,
            host,
            local,
            peer,
            peer_host,
            is_reported: false,
            other: None,
            received: VecDeque::new(),
            has_fin: false,
            has_sent_fin: false,
            is_read_shut: false,
            is_broken: false,
            error: None,
            room: WINDOW,
            is_blocked: false,
            consumed: 0,
            is_closed: false,
            file: None,
            kept: VecDeque::new(),
            is_trying: false,
            next_number: 0,
            last_arrival: 0,
            in_flight: 0,
        });
        EndId { index, generation }
    }

    fn get(&mut self, id: EndId) -> Option<&mut End> {
        let end = self.ends.get_mut(id.index)?;
        (end.generation == id.generation).then_some(end)
    }

    /// The end of a socket, which keeps it.
    fn of_socket(&mut self, id: EndId) -> &mut End {
        self.get(id).expect("an end stays while it has a socket")
    }

    /// Removes an end that nothing needs any more.
    fn remove_if_done(&mut self, id: EndId) {
        let Some(end) = self.get(id) else { return };
        let is_sent = end.kept.is_empty() && end.in_flight == 0;
        let has_ended = end.has_fin && end.has_sent_fin && is_sent;
        if end.is_closed && (has_ended || end.is_broken || end.error.is_some()) {
            self.ends.remove(id.index);
        }
    }
}

impl End {
    fn readiness(&self) -> c_int {
        let mut ready = 0;
        if !self.received.is_empty() {
            ready |= libc::EPOLLIN;
        }
        if self.has_fin || self.is_read_shut {
            ready |= libc::EPOLLIN | libc::EPOLLRDHUP;
        }
        if (self.has_fin || self.is_read_shut) && self.has_sent_fin {
            ready |= libc::EPOLLHUP;
        }
        if self.other.is_some() && (self.room > 0 || self.has_sent_fin) {
            ready |= libc::EPOLLOUT;
        }
        if self.error.is_some() {
            ready |= libc::EPOLLERR;
        }
        if self.error.is_some() || self.is_broken {
            ready |= libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLHUP;
        }
        ready
    }

    fn is_unix(&self) -> bool {
        matches!(self.local, Addr::Unix(..))
    }

    /// Whether a connection of TCP is no more: it has ended in both directions, or is broken.
    fn has_ended(&self) -> bool {
        let has_both = self.has_fin && self.has_sent_fin && !self.is_unix();
        has_both || self.is_broken || self.error.is_some()
    }

    /// Returns an error that the socket has not returned yet.
    fn check(&mut self) -> Result<()> {
        match self.error.take() {
            Some(error) => {
                self.is_broken = true;
                Err(Errno(error))
            }
            None => Ok(()),
        }
    }
}

impl Kernel {
    fn try_to_connect(&mut self, client: EndId, attempt: u32) {
        let end = self.ends.of_socket(client);
        let way = (end.host, end.peer_host);
        self.answer(way, TcpEvent::Connect { client });
        let event = TcpEvent::ConnectAgain {
            client,
            attempt: attempt + 1,
        };
        self.push_in(CONNECT_TIME_OUT << attempt, Event::Tcp(event));
    }

    /// Tells the socket of an end that something may have become ready.
    fn notify_end(&mut self, id: EndId) {
        if let Some(file) = self.ends.get(id).and_then(|end| end.file) {
            self.notify_waiters(file);
        }
    }

    fn fail(&mut self, id: EndId, error: c_int) {
        let Some(end) = self.ends.get(id) else { return };
        if !end.is_broken && end.error.is_none() {
            end.error = Some(error);
            end.kept.clear();
            self.notify_end(id);
        }
    }

    /// Sends something that is not sent again.
    fn answer(&mut self, way: (usize, usize), event: TcpEvent) {
        self.send_packet(way, HEADERS, Packet::Tcp(event));
    }

    fn send(&mut self, id: EndId, segment: Segment) {
        let end = self.ends.get(id).expect("the sender is there");
        end.next_number += 1;
        let number = end.next_number;
        match end.kept.is_empty() {
            true => self.send_numbered(id, number, segment),
            false => end.kept.push_back((number, segment)),
        }
    }

    fn send_numbered(&mut self, id: EndId, number: u64, segment: Segment) {
        let end = self.ends.get(id).expect("the sender is there");
        let way = (end.host, end.peer_host);
        let bytes = match &segment {
            Segment::Data(data) => HEADERS + data.len(),
            Segment::Fin | Segment::Deaf | Segment::Room(_) => HEADERS,
        };
        let (mut waited, mut time_out) = (0, TIME_OUT);
        let time = loop {
            match self.links.send(&mut self.random, way, bytes, self.now) {
                Fate::Arrives(time) => break waited + time,
                Fate::Lost if !self.links.is_cut(way.0, way.1) && time_out < LONGEST_TIME_OUT => {
                    waited += time_out;
                    time_out *= 2;
                }
                Fate::Lost => return self.keep(id, number, segment),
                Fate::Held => {
                    self.ends.of_socket(id).in_flight += 1;
                    let arrived = TcpEvent::Arrived {
                        from: id,
                        number,
                        segment,
                    };
                    return self.hold(way, Packet::Tcp(arrived));
                }
            }
        };
        let end = self.ends.get(id).expect("the sender is there");
        let at = (self.now + time).max(end.last_arrival);
        end.last_arrival = at;
        end.in_flight += 1;
        let from = id;
        self.push_at(
            at,
            Event::Tcp(TcpEvent::Arrived {
                from,
                number,
                segment,
            }),
        );
    }

    /// Sends a segment on that a link has held.
    pub(crate) fn send_again_held(&mut self, id: EndId, number: u64, segment: Segment) {
        if let Some(end) = self.ends.get(id) {
            end.in_flight -= 1;
            self.send_numbered(id, number, segment);
        }
    }

    /// Keeps a segment until the sender tries again.
    fn keep(&mut self, id: EndId, number: u64, segment: Segment) {
        let Some(end) = self.ends.get(id) else { return };
        let at = end.kept.partition_point(|(other, _)| *other < number);
        end.kept.insert(at, (number, segment));
        if !std::mem::replace(&mut end.is_trying, true) {
            let event = TcpEvent::SendAgain {
                end: id,
                attempt: 1,
            };
            self.push_in(TIME_OUT, Event::Tcp(event));
        }
    }

    fn send_again(&mut self, id: EndId, attempt: u32) {
        let Some(end) = self.ends.get(id) else { return };
        let (from, to) = (end.host, end.peer_host);
        if !self.links.is_cut(from, to) && self.hosts[to].is_up {
            end.is_trying = false;
            let kept = std::mem::take(&mut end.kept);
            for (number, segment) in kept {
                self.send_numbered(id, number, segment);
            }
        } else if attempt > ATTEMPTS {
            self.fail(id, libc::ETIMEDOUT);
            self.ends.remove_if_done(id);
        } else {
            let time = (TIME_OUT << attempt).min(LONGEST_TIME_OUT);
            let event = TcpEvent::SendAgain {
                end: id,
                attempt: attempt + 1,
            };
            self.push_in(time, Event::Tcp(event));
        }
    }

    pub(crate) fn handle_tcp(&mut self, event: TcpEvent) {
        match event {
            TcpEvent::Connect { client } => self.arrive_at_listener(client),
            TcpEvent::ConnectAgain { client, attempt } => {
                let Some(end) = self.ends.get(client) else {
                    return;
                };
                if end.other.is_some() || end.error.is_some() || end.is_broken {
                    return;
                }
                match (end.is_closed, attempt < CONNECT_ATTEMPTS) {
                    (true, _) => drop(self.ends.ends.remove(client.index)),
                    (false, true) => self.try_to_connect(client, attempt),
                    (false, false) => self.fail(client, libc::ETIMEDOUT),
                }
            }
            TcpEvent::Accepted { client, server } => match self.ends.get(client) {
                Some(end) if !end.is_closed => {
                    end.other = Some(server);
                    self.notify_end(client);
                }
                _ => self.reset(server),
            },
            TcpEvent::Refused { client } => {
                self.fail(client, libc::ECONNREFUSED);
                self.ends.remove_if_done(client);
            }
            TcpEvent::Arrived {
                from,
                number,
                segment,
            } => self.arrive(from, number, segment),
            TcpEvent::SendAgain { end, attempt } => self.send_again(end, attempt),
            TcpEvent::Reset { end } => {
                // As Linux: an end whose peer has already ended its direction cannot write.
                let is_ended = self.ends.get(end);
                let is_ended = is_ended.is_some_and(|end| end.has_fin && !end.has_sent_fin);
                self.fail(
                    end,
                    if is_ended {
                        libc::EPIPE
                    } else {
                        libc::ECONNRESET
                    },
                );
                self.ends.remove_if_done(end);
            }
        }
    }

    /// The socket that listens at an address of a host.
    fn find_listener(&mut self, host: usize, name: &Name) -> Option<(usize, Name, FileId)> {
        let (ip, port) = match name {
            Name::Tcp(ip, port) => (*ip, *port),
            Name::Unix(_) | Name::File(_) => return self.choose_listener(host, name),
        };
        // A socket that is bound to this address comes before one that is bound to all.
        let any_v4 = ip.is_ipv4().then_some(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let any_v6 = Some(IpAddr::V6(Ipv6Addr::UNSPECIFIED));
        let ips = [Some(ip), any_v4, any_v6];
        for bound in ips.into_iter().flatten() {
            let Some(key) = self.choose_listener(host, &Name::Tcp(bound, port)) else {
                continue;
            };
            let is_other_family = ip.is_ipv4() && bound.is_ipv6();
            if !is_other_family || !self.ports.is_only_v6(host, port, key.2) {
                return Some(key);
            }
        }
        None
    }

    /// One of the sockets that have this name.
    fn choose_listener(&mut self, host: usize, name: &Name) -> Option<(usize, Name, FileId)> {
        let first = (host, name.clone(), FileId::MIN);
        let last = (host, name.clone(), FileId::MAX);
        let mut found = self.listeners.range(first..=last).map(|(key, _)| key);
        let one = found.next()?.clone();
        match found.count() as u64 {
            0 => Some(one),
            others => {
                let at = self.random.below(others + 1) as usize;
                let first = (host, name.clone(), FileId::MIN);
                let mut found = self.listeners.range(first..).map(|(key, _)| key);
                found.nth(at).cloned()
            }
        }
    }

    fn arrive_at_listener(&mut self, client: EndId) {
        let Some(end) = self.ends.get(client) else {
            return;
        };
        let (local, peer) = (
            (end.peer_host, end.peer.clone()),
            (end.host, end.local.clone()),
        );
        let way = (local.0, peer.0);
        if end.other.is_some() || !self.hosts[way.0].is_up {
            return;
        }
        let found = self.find_listener(way.0, &local.1.name());
        let listening = found.and_then(|key| self.listeners.get_mut(&key));
        // One that is bound to the loopback is there for its own host only.
        let listening = listening.filter(|it| way.0 == way.1 || !it.local.is_local());
        match listening {
            None => self.answer(way, TcpEvent::Refused { client }),
            // As Linux, it drops the request: the client tries again.
            Some(listening) if listening.queue.len() > listening.backlog => {}
            Some(listening) => {
                let server = self.ends.add(local, peer);
                self.ends.of_socket(server).other = Some(client);
                listening.queue.push_back(server);
                let file = listening.file;
                self.notify_waiters(file);
                self.answer(way, TcpEvent::Accepted { client, server });
            }
        }
    }

    fn arrive(&mut self, from: EndId, number: u64, segment: Segment) {
        let Some(sender) = self.ends.get(from) else {
            return;
        };
        sender.in_flight -= 1;
        let (to, host) = (sender.other, sender.peer_host);
        if !self.hosts[host].is_up {
            return self.keep(from, number, segment);
        }
        let end = to.and_then(|to| Some((to, self.ends.get(to)?)));
        let Some((to, end)) = end else {
            return self.reset_to(from);
        };
        let mut is_changed = true;
        match segment {
            Segment::Data(_) if end.is_closed => return self.reset_to(from),
            Segment::Data(data) => end.received.extend(data.iter()),
            Segment::Fin => end.has_fin = true,
            Segment::Deaf => {
                end.has_sent_fin = true;
                // Nothing more comes to an end that is closed.
                if let Some(sender) = self.ends.get(from) {
                    sender.has_fin |= sender.is_closed;
                }
            }
            Segment::Room(bytes) => {
                end.room += bytes;
                is_changed = std::mem::take(&mut end.is_blocked);
            }
        }
        if is_changed {
            self.notify_end(to);
        }
        self.ends.remove_if_done(to);
        self.ends.remove_if_done(from);
    }

    /// Tells an end that there is no connection.
    fn reset_to(&mut self, end: EndId) {
        let Some(target) = self.ends.get(end) else {
            return;
        };
        let way = (target.peer_host, target.host);
        self.answer(way, TcpEvent::Reset { end });
    }

    /// Breaks a connection off at one end.
    fn reset(&mut self, id: EndId) {
        let Some(end) = self.ends.get(id) else { return };
        let (other, way) = (end.other, (end.host, end.peer_host));
        self.fail(id, libc::ECONNRESET);
        if let Some(end) = other {
            self.answer(way, TcpEvent::Reset { end });
        }
        self.ends.remove_if_done(id);
    }

    /// Ends all connections of a host that goes down; tells the other ends if `resets`.
    pub(crate) fn break_off(&mut self, host: usize, resets: bool) {
        let ends = self.ends.ends.iter().filter(|(_, end)| end.host == host);
        let ends: Vec<_> = ends
            .map(|(index, end)| EndId {
                index,
                generation: end.generation,
            })
            .collect();
        for id in ends {
            let end = self.ends.of_socket(id);
            let (other, way) = (end.other, (end.host, end.peer_host));
            if let (Some(end), true) = (other, resets) {
                self.answer(way, TcpEvent::Reset { end });
            }
            self.ends.ends.remove(id.index);
        }
        self.listeners
            .retain(|(listening, ..), _| *listening != host);
    }
}

/// What programs call.
impl Kernel {
    fn tcp(&mut self, id: FileId) -> Result<&mut TcpSocket> {
        match &mut self.files.get_mut(id).kind {
            Kind::Tcp(socket) => Ok(socket),
            Kind::Udp(_) => Err(Errno(libc::EOPNOTSUPP)),
            _ => Err(Errno(libc::ENOTSOCK)),
        }
    }

    /// The end of a connected socket. The error is what the system returns for others.
    fn end(&mut self, id: FileId, otherwise: c_int) -> Result<EndId> {
        match self.tcp(id)? {
            TcpSocket::Connection(end) => Ok(*end),
            _ => Err(Errno(otherwise)),
        }
    }

    pub(crate) fn tcp_readiness(&mut self, host: usize, id: FileId, socket: &TcpSocket) -> c_int {
        match socket {
            TcpSocket::New { .. } => libc::EPOLLOUT | libc::EPOLLHUP,
            TcpSocket::Connection(end) => {
                let broken = libc::EPOLLERR | libc::EPOLLHUP | libc::EPOLLIN | libc::EPOLLOUT;
                self.ends.get(*end).map_or(broken, |end| end.readiness())
            }
            TcpSocket::Listener(name) => {
                let listening = self.listeners.get(&(host, name.clone(), id));
                match listening.is_some_and(|listening| !listening.queue.is_empty()) {
                    true => libc::EPOLLIN,
                    false => 0,
                }
            }
        }
    }

    pub(crate) fn bind_stream(
        &mut self,
        caller: Caller,
        id: FileId,
        addr: Addr,
        claim: impl FnOnce(IpAddr) -> Claim,
    ) -> Result<()> {
        self.check_unbound(id)?;
        let addr = match addr {
            Addr::Inet(addr) => {
                self.check_own(caller.host, addr.ip())?;
                let (port, claim) = (addr.port(), claim(addr.ip()));
                let port = self
                    .ports
                    .take(caller.host, Protocol::Tcp, port, id, claim)?;
                Addr::Inet(SocketAddr::new(addr.ip(), port))
            }
            Addr::Unix(..) if self.find_listener(caller.host, &addr.name()).is_some() => {
                return Err(Errno(libc::EADDRINUSE));
            }
            Addr::Unix(..) => addr,
        };
        if let TcpSocket::New { bound } = self.tcp(id)? {
            *bound = Some(addr);
        }
        Ok(())
    }

    /// Checks that a socket has no address yet.
    pub(crate) fn check_unbound(&mut self, id: FileId) -> Result<()> {
        match self.tcp(id)? {
            TcpSocket::New { bound: None } => Ok(()),
            _ => Err(Errno(libc::EINVAL)),
        }
    }

    pub(crate) fn listen(&mut self, caller: Caller, id: FileId, backlog: c_int) -> Result<()> {
        let backlog = usize::try_from(backlog).unwrap_or(usize::MAX);
        let bound = match self.tcp(id)? {
            TcpSocket::New { bound } => bound.clone(),
            TcpSocket::Listener(name) => {
                let key = (caller.host, name.clone(), id);
                if let Some(listening) = self.listeners.get_mut(&key) {
                    listening.backlog = backlog;
                }
                return Ok(());
            }
            TcpSocket::Connection(_) => return Err(Errno(libc::EINVAL)),
        };
        let local = match bound {
            Some(local) => local,
            None => {
                let ip: IpAddr = match self.files.get(id).domain {
                    libc::AF_UNIX => return Err(Errno(libc::EINVAL)),
                    libc::AF_INET6 => Ipv6Addr::UNSPECIFIED.into(),
                    _ => Ipv4Addr::UNSPECIFIED.into(),
                };
                let claim = Claim::of(ip);
                let port = self.ports.take(caller.host, Protocol::Tcp, 0, id, claim)?;
                Addr::Inet(SocketAddr::new(ip, port))
            }
        };
        if let Addr::Inet(local) = &local {
            self.ports.listen(caller.host, local.port(), id)?;
        }
        let name = local.name();
        let key = (caller.host, name.clone(), id);
        let listening = Listening {
            backlog,
            queue: VecDeque::new(),
            local,
            file: id,
        };
        self.listeners.insert(key, listening);
        *self.tcp(id)? = TcpSocket::Listener(name);
        Ok(())
    }

    /// Begins to connect, or returns how the attempt stands: `EINPROGRESS` when it has begun,
    /// `EALREADY` while there is no answer, nothing once it is connected, and `EISCONN` from then
    /// on.
    pub(crate) fn connect(&mut self, caller: Caller, id: FileId, peer: Addr) -> Result<()> {
        let bound = match self.tcp(id)? {
            TcpSocket::New { bound } => bound.take(),
            TcpSocket::Listener(_) => return Err(Errno(libc::EISCONN)),
            TcpSocket::Connection(end) => {
                let end = *end;
                let end = self.ends.get(end).ok_or(Errno(libc::ECONNABORTED))?;
                end.check()?;
                return match end.other {
                    None if end.is_broken => Err(Errno(libc::ECONNABORTED)),
                    None => Err(Errno(libc::EALREADY)),
                    Some(_) if std::mem::replace(&mut end.is_reported, true) => {
                        Err(Errno(libc::EISCONN))
                    }
                    Some(_) => Ok(()),
                };
            }
        };
        if let Addr::Unix(..) = &peer {
            return self.connect_unix(caller, id, bound, peer);
        }
        let Some(peer) = peer.inet() else {
            return Err(Errno(libc::EAFNOSUPPORT));
        };
        let peer = destination(peer);
        let peer_host = self.host_of(caller.host, peer.ip())?;
        let local = match bound.and_then(|bound| bound.inet()) {
            Some(local) => local,
            None => {
                let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
                let claim = Claim::of(self.source(caller.host, any, peer).ip());
                let port = self.ports.take(caller.host, Protocol::Tcp, 0, id, claim)?;
                SocketAddr::new(any.ip(), port)
            }
        };
        let local = self.source(caller.host, local, peer);
        let ends = (
            (caller.host, Addr::Inet(local)),
            (peer_host, Addr::Inet(peer)),
        );
        let end = self.ends.add(ends.0, ends.1);
        self.ends.of_socket(end).file = Some(id);
        *self.tcp(id)? = TcpSocket::Connection(end);
        self.try_to_connect(end, 0);
        Err(Errno(libc::EINPROGRESS))
    }

    /// Makes the two ends of a connection within a host.
    pub(crate) fn pair(&mut self, caller: Caller) -> (EndId, EndId) {
        let end = || (caller.host, Addr::unnamed());
        let (one, other) = (self.ends.add(end(), end()), self.ends.add(end(), end()));
        for (end, other) in [(one, other), (other, one)] {
            let end = self.ends.of_socket(end);
            (end.other, end.is_reported) = (Some(other), true);
        }
        (one, other)
    }

    /// Says which socket an end belongs to.
    pub(crate) fn set_file(&mut self, end: EndId, file: FileId) {
        if let Some(end) = self.ends.get(end) {
            end.file = Some(file);
        }
    }

    fn connect_unix(
        &mut self,
        caller: Caller,
        id: FileId,
        bound: Option<Addr>,
        peer: Addr,
    ) -> Result<()> {
        let key = self.find_listener(caller.host, &peer.name());
        let key = key.ok_or(Errno(libc::ECONNREFUSED))?;
        let Some(listening) = self.listeners.get(&key) else {
            return Err(Errno(libc::ECONNREFUSED));
        };
        if listening.queue.len() > listening.backlog {
            return Err(Errno(libc::EAGAIN));
        }
        let (file, local) = (listening.file, listening.local.clone());
        let (client, server) = self.pair(caller);
        let end = self.ends.of_socket(client);
        end.file = Some(id);
        end.local = bound.clone().unwrap_or_else(Addr::unnamed);
        let end = self.ends.of_socket(server);
        // The path by which the socket was bound, which may not be the one by which it was found.
        end.local = local.clone();
        end.peer = bound.unwrap_or_else(Addr::unnamed);
        self.ends.of_socket(client).peer = local;
        *self.tcp(id)? = TcpSocket::Connection(client);
        if let Some(listening) = self.listeners.get_mut(&key) {
            listening.queue.push_back(server);
        }
        self.notify_waiters(file);
        Ok(())
    }

    /// Takes a connection from a socket that listens.
    pub(crate) fn accept(&mut self, caller: Caller, id: FileId) -> Result<(EndId, Addr)> {
        let TcpSocket::Listener(name) = self.tcp(id)?.clone() else {
            return Err(Errno(libc::EINVAL));
        };
        let key = (caller.host, name, id);
        loop {
            // Gone with its host.
            let listening = self.listeners.get_mut(&key).ok_or(Errno(libc::EINVAL))?;
            let end = listening.queue.pop_front().ok_or(Errno(libc::EAGAIN))?;
            // Reset since.
            let Some(accepted) = self.ends.get(end) else {
                continue;
            };
            return Ok((end, accepted.peer.clone()));
        }
    }

    /// Gives an accepted connection its socket.
    pub(crate) fn set_accepted(
        &mut self,
        caller: Caller,
        listener: FileId,
        end: EndId,
        file: FileId,
    ) {
        self.set_file(end, file);
        let Some(end) = self.ends.get(end) else {
            return;
        };
        end.is_reported = true;
        if let Addr::Inet(local) = end.local {
            self.ports.share(caller.host, local.port(), listener, file);
        }
    }

    /// Puts a connection back that could not be given a descriptor.
    pub(crate) fn put_back(&mut self, caller: Caller, id: FileId, end: EndId) {
        if let Ok(TcpSocket::Listener(name)) = self.tcp(id).cloned() {
            if let Some(listening) = self.listeners.get_mut(&(caller.host, name, id)) {
                listening.queue.push_front(end);
            }
        }
    }

    /// Passes received bytes to `take` until it takes fewer than it is given. Returns how many.
    pub(crate) fn receive(
        &mut self,
        id: FileId,
        is_peek: bool,
        mut take: impl FnMut(&[u8]) -> usize,
    ) -> Result<usize> {
        let otherwise = match self.files.get(id).domain {
            libc::AF_UNIX => libc::EINVAL,
            _ => libc::ENOTCONN,
        };
        let id = self.end(id, otherwise)?;
        let end = self.ends.get(id).ok_or(Errno(libc::ECONNABORTED))?;
        if end.received.is_empty() {
            // As Linux, which keeps the error of a reset that comes after the end for a write.
            if end.has_fin && !end.is_unix() {
                return Ok(0);
            }
            end.check()?;
            if end.other.is_none() && !end.is_broken {
                return Err(Errno(libc::EAGAIN));
            }
            return match end.has_fin || end.is_read_shut || end.is_broken {
                true => Ok(0),
                false => Err(Errno(libc::EAGAIN)),
            };
        }
        let (first, second) = end.received.as_slices();
        let mut bytes = take(first);
        if bytes == first.len() && !second.is_empty() {
            bytes += take(second);
        }
        if !is_peek {
            end.received.drain(..bytes);
            end.consumed += bytes;
            if end.consumed >= WINDOW_STEP && end.other.is_some() {
                let room = std::mem::take(&mut end.consumed);
                self.send(id, Segment::Room(room));
            }
        }
        Ok(bytes)
    }

    /// The number of bytes that can be read.
    pub(crate) fn unread(&mut self, id: FileId) -> Result<usize> {
        match self.tcp(id)? {
            TcpSocket::New { .. } => Ok(0),
            TcpSocket::Listener(_) => Err(Errno(libc::EINVAL)),
            TcpSocket::Connection(end) => {
                let end = *end;
                Ok(self.ends.get(end).map_or(0, |end| end.received.len()))
            }
        }
    }

    /// Sends as many of the bytes as there is room for. `EPIPE` comes without a signal.
    pub(crate) fn transmit(&mut self, id: FileId, bufs: &[&[u8]]) -> Result<usize> {
        let otherwise = match self.files.get(id).domain {
            libc::AF_UNIX => libc::ENOTCONN,
            _ => libc::EPIPE,
        };
        let id = self.end(id, otherwise)?;
        let end = self.ends.get(id).ok_or(Errno(libc::ECONNABORTED))?;
        end.check()?;
        if end.has_sent_fin || end.is_broken {
            return Err(Errno(libc::EPIPE));
        }
        if end.other.is_none() {
            return Err(Errno(libc::EAGAIN));
        }
        let asked: usize = bufs.iter().map(|buf| buf.len()).sum();
        let bytes = asked.min(end.room);
        end.is_blocked |= bytes < asked;
        if bytes == 0 {
            return match asked {
                0 => Ok(0),
                _ => Err(Errno(libc::EAGAIN)),
            };
        }
        end.room -= bytes;
        let (from, to) = (end.host, end.peer_host);
        let mut data = Vec::with_capacity(bytes);
        for buf in bufs {
            data.extend_from_slice(&buf[..buf.len().min(bytes - data.len())]);
        }
        self.record(Record::sent(from, to, &data));
        self.send(id, Segment::Data(data.into()));
        Ok(bytes)
    }

    /// Whether a write would fail by an error that no call has returned yet.
    pub(crate) fn has_error(&mut self, id: FileId) -> bool {
        let end = self.end(id, libc::EPIPE).ok();
        let end = end.and_then(|end| self.ends.get(end));
        end.is_some_and(|end| end.error.is_some())
    }

    pub(crate) fn shut_down(&mut self, id: FileId, how: c_int) -> Result<()> {
        if !(libc::SHUT_RD..=libc::SHUT_RDWR).contains(&how) {
            return Err(Errno(libc::EINVAL));
        }
        let file = id;
        let owner = self.files.get(id).owner;
        let id = match self.tcp(id)?.clone() {
            TcpSocket::Connection(end) => end,
            TcpSocket::New { .. } if self.files.get(id).domain == libc::AF_UNIX => return Ok(()),
            TcpSocket::New { .. } => return Err(Errno(libc::ENOTCONN)),
            TcpSocket::Listener(_) if how == libc::SHUT_WR => return Ok(()),
            // As Linux: it listens no more, and those who wait for connections are woken.
            TcpSocket::Listener(name) => {
                let bound = self.stop_listening(owner, file, name);
                *self.tcp(file)? = TcpSocket::New { bound };
                self.notify_waiters(file);
                return Ok(());
            }
        };
        let end = self.ends.get(id).ok_or(Errno(libc::ENOTCONN))?;
        if end.other.is_none() || end.has_ended() {
            return Err(Errno(libc::ENOTCONN));
        }
        if how != libc::SHUT_WR {
            end.is_read_shut = true;
            if end.is_unix() {
                self.send(id, Segment::Deaf);
            }
        }
        let end = self.ends.of_socket(id);
        if how != libc::SHUT_RD && !std::mem::replace(&mut end.has_sent_fin, true) {
            self.send(id, Segment::Fin);
        }
        self.notify_waiters(file);
        Ok(())
    }

    pub(crate) fn stream_addr(&mut self, id: FileId) -> Result<Option<Addr>> {
        let host = self.files.get(id).owner.host;
        Ok(match self.tcp(id)?.clone() {
            TcpSocket::New { bound } => bound,
            TcpSocket::Listener(name) => {
                let listening = self.listeners.get(&(host, name, id));
                listening.map(|listening| listening.local.clone())
            }
            TcpSocket::Connection(end) => self.ends.get(end).map(|end| end.local.clone()),
        })
    }

    pub(crate) fn stream_peer(&mut self, id: FileId) -> Result<Addr> {
        let end = self.end(id, libc::ENOTCONN)?;
        let end = self
            .ends
            .get(end)
            .filter(|end| end.other.is_some() && !end.has_ended());
        end.map(|end| end.peer.clone()).ok_or(Errno(libc::ENOTCONN))
    }

    /// `SO_ERROR`.
    pub(crate) fn stream_error(&mut self, id: FileId) -> c_int {
        let end = self.end(id, libc::ENOTCONN);
        let end = end.ok().and_then(|end| self.ends.get(end));
        end.and_then(|end| end.check().err())
            .map_or(0, |error| error.0)
    }

    /// Ends the queue of a socket that listens. Returns its address.
    fn stop_listening(&mut self, owner: Caller, id: FileId, name: Name) -> Option<Addr> {
        let listening = self.listeners.remove(&(owner.host, name, id))?;
        for end in listening.queue {
            if let Some(unaccepted) = self.ends.get(end) {
                unaccepted.is_closed = true;
                self.reset(end);
            }
        }
        if let Addr::Inet(local) = &listening.local {
            self.ports.stop_listening(owner.host, local.port(), id);
        }
        Some(listening.local)
    }

    /// Ends a socket. With `resets`, its connection is reset.
    pub(crate) fn close_tcp(
        &mut self,
        owner: Caller,
        file: FileId,
        socket: TcpSocket,
        resets: bool,
    ) {
        let give_back = |kernel: &mut Self, addr: &Addr| {
            // After a crash the ports are those of the host's next start.
            if let (Addr::Inet(addr), true) = (addr, kernel.is_alive(owner)) {
                kernel
                    .ports
                    .give_back(owner.host, Protocol::Tcp, addr.port(), file);
            }
        };
        match socket {
            TcpSocket::New { bound } => {
                if let Some(bound) = bound {
                    give_back(self, &bound);
                }
            }
            TcpSocket::Listener(name) => {
                if !self.is_alive(owner) {
                    return;
                }
                if let Some(local) = self.stop_listening(owner, file, name) {
                    give_back(self, &local);
                }
            }
            TcpSocket::Connection(id) => {
                let Some(end) = self.ends.get(id) else { return };
                (end.is_closed, end.file) = (true, None);
                let resets = resets || !end.received.is_empty();
                let is_open = end.other.is_some();
                let local = end.local.clone();
                give_back(self, &local);
                let end = self.ends.of_socket(id);
                let is_unix = end.is_unix();
                if resets && is_open {
                    self.reset(id);
                } else if is_open {
                    // A Unix stream whose peer reads no more cannot write, but has not ended.
                    if !std::mem::replace(&mut end.has_sent_fin, true) || is_unix {
                        self.send(id, Segment::Fin);
                    }
                    if is_unix {
                        self.send(id, Segment::Deaf);
                    }
                }
                self.ends.remove_if_done(id);
            }
        }
    }
}
