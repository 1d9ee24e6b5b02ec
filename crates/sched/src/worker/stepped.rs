//! Parking without blocking, for whoever drives several workers from one
//! thread: `docs/stepped-testing.md`.
//!
//! The decisions are those of a worker that blocks, in `park.rs`; only the wait
//! itself is the caller's.

use std::time::Duration;

use super::park::Wait;
use super::{Core, Worker};
use crate::context;
use crate::driver::Driver;
use crate::parker::{ON_DRIVER, ON_THREAD};

/// What a worker that has parked without blocking waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Whether it waits in the driver: until that has something to wake, or is
    /// unparked. Otherwise it waits until [`Worker::is_unparked`].
    pub in_driver: bool,
    /// How long it waits at most.
    pub timeout: Option<Duration>,
}

/// A worker between [`Worker::begin_park`] and its end.
pub(super) struct Parked {
    /// The driver, if the worker waits in it. Nobody else finds it meanwhile.
    driver: Option<Box<dyn Driver>>,
    /// Whether it looks after the others when the wait ends.
    watches: bool,
    timeout: Option<Duration>,
}

impl Worker {
    /// Parks as [`park`](Self::park) does, but returns where that would block.
    /// None if there is something to do after all: the worker is to be stepped.
    ///
    /// The caller sees to it that [`resume_park`](Self::resume_park) is called
    /// when the wait has ended. A step ends the parking too, as if the worker
    /// had woken by itself.
    pub fn begin_park(&mut self) -> Option<Waiting> {
        let core = self.awake();
        core.attach();
        let parked = {
            let _worker = context::enter_worker(core);
            if !core.prepare_park() || !core.begin_park() {
                return None;
            }
            core.watch.borrow_mut().begin();
            core.go_on_parking(false, true)
        };
        self.wait_as(parked)
    }

    /// Whether a worker that waits outside the driver was unparked, so that its
    /// wait has ended.
    pub fn is_unparked(&self) -> bool {
        self.core().remote().parker.is_notified()
    }

    /// Does what a worker does that comes out of its wait; the driver is polled
    /// if it waited there. None if it does not park any more: it is to be
    /// stepped. Otherwise it waits anew.
    pub fn resume_park(&mut self) -> Option<Waiting> {
        let core = self
            .seat
            .as_deref()
            .expect("a worker has its seat until it is dropped");
        let worker = context::enter_worker(core);
        // Kept until the driver is through: it goes back also if it panics.
        let parked = self.parked.as_mut()?;
        let was_in_driver = parked.driver.is_some();
        if let Some(driver) = &mut parked.driver {
            core.inside_driver(|| driver.park(Some(Duration::ZERO), core.event_limit()));
        }
        let watches = parked.watches;
        core.leave(self.parked.take());
        let parked = if core.stays_parked(watches) {
            core.go_on_parking(was_in_driver, was_in_driver || core.watches_over_stuck())
        } else {
            core.finish_park(was_in_driver);
            None
        };
        drop(worker);
        self.wait_as(parked)
    }

    /// Stops parking, if the worker does, whatever it waits for.
    pub(super) fn end_park(&mut self) {
        if let Some(parked) = self.parked.take() {
            let core = self.core();
            let _worker = context::enter_worker(core);
            let was_in_driver = parked.driver.is_some();
            core.leave(Some(parked));
            core.finish_park(was_in_driver);
        }
    }

    /// The core of the worker, which does not park any more.
    #[inline]
    pub(super) fn awake(&mut self) -> &Core {
        self.end_park();
        self.core()
    }

    fn wait_as(&mut self, parked: Option<Parked>) -> Option<Waiting> {
        self.parked = parked;
        self.parked.as_ref().map(|parked| Waiting {
            in_driver: parked.driver.is_some(),
            timeout: parked.timeout,
        })
    }
}

impl Core {
    /// Waits, listed as parked, unless there is a reason not to.
    fn go_on_parking(&self, mut was_in_driver: bool, mut takes_driver: bool) -> Option<Parked> {
        while let Some(Wait { watches, timeout }) = self.next_wait(None) {
            let driver = takes_driver.then(|| self.take_driver()).flatten();
            let place = match driver {
                Some(_) => ON_DRIVER,
                None => ON_THREAD,
            };
            let parked = Parked {
                driver,
                watches,
                timeout,
            };
            if self.remote().parker.enter(place) {
                return Some(parked);
            }
            self.return_driver(parked);
            was_in_driver = place == ON_DRIVER;
            if !self.stays_parked(watches) {
                break;
            }
            takes_driver = was_in_driver || self.watches_over_stuck();
        }
        self.finish_park(was_in_driver);
        None
    }

    /// Leaves the parker, and the driver if the worker was in it.
    fn leave(&self, parked: Option<Parked>) {
        self.remote().parker.leave();
        if let Some(parked) = parked {
            self.return_driver(parked);
        }
    }

    fn finish_park(&self, left_driver: bool) {
        self.unlist();
        self.after_park(left_driver);
    }

    fn take_driver(&self) -> Option<Box<dyn Driver>> {
        self.shared.driver.try_lock()?.take()
    }

    fn return_driver(&self, parked: Parked) {
        if let Some(driver) = parked.driver {
            *self.shared.driver.lock() = Some(driver);
        }
    }
}
