//! Parking without blocking, for callers that drive several workers from one
//! thread: `docs/stepped-testing.md`.

use std::time::Duration;

use super::park::Parked;
use super::{Core, Worker};
use crate::context;

/// What a worker that has parked without blocking waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Whether it waits in the driver: until that has something to wake, or is
    /// unparked. Otherwise it waits until [`Worker::is_unparked`].
    pub in_driver: bool,
    /// How long it waits at most.
    pub timeout: Option<Duration>,
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
            core.begin_park(None)
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
        if let Some(driver) = &mut self.parked.as_mut()?.driver {
            core.run_driver(driver, Some(Duration::ZERO));
        }
        let parked = self.parked.take().and_then(|parked| core.end_wait(parked));
        drop(worker);
        self.wait_as(parked)
    }

    /// Stops parking, if the worker does, whatever it waits for.
    pub(super) fn end_park(&mut self) {
        if let Some(parked) = self.parked.take() {
            let core = self.core();
            let _worker = context::enter_worker(core);
            core.abort_park(parked);
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
