//! The kernel of a simulation: time and what happens in it, descriptors, sockets, selectors, and
//! the threads that wait. The [seam](crate::seam) calls it in place of the system's.
//!
//! One lock guards it. Only one thread of the simulation runs at a time, so it is hardly ever
//! contended.

pub(crate) mod disk;
pub(crate) mod epoll;
pub(crate) mod files;
pub(crate) mod groups;
pub(crate) mod link;
pub(crate) mod net;
pub(crate) mod tcp;
pub(crate) mod threads;
pub(crate) mod udp;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;
use std::time::Duration;

use libc::c_int;

use crate::clock::Clock;
use crate::engine::{Engine, NewHost, Process};
use crate::random::Random;
use crate::recording::Recorder;
use crate::trace::{Record, Trace};
use disk::Disk;
use files::{FileId, Files};
use groups::Groups;
use link::{Fate, Links};
use net::{Name, Ports};
use tcp::{Endpoints, Listening, TcpEvent};
use threads::Threads;
use udp::{Datagrams, UdpEvent};

/// An error of a system call: `EAGAIN` and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) c_int);

pub(crate) type Result<T> = std::result::Result<T, Errno>;

/// Who calls: a host, and how often it had been started when the caller began. Code of a host that
/// has crashed may still run; its calls fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) host: usize,
    pub(crate) boot: u64,
}

/// The state of a simulation.
pub(crate) struct Kernel {
    /// Nanoseconds since the start.
    pub(crate) now: u64,
    queue: BinaryHeap<Reverse<Entry>>,
    /// What the entries of the queue name.
    events: slab::Slab<Event>,
    /// How many of these are checks of monitors.
    checks: usize,
    pushed: u64,
    pub(crate) random: Random,
    pub(crate) trace: Trace,
    /// Writes a recording, if the test wants one.
    pub(crate) recorder: Option<Arc<Recorder>>,
    pub(crate) hosts: Vec<HostState>,
    /// The hosts that have something to do now.
    ready: Vec<usize>,
    pub(crate) threads: Threads,
    pub(crate) files: Files,
    /// The descriptors of files on the disks of hosts.
    pub(crate) on_disk: BTreeMap<c_int, Caller>,
    pub(crate) links: Links,
    /// Packets that wait for a link to be released, by its ends.
    held: BTreeMap<(usize, usize), Held>,
    pub(crate) ports: Ports,
    pub(crate) ends: Endpoints,
    /// The sockets that listen. Several have the same name by `SO_REUSEPORT`.
    pub(crate) listeners: BTreeMap<(usize, Name, FileId), Listening>,
    pub(crate) datagrams: Datagrams,
    pub(crate) groups: Groups,
    /// The clients that have not ended.
    pub(crate) clients: usize,
    /// Why the simulation ends before they have.
    pub(crate) failure: Option<String>,
    /// The dumps of the tasks, if the failure is that clients have not ended. Empty: not kept.
    pub(crate) dumps: Option<String>,
    /// Whether all hosts have been stopped.
    pub(crate) is_ending: bool,
    /// What the program has asked for and is not simulated.
    pub(crate) not_simulated: BTreeSet<String>,
}

/// A host, as the kernel sees it.
pub(crate) struct HostState {
    pub(crate) name: String,
    pub(crate) is_up: bool,
    /// How often it was started.
    pub(crate) boot: u64,
    pub(crate) clock: Clock,
    is_ready: bool,
    /// The selector of its runtime.
    pub(crate) driver: Option<FileId>,
    /// Whether that has had an event since the driver was last polled.
    pub(crate) has_events: bool,
    /// Whether a worker may have been unparked since all of them were found to have nothing to do.
    pub(crate) may_be_unparked: bool,
    pub(crate) disk: Disk,
    pub(crate) process: Process,
}

/// An event to come, and its place in the slab. Of those at the same time, the first that was
/// pushed is first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: u64,
    number: u64,
    event: usize,
}

/// What happens at a time.
pub(crate) enum Event {
    /// A timer of a host is due.
    Wake(usize),
    /// The time of a wait of a thread is over.
    TimeOut(u64),
    /// The monitor of a host checks its workers.
    Check(usize),
    /// A fault begins or ends.
    Fault(Box<dyn FnOnce(&Engine) + Send>),
    Tcp(TcpEvent),
    Udp(UdpEvent),
}

impl Kernel {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            now: 0,
            queue: BinaryHeap::new(),
            events: slab::Slab::new(),
            checks: 0,
            pushed: 0,
            random: Random::new(seed),
            trace: Trace::new(false),
            recorder: None,
            hosts: Vec::new(),
            ready: Vec::new(),
            threads: Threads::default(),
            files: Files::default(),
            on_disk: BTreeMap::new(),
            links: Links::new(),
            held: BTreeMap::new(),
            ports: Ports::default(),
            ends: Endpoints::default(),
            listeners: BTreeMap::new(),
            datagrams: Datagrams::default(),
            groups: Groups::default(),
            clients: 0,
            failure: None,
            dumps: None,
            is_ending: false,
            not_simulated: BTreeSet::new(),
        }
    }

    pub(crate) fn add_host(&mut self, host: NewHost) -> usize {
        self.clients += usize::from(host.is_client);
        self.hosts.push(HostState {
            name: host.name.clone(),
            is_up: false,
            boot: 0,
            clock: host.clock,
            is_ready: false,
            driver: None,
            has_events: false,
            may_be_unparked: false,
            disk: Disk::default(),
            process: Process::new(host),
        });
        self.hosts.len() - 1
    }

    /// Whether the caller's host has not crashed since.
    pub(crate) fn is_alive(&self, caller: Caller) -> bool {
        let host = &self.hosts[caller.host];
        host.is_up && host.boot == caller.boot
    }

    pub(crate) fn record(&mut self, record: Record) {
        self.trace.add(self.now, record);
    }

    /// Returns random bytes for the program, by the seed.
    pub(crate) fn random_bytes(&mut self, length: usize) -> Vec<u8> {
        self.record(Record::Random { bytes: length });
        let mut bytes = vec![0; length];
        for part in bytes.chunks_mut(8) {
            let random = self.random.next().to_le_bytes();
            part.copy_from_slice(&random[..part.len()]);
        }
        bytes
    }

    /// Takes note of something that is not simulated.
    #[cold]
    pub(crate) fn record_unsimulated(&mut self, what: String) {
        self.not_simulated.insert(what);
    }

    pub(crate) fn push_at(&mut self, at: u64, event: Event) {
        self.pushed += 1;
        self.checks += usize::from(matches!(event, Event::Check(_)));
        self.queue.push(Reverse(Entry {
            at: at.max(self.now),
            number: self.pushed,
            event: self.events.insert(event),
        }));
    }

    pub(crate) fn push_in(&mut self, nanos: u64, event: Event) {
        self.push_at(self.now.saturating_add(nanos), event);
    }

    pub(crate) fn make_ready(&mut self, host: usize) {
        if !std::mem::replace(&mut self.hosts[host].is_ready, true) {
            self.ready.push(host);
        }
    }

    /// Whether a host has something to do.
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Takes a host that has something to do.
    pub(crate) fn take_ready(&mut self) -> Option<usize> {
        let at = match self.ready.len() {
            0 => return None,
            1 => 0,
            count => self.random.index(count),
        };
        let host = self.ready.swap_remove(at);
        self.hosts[host].is_ready = false;
        Some(host)
    }

    /// Moves the time to the next event and takes it. Those of the network, and the ends of waits,
    /// happen here; the caller does what needs the engine.
    pub(crate) fn advance(&mut self) -> Option<Happened> {
        let Reverse(Entry { at, number, event }) = self.queue.pop()?;
        let event = self.events.remove(event);
        self.now = at;
        self.record(Record::Event(event.kind()));
        if self.recorder.is_some() {
            self.record_event(number);
        }
        match event {
            Event::Tcp(event) => self.receive_packet(Packet::Tcp(event)),
            Event::Udp(event) => self.receive_packet(Packet::Udp(event)),
            Event::Wake(host) => self.make_ready(host),
            Event::TimeOut(wait) => self.threads.time_out(wait),
            Event::Check(host) => {
                self.checks -= 1;
                return Some(Happened::Check(host));
            }
            Event::Fault(begin) => return Some(Happened::Fault(begin)),
        }
        Some(Happened::Handled)
    }

    /// Records the time of an event, and the packet that arrives by it.
    #[cold]
    fn record_event(&self, number: u64) {
        if let Some(recorder) = &self.recorder {
            recorder.advance(self.now, number, |from, to| {
                let reasons = [
                    (self.links.is_held(from, to), "held"),
                    (self.links.is_cut(from, to), "the link is cut"),
                    (!self.hosts[to].is_up, "the host is down"),
                ];
                let found = reasons.into_iter().find(|(holds, _)| *holds);
                found.map(|(_, reason)| reason)
            });
        }
    }

    /// Whether only monitors will do something.
    pub(crate) fn has_only_checks(&self) -> bool {
        self.checks > 0 && self.checks == self.queue.len()
    }

    /// The time of the next event.
    pub(crate) fn next_time(&self) -> Option<u64> {
        self.queue.peek().map(|Reverse(next)| next.at)
    }
}

/// A packet on its way.
pub(crate) enum Packet {
    Tcp(TcpEvent),
    Udp(UdpEvent),
}

/// Packets that a link holds.
#[derive(Default)]
struct Held {
    /// Those that were on their way when the fault began.
    at_receiver: Vec<Packet>,
    /// Those that were sent since.
    at_sender: Vec<Packet>,
}

impl Kernel {
    /// Sends a packet that is not sent again if it is lost.
    pub(crate) fn send_packet(
        &mut self,
        way: (usize, usize),
        bytes: usize,
        packet: Packet,
    ) -> Fate {
        let fate = self.links.send(&mut self.random, way, bytes, self.now);
        self.record_packet(way, fate, || packet.describe());
        match fate {
            Fate::Arrives(time) => self.push_in(time, packet.into_event()),
            Fate::Held => self.hold(way, packet),
            Fate::Lost => {}
        }
        fate
    }

    /// Records what happens to a packet, which is the next event that is pushed if it arrives.
    #[inline]
    pub(crate) fn record_packet(
        &self,
        way: (usize, usize),
        fate: Fate,
        describe: impl FnOnce() -> String,
    ) {
        if self.recorder.is_some() {
            self.record_fate(way, fate, describe);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_fate(&self, way: (usize, usize), fate: Fate, describe: impl FnOnce() -> String) {
        if let Some(recorder) = &self.recorder {
            recorder.packet(self.pushed + 1, way, describe(), fate);
        }
    }

    /// Takes a packet from its link, unless a fault has begun there while it was on its way.
    fn receive_packet(&mut self, packet: Packet) {
        if self.links.has_faults() {
            let way = match &packet {
                Packet::Tcp(event) => self.way_of_segment(event),
                Packet::Udp(event) => Some(event.way()),
            };
            if let Some(way) = way {
                if self.links.is_held(way.0, way.1) {
                    let held = self.held.entry(way).or_default();
                    return held.at_receiver.push(packet);
                }
                // The sender sends a segment again.
                let is_segment = matches!(packet, Packet::Tcp(TcpEvent::Arrived { .. }));
                if self.links.is_cut(way.0, way.1) && !is_segment {
                    return;
                }
            }
        }
        match packet {
            Packet::Tcp(event) => self.handle_tcp(event),
            Packet::Udp(event) => self.handle_udp(event),
        }
    }

    /// Keeps a packet until the link is released.
    pub(crate) fn hold(&mut self, way: (usize, usize), packet: Packet) {
        self.held.entry(way).or_default().at_sender.push(packet);
    }

    /// Ends a fault that holds packets of a link.
    pub(crate) fn release_link(&mut self, from: usize, to: usize) {
        if !self.links.release(from, to) {
            return;
        }
        let held = self.held.remove(&(from, to)).unwrap_or_default();
        for packet in held.at_receiver {
            self.receive_packet(packet);
        }
        for packet in held.at_sender {
            match packet {
                Packet::Tcp(TcpEvent::Arrived {
                    from,
                    number,
                    segment,
                }) => {
                    self.resend_held(from, number, segment);
                }
                packet => {
                    self.send_packet((from, to), 0, packet);
                }
            }
        }
    }
}

impl Packet {
    fn describe(&self) -> String {
        match self {
            Self::Tcp(event) => event.describe(),
            Self::Udp(event) => event.describe(),
        }
    }

    fn into_event(self) -> Event {
        match self {
            Self::Tcp(event) => Event::Tcp(event),
            Self::Udp(event) => Event::Udp(event),
        }
    }
}

/// What [`Kernel::advance`] leaves to its caller.
pub(crate) enum Happened {
    Handled,
    Check(usize),
    Fault(Box<dyn FnOnce(&Engine) + Send>),
}

impl Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::Wake(_) => "timer",
            Self::TimeOut(_) => "time-out",
            Self::Check(_) => "check",
            Self::Fault(_) => "fault",
            Self::Tcp(_) => "segment",
            Self::Udp(_) => "datagram",
        }
    }
}

/// A time in nanoseconds; more than 584 years are all of them.
pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
