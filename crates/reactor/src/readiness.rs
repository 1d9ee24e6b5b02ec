//! The readiness word of one source. `docs/reactor.md` draws its transitions.

use raddle_primitives::sync::atomic::{AtomicU64, Ordering};

use crate::Ready;

/// The bits of the flags of [`Ready`]. Set by events; cleared by operations.
const READY: u64 = u8::MAX as u64;
/// Set once the reactor has shut down; never cleared.
const SHUTDOWN: u64 = READY + 1;
/// Set if an error does not close the source: see
/// [`transition_to_passing_errors`](Readiness::transition_to_passing_errors). Set when the source
/// is registered; never cleared.
const ERRORS_PASS: u64 = SHUTDOWN << 1;
/// One step of the tick, which takes all the bits above. It counts the events that were dispatched
/// to this source and wraps after 2^54 of them, so that a snapshot never meets its tick again.
const TICK_ONE: u64 = ERRORS_PASS << 1;
const TICK_SHIFT: u32 = TICK_ONE.trailing_zeros();

/// The flags, the tick and the shutdown mark of one source in one word.
///
/// ```
/// use raddle_reactor::{Clearing, Readiness, Ready};
///
/// let readiness = Readiness::new();
/// readiness.transition_to_ready(Ready::READABLE);
/// let event = readiness.load().event(Ready::READABLE).expect("the source is readable");
/// // A read finds nothing. Data arrives before the readiness is cleared.
/// readiness.transition_to_ready(Ready::READABLE);
/// assert_eq!(readiness.transition_to_blocked(event), Clearing::Kept);
/// assert!(readiness.load().ready().is_readable());
/// ```
#[derive(Debug)]
pub struct Readiness(AtomicU64);

/// The word at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot(u64);

/// Readiness at some moment: the flags, and the tick that says when.
///
/// An operation that finds it outdated clears it; should another event have come in between, the
/// ticks differ and the newer readiness stays.
///
/// ```
/// use raddle_reactor::{Clearing, Readiness, Ready};
///
/// let readiness = Readiness::new();
/// readiness.transition_to_ready(Ready::READABLE | Ready::WRITABLE);
/// let event = readiness.load().event(Ready::READABLE | Ready::WRITABLE).unwrap();
/// assert_eq!(event.ready(), Ready::READABLE | Ready::WRITABLE);
/// // The read would have blocked. Nothing is known about the write.
/// assert_eq!(readiness.transition_to_blocked(event.only(Ready::READABLE)), Clearing::Cleared);
/// assert_eq!(readiness.load().ready(), Ready::WRITABLE);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyEvent {
    tick: u64,
    ready: Ready,
    /// The requested flags; `ready` are those of them that were set. An operation for several
    /// interests may have tried only one of them.
    asked: Ready,
}

/// Whether readiness was cleared.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clearing {
    /// The flags are cleared: the source waits for the next event.
    Cleared,
    /// The flags remain, since they are newer than the event or report more than data: try the
    /// operation again before waiting.
    Kept,
}

impl Readiness {
    /// Ready for nothing, no event so far.
    pub fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The word now.
    #[inline]
    pub fn load(&self) -> Snapshot {
        // ORDERING: pairs with the release of `update`, so a thread that sees the readiness also
        // sees the earlier writes of its setter.
        Snapshot(self.0.load(Ordering::Acquire))
    }

    /// Adds the flags of an event and counts it.
    pub fn transition_to_ready(&self, ready: Ready) {
        // Set the flags and the tick in one step. If the tick came first, an operation that reads
        // in between could clear the new flags with the new tick.
        self.update(|word| Some((word | u64::from(ready.bits())).wrapping_add(TICK_ONE)));
    }

    /// Removes the flags of `event`, for an operation that would have blocked.
    ///
    /// Closed flags stay, since the selector reports them only once, and the operation may have
    /// been about something else: a pipe that is full, when the end of a socket is moved into it.
    /// The exception is the write-closed flag of a source whose
    /// [errors pass](Self::transition_to_passing_errors).
    pub fn transition_to_blocked(&self, event: ReadyEvent) -> Clearing {
        let open = event.ready - Ready::CLOSED;
        self.clear(event, |now| {
            // The write was tried because of the closed flag alone.
            if open.is_empty() && event.asked == Ready::WRITE && now.is_write_closed_by_error() {
                event.ready
            } else {
                open
            }
        })
    }

    /// Removes readable and writable, as far as `event` has them, after an operation that moved
    /// less than it was asked to.
    ///
    /// Removes nothing if an error or out-of-band data was reported: then the operation may have
    /// stopped short although the source is not drained.
    pub fn transition_to_drained(&self, event: ReadyEvent) -> Clearing {
        self.clear(event, |now| {
            if now.ready().intersects(Ready::ERROR | Ready::PRIORITY) {
                Ready::EMPTY
            } else {
                event.ready & (Ready::READABLE | Ready::WRITABLE)
            }
        })
    }

    /// Marks the reactor as shut down.
    pub fn transition_to_shutdown(&self) {
        // ORDERING: pairs with `load`.
        self.0.fetch_or(SHUTDOWN, Ordering::AcqRel);
    }

    /// Marks the source as one that an error does not close.
    ///
    /// epoll reports an error together with "write closed". That is true for a pipe: its reader has
    /// gone. A socket that is closed reports a hang-up, which closes both directions. A socket that
    /// only has an error, such as a refused datagram or a message in its error queue, can be
    /// written to afterwards, and nothing reports that. Its write-closed flag is therefore cleared
    /// by a write that was tried because of this flag alone and would block. Otherwise a loop that
    /// waits for room in its buffer would never wait.
    ///
    /// ```
    /// use raddle_reactor::{Clearing, Readiness, Ready};
    ///
    /// let write = Ready::WRITABLE | Ready::WRITE_CLOSED;
    /// let socket = Readiness::new();
    /// socket.transition_to_passing_errors();
    /// // A datagram was refused, and the buffer is full.
    /// socket.transition_to_ready(Ready::ERROR | Ready::WRITE_CLOSED);
    /// let event = socket.load().event(write).unwrap();
    /// assert_eq!(socket.transition_to_blocked(event), Clearing::Cleared);
    /// assert!(socket.load().event(write).is_none());
    ///
    /// // The reader of a pipe has gone.
    /// let pipe = Readiness::new();
    /// pipe.transition_to_ready(Ready::ERROR | Ready::WRITE_CLOSED);
    /// let event = pipe.load().event(write).unwrap();
    /// assert_eq!(pipe.transition_to_blocked(event), Clearing::Kept);
    /// ```
    pub fn transition_to_passing_errors(&self) {
        // ORDERING: Relaxed, as no data depends on the bit. It is a read-modify-write, so that the
        // readiness that was set before is still published.
        self.0.fetch_or(ERRORS_PASS, Ordering::Relaxed);
    }

    fn clear(&self, event: ReadyEvent, flags: impl Fn(Snapshot) -> Ready) -> Clearing {
        let cleared = self.update(|word| {
            let now = Snapshot(word);
            let flags = flags(now);
            (now.tick() == event.tick && !flags.is_empty())
                .then_some(word & !u64::from(flags.bits()))
        });
        if cleared {
            Clearing::Cleared
        } else {
            Clearing::Kept
        }
    }

    /// Replaces the word by the result of `next`. Returns whether there was a result.
    fn update(&self, next: impl FnMut(u64) -> Option<u64>) -> bool {
        // ORDERING: pairs with `load` and with itself: setters and clearers pass the word to each
        // other.
        self.0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next)
            .is_ok()
    }
}

impl Default for Readiness {
    fn default() -> Self {
        Self::new()
    }
}

impl Snapshot {
    /// The flags.
    pub fn ready(self) -> Ready {
        Ready::from_bits((self.0 & READY) as u8)
    }

    /// Returns whether the reactor has shut down.
    pub fn is_shutdown(self) -> bool {
        self.0 & SHUTDOWN != 0
    }

    /// Returns whether the only reason for the write-closed flag is an error that passes. A hang-up
    /// sets both closed flags.
    fn is_write_closed_by_error(self) -> bool {
        self.0 & ERRORS_PASS != 0 && !self.ready().is_read_closed()
    }

    /// Returns the number of events that the source has had, modulo 2^54.
    pub fn tick(self) -> u64 {
        self.0 >> TICK_SHIFT
    }

    /// Returns the part of the readiness that is in `flags`, if any is.
    pub fn event(self, flags: Ready) -> Option<ReadyEvent> {
        let ready = self.ready() & flags;
        (!ready.is_empty()).then(|| ReadyEvent {
            tick: self.tick(),
            ready,
            asked: flags,
        })
    }
}

impl ReadyEvent {
    /// The requested operations for which the source is ready.
    pub fn ready(&self) -> Ready {
        self.ready
    }

    /// The part of it that is in `flags`: to clear no more than that.
    #[must_use = "this returns the part and does not change the event"]
    pub fn only(self, flags: Ready) -> ReadyEvent {
        ReadyEvent {
            ready: self.ready & flags,
            ..self
        }
    }

    /// Returns whether `now` has had no event since this one.
    pub(crate) fn is_newest_of(&self, now: Snapshot) -> bool {
        self.tick == now.tick()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
