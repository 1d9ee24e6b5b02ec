//! The exchange of one sample between the thread that asks for it and the signal handler that
//! writes it.

use std::fmt;
use std::ops::Range;

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};

/// The owner of the sample, and the next step.
///
/// ```text
///            request            publish            answer             written
///   Idle ------------> Preparing -------> Requested -----> Writing -----------> Written
///    ^                                       |               |                    |
///    |<--------------- take back ------------+    abandon    v                    |
///    |<------------------- written ---------------------- Abandoned               |
///    |<---------------------------------- read or take back ----------------------+
/// ```
///
/// The requesting thread makes the transitions from `Idle`, `Preparing` and `Written`, the handler
/// those from `Writing` and `Abandoned`. Both may make transitions from `Requested` and `Writing`.
/// Access to the sample: the requesting thread in `Preparing` and `Written`, the handler in
/// `Writing` and `Abandoned`, no thread in the other states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
enum Phase {
    Idle,
    Preparing,
    Requested,
    Writing,
    Written,
    Abandoned,
}

/// The state word of an exchange.
struct State(AtomicUsize);

impl State {
    /// The requesting thread reserves the exchange.
    fn transition_to_preparing(&self) -> bool {
        // ORDERING: acquires the accesses to the sample before the exchange became idle, by
        // `transition_to_idle` or by `transition_to_written`.
        self.change(Phase::Idle, Phase::Preparing, Ordering::Acquire)
    }

    /// The requesting thread publishes the request.
    fn transition_to_requested(&self) {
        let requested = Phase::Requested as usize;
        // ORDERING: releases the bounds to `transition_to_writing`.
        self.0.store(requested, Ordering::Release);
    }

    /// The handler starts to write the sample. Returns `false` if there is no request.
    fn transition_to_writing(&self) -> bool {
        // ORDERING: acquires the bounds from `transition_to_requested`.
        self.change(Phase::Requested, Phase::Writing, Ordering::Acquire)
    }

    /// The handler passes the sample to the requesting thread, or makes the exchange idle if that
    /// thread has given up.
    fn transition_to_written(&self) {
        // ORDERING: releases the sample to `is_written`.
        if !self.change(Phase::Writing, Phase::Written, Ordering::Release) {
            // Only this thread leaves `Abandoned`.
            self.transition_to_idle();
        }
    }

    fn is_written(&self) -> bool {
        // ORDERING: acquires the sample from `transition_to_written`.
        self.0.load(Ordering::Acquire) == Phase::Written as usize
    }

    /// The requesting thread takes the request back, or leaves the sample to the handler.
    fn give_up(&self) {
        // ORDERING: nothing was written since the request.
        if self.change(Phase::Requested, Phase::Idle, Ordering::Release) {
            return;
        }
        // ORDERING: the thread no longer accesses the sample; the handler releases its writes.
        if !self.change(Phase::Writing, Phase::Abandoned, Ordering::Release) {
            // Only this thread leaves `Written`. The load acquires the handler's writes, which the
            // next handler overwrites.
            let is_written = self.is_written();
            debug_assert!(
                is_written,
                "the sample is written, since it is not being written"
            );
            self.transition_to_idle();
        }
    }

    fn transition_to_idle(&self) {
        let idle = Phase::Idle as usize;
        // ORDERING: releases the accesses to the sample to `transition_to_preparing`.
        self.0.store(idle, Ordering::Release);
    }

    fn change(&self, from: Phase, to: Phase, success: Ordering) -> bool {
        self.0
            // ORDERING: on success as the caller requires; on failure nothing is accessed.
            .compare_exchange(from as usize, to as usize, success, Ordering::Relaxed)
            .is_ok()
    }
}

/// A sample that one thread asks for and a signal handler writes.
///
/// No operation waits, locks or allocates, so all may be called in a signal handler.
///
/// ```
/// use raddle_watchdog::exchange::Exchange;
///
/// let exchange = Exchange::new(Vec::new());
/// let request = exchange.request(0x1000..0x2000).expect("the exchange is idle");
/// // The handler, on the thread whose stack is asked for.
/// exchange.answer(|addresses, sample: &mut Vec<usize>| sample.push(addresses.start));
/// assert!(request.is_answered());
/// assert_eq!(request.read(Vec::len), Some(1));
/// ```
pub struct Exchange<T> {
    state: State,
    /// The request: a range of addresses.
    low: AtomicUsize,
    high: AtomicUsize,
    sample: UnsafeCell<T>,
}

// SAFETY: the state allows one thread at a time to access the sample.
unsafe impl<T: Send> Sync for Exchange<T> {}

/// A request under way. Dropping it gives it up.
#[must_use]
pub struct Request<'a, T> {
    exchange: &'a Exchange<T>,
}

impl<T> Exchange<T> {
    /// Makes an exchange that is idle.
    pub fn new(sample: T) -> Self {
        Self {
            state: State(AtomicUsize::new(Phase::Idle as usize)),
            low: AtomicUsize::new(0),
            high: AtomicUsize::new(0),
            sample: UnsafeCell::new(sample),
        }
    }

    /// Requests a sample. Returns `None` while another request is under way, or while a handler
    /// still writes for one that was given up.
    pub fn request(&self, addresses: Range<usize>) -> Option<Request<'_, T>> {
        if !self.state.transition_to_preparing() {
            return None;
        }
        // ORDERING: both are released by the transition below.
        self.low.store(addresses.start, Ordering::Relaxed);
        // ORDERING: as above.
        self.high.store(addresses.end, Ordering::Relaxed);
        self.state.transition_to_requested();
        Some(Request { exchange: self })
    }

    /// Calls `write` to write the sample, if there is a request. Called by the handler.
    ///
    /// `write` must not panic.
    pub fn answer(&self, write: impl FnOnce(Range<usize>, &mut T)) {
        if !self.state.transition_to_writing() {
            return;
        }
        // ORDERING: acquired with the transition; no thread writes them until the next request.
        let addresses = self.low.load(Ordering::Relaxed)..self.high.load(Ordering::Relaxed);
        self.sample.with_mut(|sample| {
            // SAFETY: in the states `Writing` and `Abandoned` only the handler accesses the sample.
            write(addresses, unsafe { &mut *sample });
        });
        self.state.transition_to_written();
    }

    /// Reads the sample without checking the state, for the canary.
    #[cfg(raddle_loom)]
    pub fn read_unchecked<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        self.sample.with(|sample| {
            // SAFETY: none; loom reports the race.
            read(unsafe { &*sample })
        })
    }
}

impl<T> Request<'_, T> {
    /// Returns whether the sample is written.
    pub fn is_answered(&self) -> bool {
        self.exchange.state.is_written()
    }

    /// Reads the sample, if it is written. Otherwise the request is given up.
    pub fn read<R>(self, read: impl FnOnce(&T) -> R) -> Option<R> {
        self.is_answered().then(|| {
            self.exchange.sample.with(|sample| {
                // SAFETY: in the state `Written` only this thread accesses the sample.
                read(unsafe { &*sample })
            })
        })
    }
}

impl<T> Drop for Request<'_, T> {
    fn drop(&mut self) {
        self.exchange.state.give_up();
    }
}

impl<T> fmt::Debug for Exchange<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Request<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("is_answered", &self.is_answered())
            .finish()
    }
}
