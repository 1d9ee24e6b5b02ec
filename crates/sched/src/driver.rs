//! Where a scheduler meets I/O and timers.

use std::sync::Arc;
use std::time::Duration;

use raddle_events::Turn;

/// What a worker blocks in when it has nothing to run.
///
/// One worker at a time has the driver; the scheduler sees to that. Wakers
/// that the driver wakes from inside [`park`](Self::park) put their tasks on
/// that worker.
pub trait Driver: Send {
    /// Waits for an event, a timer or an [`Unpark::unpark`], at most `timeout`
    /// (none: for ever; zero: only looks), and wakes what is ready: at most
    /// `limit` tasks by events, the rest at the next call.
    ///
    /// May return without a reason.
    fn park(&mut self, timeout: Option<Duration>, limit: usize);

    /// What the last [`park`](Self::park) has found, for an [`Observer`](crate::Observer). By
    /// default nothing.
    fn last_turn(&self) -> Turn {
        Turn::default()
    }

    /// What ends a [`park`](Self::park) from another thread.
    fn unparker(&self) -> Arc<dyn Unpark>;

    /// Ends what waits for the driver. Called once, when every task has been
    /// dropped but those in whose polls threads are that have
    /// [left](crate::block_in_place) their workers: they may wait for the driver.
    /// Nothing is parked then, nor will be.
    ///
    /// A panic is contained.
    fn shutdown(&mut self);
}

/// Ends a [`Driver::park`].
pub trait Unpark: Send + Sync {
    /// Makes the present park return, or the next one if there is none.
    ///
    /// A panic is contained. The park must have been ended all the same: nothing
    /// else ends it.
    fn unpark(&self);
}

/// A driver as one pointer, so that it can be in a slot while no worker has it.
pub(crate) type BoxedDriver = Box<Box<dyn Driver>>;
