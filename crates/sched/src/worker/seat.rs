//! The right to drive a worker, and where a thread leaves it for another:
//! `docs/block-in-place.md`, whose rules the `SAFETY` lines cite.

use std::ops::Deref;

use raddle_primitives::sync::{Arc, Mutex, Rank};

use super::core::Core;

/// The right to drive a worker, while it is held; otherwise a reference that
/// keeps its memory.
pub(crate) struct Seat(Arc<Core>);

// SAFETY: what a seat gives access to may go to another thread, for it is `Send`, as the bound has
// the compiler check; one thread at a time holds the worker (rule 1), and no other looks at what
// changes (rule 2).
unsafe impl Send for Seat where Core: Send {}

impl Seat {
    // The lint does not know the `Arc` of a model, nor one that counts.
    #[cfg_attr(
        not(any(raddle_loom, raddle_count)),
        expect(
            clippy::arc_with_non_send_sync,
            reason = "the references are in seats, which say why they may be sent"
        )
    )]
    pub(crate) fn new(core: Core) -> Self {
        Self(Arc::new(core))
    }

    /// Another reference, for the thread to which the worker is handed off.
    pub(crate) fn share(&self) -> Self {
        Self(self.0.clone())
    }
}

impl Deref for Seat {
    type Target = Core;

    #[inline]
    fn deref(&self) -> &Core {
        &self.0
    }
}

/// Where a thread leaves the seat of its worker, for whichever thread comes first:
/// another, or the same.
#[derive(Clone)]
pub(crate) struct Vacancy(Arc<Mutex<Place>>);

impl Default for Vacancy {
    fn default() -> Self {
        let place = Mutex::ranked(Rank::outer(1, "vacant seat"), Place::default());
        Self(Arc::new(place))
    }
}

#[derive(Default)]
struct Place {
    seat: Option<Seat>,
    /// Set while another thread may come at any time. So a thread that leaves its worker
    /// many times for a moment asks for one other.
    is_advertised: bool,
}

impl Vacancy {
    /// Leaves the worker.
    pub(crate) fn put(&self, seat: Seat) {
        self.0.lock().seat = Some(seat);
    }

    /// Takes the worker back, on the thread that left it. None if another has it.
    pub(crate) fn take_back(&self) -> Option<Seat> {
        self.0.lock().seat.take()
    }

    /// Notes that another thread is asked for. False if one was asked for, or has come.
    pub(crate) fn advertise(&self) -> bool {
        let mut place = self.0.lock();
        let is_needed = !place.is_advertised && place.seat.is_some();
        place.is_advertised |= is_needed;
        is_needed
    }

    /// Takes the worker for another thread than that which left it.
    pub(crate) fn take(&self) -> Option<Seat> {
        self.0.lock().take()
    }

    /// Takes the worker for the thread that was asked for.
    pub(crate) fn take_advertised(&self) -> Option<Seat> {
        let mut place = self.0.lock();
        place.is_advertised = false;
        place.take()
    }

    /// As [`take_advertised`](Self::take_advertised), if the scheduler is closed.
    pub(crate) fn take_advertised_if_closed(&self) -> Option<Seat> {
        let mut place = self.0.lock();
        place.is_advertised = false;
        let seat = place.seat.as_ref()?;
        // CHECK: the end, which looks for the worker later than this otherwise.
        match seat.shared().is_closed() {
            true => place.take(),
            false => None,
        }
    }
}

impl Place {
    fn take(&mut self) -> Option<Seat> {
        let seat = self.seat.take()?;
        // Counted before the thread that left the worker can know that it is handed off.
        seat.shared().retired.lock().handed_off += 1;
        Some(seat)
    }
}
