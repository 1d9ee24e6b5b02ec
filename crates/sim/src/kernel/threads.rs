//! The threads of a simulation: one at a time has the *turn* and runs.
//!
//! The thread that runs the [loop](crate::engine) has it at first. Code of a host that blocks, in a
//! poll or on a thread of its own, passes the turn to another thread, which runs the loop
//! meanwhile. When the wait is over, the loop passes the turn back, and its thread is kept for the
//! next time.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use raddle_primitives::sync::{Condvar, Mutex};

use super::files::FileId;
use super::{Caller, Event, Kernel, nanos};
use crate::trace::Record;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// A change of what is ready of a file.
    File(FileId),
    /// A change of a file of this host.
    AnyFile(usize),
    /// A wake of the futex at this address.
    Futex(usize),
    /// The end of the thread with this number.
    Thread(u64),
    /// Nothing but the time.
    Sleep,
}

impl Place {
    fn is_file(self) -> bool {
        matches!(self, Self::File(_) | Self::AnyFile(_))
    }
}

/// How a wait has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    Released,
    TimedOut,
}

/// A thread, and whether it has been given the turn.
#[derive(Debug)]
pub(crate) struct Turn {
    // UNRANKED: no lock is taken under it.
    given: Mutex<Option<Woken>>,
    changed: Condvar,
}

impl Default for Turn {
    fn default() -> Self {
        Self {
            // UNRANKED: as above.
            given: Mutex::new(None),
            changed: Condvar::new(),
        }
    }
}

impl Turn {
    pub(crate) fn give(&self, woken: Woken) {
        *self.given.lock() = Some(woken);
        self.changed.notify_one();
    }

    pub(crate) fn wait(&self) -> Woken {
        let mut given = self.given.lock();
        loop {
            match given.take() {
                Some(woken) => return woken,
                None => given = self.changed.wait(given),
            }
        }
    }
}

/// A thread that runs when it is given the turn.
pub(crate) struct ReadyThread {
    pub(crate) turn: Arc<Turn>,
    pub(crate) woken: Woken,
    pub(crate) host: usize,
}

#[derive(Default)]
pub(crate) struct Threads {
    /// By the numbers of their waits.
    waiting: BTreeMap<u64, Waiting>,
    /// How many of them wait for files.
    for_files: usize,
    places: BTreeMap<Place, VecDeque<u64>>,
    ready: VecDeque<ReadyThread>,
    /// Threads that can run the loop.
    pub(crate) spare_loops: Vec<Arc<Turn>>,
    /// The numbers of waits and of threads.
    next: u64,
}

struct Waiting {
    place: Place,
    turn: Arc<Turn>,
    host: usize,
}

impl Threads {
    /// Returns a number that no other thread or wait has.
    pub(crate) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Adds a thread that runs when it is given the turn.
    pub(crate) fn add(&mut self, host: usize, turn: Arc<Turn>) {
        self.ready.push_back(ReadyThread {
            turn,
            woken: Woken::Released,
            host,
        });
    }

    #[inline]
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The threads that can go on.
    pub(crate) fn ready(&self) -> impl Iterator<Item = &ReadyThread> {
        self.ready.iter()
    }

    pub(crate) fn take_ready(&mut self, at: usize) -> Option<ReadyThread> {
        self.ready.remove(at)
    }

    /// Ends the waits for a file of a host.
    #[inline]
    pub(crate) fn release_file(&mut self, file: FileId, host: usize) {
        if self.for_files > 0 {
            self.release(Place::File(file), usize::MAX);
            self.release(Place::AnyFile(host), usize::MAX);
        }
    }

    /// Ends the waits of up to `count` threads at a place, the longest first. Returns how many.
    pub(crate) fn release(&mut self, place: Place, count: usize) -> usize {
        let mut released = 0;
        while released < count {
            let waits = self.places.get_mut(&place);
            let Some(wait) = waits.and_then(VecDeque::pop_front) else {
                self.places.remove(&place);
                break;
            };
            released += usize::from(self.end_wait(wait, Woken::Released));
        }
        released
    }

    /// The time of a wait is over, if it has not ended before.
    pub(crate) fn time_out(&mut self, wait: u64) {
        if let Some(waiting) = self.waiting.get(&wait) {
            let place = waiting.place;
            if let Some(waits) = self.places.get_mut(&place) {
                waits.retain(|other| *other != wait);
                if waits.is_empty() {
                    self.places.remove(&place);
                }
            }
            self.end_wait(wait, Woken::TimedOut);
        }
    }

    fn end_wait(&mut self, wait: u64, woken: Woken) -> bool {
        let Some(Waiting { place, turn, host }) = self.waiting.remove(&wait) else {
            return false;
        };
        self.for_files -= usize::from(place.is_file());
        self.ready.push_back(ReadyThread { turn, woken, host });
        true
    }

    /// Whether a thread waits for a futex, which a thread outside the simulation may wake.
    pub(crate) fn has_futex_waiter(&self) -> bool {
        let mut waiting = self.waiting.values();
        waiting.any(|waiting| matches!(waiting.place, Place::Futex(_)))
    }

    /// The hosts whose threads wait, and for what.
    pub(crate) fn waits(&self) -> impl Iterator<Item = (usize, Place)> {
        let waiting = self.waiting.values();
        waiting.map(|waiting| (waiting.host, waiting.place))
    }
}

impl Kernel {
    /// Begins a wait of the thread with this turn.
    pub(crate) fn begin_wait(
        &mut self,
        caller: Caller,
        turn: Arc<Turn>,
        place: Place,
        timeout: Option<Duration>,
    ) {
        let wait = self.threads.number();
        let host = caller.host;
        self.threads.for_files += usize::from(place.is_file());
        self.threads
            .waiting
            .insert(wait, Waiting { place, turn, host });
        self.threads
            .places
            .entry(place)
            .or_default()
            .push_back(wait);
        self.record(Record::Blocked { host });
        if let Some(timeout) = timeout {
            let timeout = self.hosts[host].clock.real(timeout);
            self.push_in(nanos(timeout), Event::TimeOut(wait));
        }
    }
}
