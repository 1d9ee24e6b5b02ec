//! Simulated TCP, and Unix streams, which are connections within a host: two ends, each with what it
//! has received.
//!
//! A segment is what one write sends, an end of the stream, or room that a read has made. Segments
//! of one direction arrive in order. One that the link loses arrives later by a time-out of the
//! sender; while the link is cut, or the other host is down, the sender keeps segments and tries
//! again, at first after 0.2 s, then after twice the time, at most 15 times, as Linux does.

mod calls;
pub(crate) mod keep_alive;

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use libc::c_int;

use super::files::FileId;
use super::link::Fate;
use super::net::{Addr, Name};
use super::{Errno, Event, Kernel, Packet, Result};

/// A stream socket.
#[derive(Clone)]
pub(crate) enum TcpSocket {
    /// Neither connected nor listening.
    New {
        bound: Option<Addr>,
    },
    Listener(Name),
    Connection(EndpointId),
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
pub(crate) struct EndpointId {
    index: usize,
    generation: u64,
}

/// What travels from one end to the other.
#[derive(Debug)]
pub(crate) enum Segment {
    Data(Box<[u8]>),
    /// The end that has connected knows that the connection is open.
    Opened,
    Fin,
    /// The end of a Unix stream reads no more: the other one can not write any more.
    ReadShut,
    /// Room that a read has made.
    WindowUpdate(usize),
}

/// An event of a connection, at the host where it happens.
#[derive(Debug)]
pub(crate) enum TcpEvent {
    /// A client's request has come.
    Connect {
        client: EndpointId,
    },
    /// The attempt of a client has had no answer.
    ConnectAgain {
        client: EndpointId,
        attempt: u32,
    },
    Accepted {
        client: EndpointId,
        server: EndpointId,
    },
    Refused {
        client: EndpointId,
    },
    Arrived {
        from: EndpointId,
        number: u64,
        segment: Segment,
    },
    /// A sender tries again to send what it keeps.
    SendAgain {
        end: EndpointId,
        attempt: u32,
    },
    Reset {
        end: EndpointId,
    },
    /// A probe is due, unless another one is.
    KeepAlive {
        end: EndpointId,
    },
}

impl Segment {
    fn describe(&self) -> String {
        match self {
            Self::Data(data) => format!("{} bytes", data.len()),
            Self::Opened => "end of handshake".to_owned(),
            Self::Fin => "end of stream".to_owned(),
            Self::ReadShut => "end of reading".to_owned(),
            Self::WindowUpdate(bytes) => format!("room for {bytes} bytes"),
        }
    }
}

impl TcpEvent {
    pub(crate) fn describe(&self) -> String {
        let text = match self {
            Self::Connect { .. } => "connect",
            Self::Accepted { .. } => "accept",
            Self::Refused { .. } => "refusal",
            Self::Reset { .. } => "reset",
            Self::Arrived { segment, .. } => return segment.describe(),
            Self::ConnectAgain { .. } | Self::SendAgain { .. } => "time-out",
            Self::KeepAlive { .. } => "keep-alive",
        };
        text.to_owned()
    }
}

#[derive(Default)]
pub(crate) struct Endpoints {
    ends: slab::Slab<Endpoint>,
    generation: u64,
}

struct Endpoint {
    generation: u64,
    host: usize,
    local: Addr,
    peer: Addr,
    peer_host: usize,
    /// Whether `connect` has returned that the connection is open.
    is_reported: bool,
    /// The other end, once the connection is open.
    other: Option<EndpointId>,
    /// The end that the other host has made for the attempt to connect.
    offered: Option<EndpointId>,
    /// The socket that listens, until the other end knows that the connection is open.
    opens_at: Option<FileId>,
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
    is_retransmit_scheduled: bool,
    /// Since when there are such segments.
    kept_since: u64,
    /// When the other end was last heard.
    last_heard: u64,
    /// When the next probe is sent, and how many had no answer.
    probe_at: Option<u64>,
    probes: u32,
    next_number: u64,
    /// When the last segment arrives.
    last_arrival: u64,
    /// How many segments are on their way.
    in_flight: usize,
}

/// A socket that listens.
pub(crate) struct Listening {
    backlog: usize,
    queue: VecDeque<EndpointId>,
    local: Addr,
    file: FileId,
}

impl Endpoints {
    fn add(
        &mut self,
        (host, local): (usize, Addr),
        (peer_host, peer): (usize, Addr),
    ) -> EndpointId {
        self.generation += 1;
        let generation = self.generation;
        let index = self.ends.insert(Endpoint {
            generation,
            host,
            local,
            peer,
            peer_host,
            is_reported: false,
            other: None,
            offered: None,
            opens_at: None,
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
            is_retransmit_scheduled: false,
            kept_since: 0,
            last_heard: 0,
            probe_at: None,
            probes: 0,
            next_number: 0,
            last_arrival: 0,
            in_flight: 0,
        });
        EndpointId { index, generation }
    }

    fn get(&mut self, id: EndpointId) -> Option<&mut Endpoint> {
        let end = self.ends.get_mut(id.index)?;
        (end.generation == id.generation).then_some(end)
    }

    /// The end of a socket, which keeps it.
    fn of_socket(&mut self, id: EndpointId) -> &mut Endpoint {
        self.get(id).expect("an end stays while it has a socket")
    }

    /// Removes the end that a host has made for an attempt to connect that has failed since.
    fn remove_unopened(&mut self, offered: Option<EndpointId>) {
        if let Some(id) = offered {
            if self.get(id).is_some_and(|end| end.opens_at.is_some()) {
                self.ends.remove(id.index);
            }
        }
    }

    /// Removes an end that nothing needs any more.
    fn remove_if_done(&mut self, id: EndpointId) {
        let Some(end) = self.get(id) else { return };
        let is_sent = end.kept.is_empty() && end.in_flight == 0;
        let has_ended = end.has_fin && end.has_sent_fin && is_sent;
        if end.is_closed && (has_ended || end.is_broken || end.error.is_some()) {
            self.ends.remove(id.index);
        }
    }
}

impl Listening {
    fn is_full(&self) -> bool {
        self.queue.len() > self.backlog
    }
}

impl Endpoint {
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
    fn try_to_connect(&mut self, client: EndpointId, attempt: u32) {
        let end = self.ends.of_socket(client);
        let way = (end.host, end.peer_host);
        self.send_once(way, TcpEvent::Connect { client });
        let event = TcpEvent::ConnectAgain {
            client,
            attempt: attempt + 1,
        };
        self.push_in(CONNECT_TIME_OUT << attempt, Event::Tcp(event));
    }

    /// Tells the socket of an end that something may have become ready.
    fn notify_end(&mut self, id: EndpointId) {
        if let Some(file) = self.ends.get(id).and_then(|end| end.file) {
            self.notify_waiters(file);
        }
    }

    fn fail(&mut self, id: EndpointId, error: c_int) {
        let Some(end) = self.ends.get(id) else { return };
        if !end.is_broken && end.error.is_none() {
            end.error = Some(error);
            end.kept.clear();
            self.notify_end(id);
        }
    }

    /// Sends something that is not sent again.
    fn send_once(&mut self, way: (usize, usize), event: TcpEvent) {
        self.send_packet(way, HEADERS, Packet::Tcp(event));
    }

    fn send(&mut self, id: EndpointId, segment: Segment) {
        let end = self.ends.get(id).expect("the sender is there");
        end.next_number += 1;
        let number = end.next_number;
        if end.kept.is_empty() {
            return self.send_numbered(id, number, segment);
        }
        let way = (end.host, end.peer_host);
        let text = self.recorder.is_some().then(|| segment.describe());
        end.kept.push_back((number, segment));
        self.record_packet(way, Fate::Held, || text.unwrap_or_default());
    }

    fn send_numbered(&mut self, id: EndpointId, number: u64, segment: Segment) {
        let end = self.ends.get(id).expect("the sender is there");
        let way = (end.host, end.peer_host);
        let bytes = match &segment {
            Segment::Data(data) => HEADERS + data.len(),
            _ => HEADERS,
        };
        let (mut waited, mut time_out) = (0, TIME_OUT);
        let time = loop {
            let fate = self.links.send(&mut self.random, way, bytes, self.now);
            self.record_packet(way, fate, || segment.describe());
            match fate {
                Fate::Arrives(time) => break waited + time,
                Fate::Lost if !self.links.is_cut(way.0, way.1) && time_out < LONGEST_TIME_OUT => {
                    waited += time_out;
                    time_out *= 2;
                }
                Fate::Lost => return self.retransmit_later(id, number, segment),
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
    pub(crate) fn resend_held(&mut self, id: EndpointId, number: u64, segment: Segment) {
        if let Some(end) = self.ends.get(id) {
            end.in_flight -= 1;
            self.send_numbered(id, number, segment);
        }
    }

    /// Keeps a segment until the sender tries again.
    fn retransmit_later(&mut self, id: EndpointId, number: u64, segment: Segment) {
        let Some(end) = self.ends.get(id) else { return };
        let at = end.kept.partition_point(|(other, _)| *other < number);
        end.kept.insert(at, (number, segment));
        if !std::mem::replace(&mut end.is_retransmit_scheduled, true) {
            end.kept_since = self.now;
            self.send_again_later(id, 1);
        }
    }

    fn send_again(&mut self, id: EndpointId, attempt: u32) {
        let Some(end) = self.ends.get(id) else { return };
        let (from, to) = (end.host, end.peer_host);
        if !self.links.is_cut(from, to) && self.hosts[to].is_up {
            end.is_retransmit_scheduled = false;
            let kept = std::mem::take(&mut end.kept);
            for (number, segment) in kept {
                self.send_numbered(id, number, segment);
            }
        } else if self.has_given_up(id, attempt) {
            self.fail(id, libc::ETIMEDOUT);
            self.ends.remove_if_done(id);
        } else {
            self.send_again_later(id, attempt + 1);
        }
    }

    /// The hosts between which a segment is on its way.
    pub(crate) fn way_of_segment(&mut self, event: &TcpEvent) -> Option<(usize, usize)> {
        let (end, is_of_sender) = match event {
            TcpEvent::Connect { client } => (client, true),
            TcpEvent::Arrived { from, .. } => (from, true),
            TcpEvent::Accepted { client, .. } | TcpEvent::Refused { client } => (client, false),
            TcpEvent::Reset { end } => (end, false),
            TcpEvent::ConnectAgain { .. }
            | TcpEvent::SendAgain { .. }
            | TcpEvent::KeepAlive { .. } => return None,
        };
        let end = self.ends.get(*end)?;
        Some(match is_of_sender {
            true => (end.host, end.peer_host),
            false => (end.peer_host, end.host),
        })
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
                let offered = end.offered;
                match (end.is_closed, attempt < CONNECT_ATTEMPTS) {
                    (true, _) => {
                        self.ends.remove_unopened(offered);
                        self.ends.ends.remove(client.index);
                    }
                    (false, true) => self.try_to_connect(client, attempt),
                    (false, false) => {
                        self.ends.remove_unopened(offered);
                        self.fail(client, libc::ETIMEDOUT);
                    }
                }
            }
            TcpEvent::Accepted { client, server } => match self.ends.get(client) {
                Some(end) if end.other.is_some() => {}
                Some(end) if !end.is_closed && end.error.is_none() && !end.is_broken => {
                    end.other = Some(server);
                    end.last_heard = self.now;
                    self.notify_end(client);
                    self.send(client, Segment::Opened);
                    self.watch(client);
                }
                _ => self.ends.remove_unopened(Some(server)),
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
            TcpEvent::KeepAlive { end } => self.keep_alive(end),
            TcpEvent::Reset { end } => {
                // Only a client that knows that the connection is open resets it.
                self.open(end);
                let error = match self.ends.get(end) {
                    Some(end) if end.other.is_none() => libc::ECONNREFUSED,
                    // As Linux: an end whose peer has already ended its direction cannot write.
                    Some(end) if end.has_fin && !end.has_sent_fin => libc::EPIPE,
                    _ => libc::ECONNRESET,
                };
                self.fail(end, error);
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

    fn arrive_at_listener(&mut self, client: EndpointId) {
        let Some(end) = self.ends.get(client) else {
            return;
        };
        let (local, peer) = (
            (end.peer_host, end.peer.clone()),
            (end.host, end.local.clone()),
        );
        let way = (local.0, peer.0);
        let offered = end.offered;
        if end.other.is_some() || !self.hosts[way.0].is_up {
            return;
        }
        if let Some(server) = offered.filter(|it| self.ends.get(*it).is_some()) {
            // The answer to an earlier attempt was lost.
            return self.send_once(way, TcpEvent::Accepted { client, server });
        }
        let found = self.find_listener(way.0, &local.1.name());
        let listening = found.and_then(|key| self.listeners.get_mut(&key));
        // One that is bound to the loopback is there for its own host only.
        let mut listening = listening.filter(|it| way.0 == way.1 || !it.local.is_local());
        if let Some(full) = listening.as_mut().filter(|it| it.is_full()) {
            full.queue.retain(|end| self.ends.get(*end).is_some());
        }
        match listening {
            None => self.send_once(way, TcpEvent::Refused { client }),
            // As Linux, it drops the request: the client tries again.
            Some(listening) if listening.is_full() => {}
            Some(listening) => {
                let server = self.ends.add(local, peer);
                self.ends.of_socket(client).offered = Some(server);
                let end = self.ends.of_socket(server);
                (end.other, end.last_heard) = (Some(client), self.now);
                end.opens_at = Some(listening.file);
                listening.queue.push_back(server);
                self.send_once(way, TcpEvent::Accepted { client, server });
            }
        }
    }

    fn arrive(&mut self, from: EndpointId, number: u64, segment: Segment) {
        let Some(sender) = self.ends.get(from) else {
            return;
        };
        sender.in_flight -= 1;
        let (to, way) = (sender.other, (sender.host, sender.peer_host));
        let is_early = sender
            .kept
            .front()
            .is_some_and(|(first, _)| *first < number);
        if is_early || !self.hosts[way.1].is_up || self.links.is_cut(way.0, way.1) {
            return self.retransmit_later(from, number, segment);
        }
        // The acknowledgement reaches the sender.
        if !self.links.is_cut(way.1, way.0) {
            sender.last_heard = self.now;
        }
        let end = to.and_then(|to| Some((to, self.ends.get(to)?)));
        let Some((to, end)) = end else {
            return self.reset_to(from);
        };
        end.last_heard = self.now;
        let mut is_changed = true;
        match segment {
            Segment::Data(_) if end.is_closed => return self.reset_to(from),
            Segment::Data(data) => end.received.extend(data.iter()),
            Segment::Opened => {
                is_changed = false;
                self.open(to);
            }
            Segment::Fin => end.has_fin = true,
            Segment::ReadShut => {
                end.has_sent_fin = true;
                // Nothing more comes to an end that is closed.
                if let Some(sender) = self.ends.get(from) {
                    sender.has_fin |= sender.is_closed;
                }
            }
            Segment::WindowUpdate(bytes) => {
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

    /// Lets an end be accepted.
    fn open(&mut self, id: EndpointId) {
        if let Some(listener) = self.ends.get(id).and_then(|end| end.opens_at.take()) {
            self.notify_waiters(listener);
        }
    }

    /// Tells an end that there is no connection.
    fn reset_to(&mut self, end: EndpointId) {
        let Some(target) = self.ends.get(end) else {
            return;
        };
        let way = (target.peer_host, target.host);
        self.send_reset(way, end);
    }

    /// Breaks a connection off at one end.
    fn reset(&mut self, id: EndpointId) {
        let Some(end) = self.ends.get(id) else { return };
        let (other, way) = (end.other, (end.host, end.peer_host));
        self.fail(id, libc::ECONNRESET);
        if let Some(end) = other {
            self.send_reset(way, end);
        }
        self.ends.remove_if_done(id);
    }

    /// Ends all connections of a host that goes down; tells the other ends if `resets`.
    pub(crate) fn break_off(&mut self, host: usize, resets: bool) {
        let ends = self.ends.ends.iter().filter(|(_, end)| end.host == host);
        let ends: Vec<_> = ends
            .map(|(index, end)| EndpointId {
                index,
                generation: end.generation,
            })
            .collect();
        for id in ends {
            let end = self.ends.of_socket(id);
            let (other, way) = (end.other, (end.host, end.peer_host));
            let offered = end.offered;
            if let (Some(end), true) = (other, resets) {
                self.send_reset(way, end);
            }
            self.ends.remove_unopened(offered);
            self.ends.ends.remove(id.index);
        }
        self.listeners
            .retain(|(listening, ..), _| *listening != host);
    }
}
