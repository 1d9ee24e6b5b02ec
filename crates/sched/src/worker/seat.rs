//! The right to drive a worker, and how it goes from thread to thread during a
//! poll: `docs/block-in-place.md`, whose rules the `SAFETY` lines cite.

use std::fmt;
use std::ops::Deref;

use raddle_primitives::sync::{Arc, Mutex, Rank};

use super::{Core, Worker};
use crate::handle::Handle;

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
}

impl Deref for Seat {
    type Target = Core;

    #[inline]
    fn deref(&self) -> &Core {
        &self.0
    }
}

/// Where a thread leaves the seat of its worker, for whoever comes first:
/// another thread, or the same.
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
    /// Set while there is a [`Relief`], which may come at any time. So a thread
    /// that leaves its worker many times for a moment asks for one other.
    is_advertised: bool,
}

impl Vacancy {
    /// Takes what is in the vacancy for another thread than that which left it.
    pub(crate) fn take(&self) -> Option<Seat> {
        self.0.lock().take()
    }
}

impl Place {
    fn take(&mut self) -> Option<Seat> {
        let seat = self.seat.take()?;
        // Counted before the thread that is displaced can know that it is.
        seat.shared.ended.lock().displaced += 1;
        Some(seat)
    }

    fn take_if_closed(&mut self) -> Option<Seat> {
        let seat = self.seat.as_ref()?;
        // CHECK: the end, which looks for the worker later than this otherwise.
        if !seat.shared.is_closed() {
            return None;
        }
        self.take()
    }
}

impl Worker {
    /// Whether the worker's state is `core`.
    pub(crate) fn is_of(&self, core: *const Core) -> bool {
        std::ptr::eq(self.core(), core)
    }

    /// Offers the worker to other threads, during a poll. None if it has to
    /// stay: there are none, or this is not in a poll. Then nothing has
    /// changed.
    ///
    /// The calling thread has [left](crate::context::leave).
    pub(crate) fn vacate(&self) -> Option<Vacated<'_>> {
        let core = self.core();
        if core.is_pinned() || core.shared.config.relief.is_none() || !core.live.part_with_running()
        {
            return None;
        }
        // From the queue others can take it, should nobody come.
        if let Some(task) = core.remote().slot.take() {
            if core.push_needs_notify(task) && core.has_others {
                core.shared.notify_of_push(core.index);
            }
        }
        self.held.set(false);
        let seat = self.seat.as_ref().map(|seat| Seat(seat.0.clone()));
        self.vacancy.0.lock().seat = seat;
        Some(Vacated(self))
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("number", &self.core().number())
            .field("queue", &self.core().queue)
            .finish_non_exhaustive()
    }
}

/// A worker that its thread has left.
#[must_use = "a worker that nobody drives and nobody takes back is lost"]
pub(crate) struct Vacated<'a>(&'a Worker);

impl Vacated<'_> {
    /// Asks for another thread, unless one is about to come.
    pub(crate) fn advertise(&self) {
        let vacancy = &self.0.vacancy;
        {
            let mut place = vacancy.0.lock();
            if place.is_advertised || place.seat.is_none() {
                return;
            }
            place.is_advertised = true;
        }
        let core = self.0.core();
        // No thread may be had, and the end of the scheduler looks for the worker.
        let former = core.remote().vacancy.lock().replace(vacancy.clone());
        drop(former);
        core.shared.announce_vacancy();
        if let Some(relief) = &core.shared.config.relief {
            relief(Relief {
                vacancy: Some(vacancy.clone()),
            });
        }
    }

    /// Takes the worker back. False if another thread has it: the calling one
    /// is displaced.
    pub(crate) fn withdraw(self) -> bool {
        let seat = self.0.vacancy.0.lock().seat.take();
        self.0.held.set(seat.is_some());
        seat.is_some()
    }
}

/// A worker whose thread is in [`block_in_place`](crate::block_in_place), for
/// another thread to drive. If that thread has come back and blocks again in the
/// meantime, no second one is made.
///
/// Dropped, it leaves the worker where it is: its tasks wait until the function
/// that blocks returns, or are stolen. If the scheduler is shutting down, so does the
/// worker, on the thread that drops it.
#[must_use = "dropping it leaves the tasks of the worker waiting; call run on some thread"]
pub struct Relief {
    /// There until it has been looked into.
    vacancy: Option<Vacancy>,
}

impl Relief {
    /// Drives the worker: until the scheduler shuts down, or until a task of
    /// the worker blocks and has it driven by another thread in turn. Returns at
    /// once if the worker is not to be had any more.
    ///
    /// To be called in what tasks of the scheduler expect around them, as
    /// [`Config::around_worker`](crate::Config::around_worker) provides it; that
    /// function is not called here. The scheduler is made the current one.
    pub fn run(mut self) {
        let Some(seat) = self.take() else { return };
        let handle = Handle::new(seat.shared.clone());
        let _current = handle.enter();
        Worker::new(seat).run();
    }

    /// Takes what is in the vacancy, which from now on needs another relief.
    fn take(&mut self) -> Option<Seat> {
        let vacancy = self.vacancy.take()?;
        let mut place = vacancy.0.lock();
        place.is_advertised = false;
        place.take()
    }
}

impl Drop for Relief {
    fn drop(&mut self) {
        if let Some(vacancy) = self.vacancy.take() {
            let seat = {
                let mut place = vacancy.0.lock();
                place.is_advertised = false;
                place.take_if_closed()
            };
            drop(seat.map(Worker::new));
        }
    }
}

impl fmt::Debug for Relief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relief").finish_non_exhaustive()
    }
}
