//! The interface of the scheduler to I/O and timers.

use std::sync::Arc;
use std::time::Duration;

use crate::events::Turn;

/// The event source in which a worker blocks when it has no task to run.
///
/// The scheduler makes sure that only one worker at a time uses the driver. Wakers that the driver
/// calls inside [`park`](Self::park) queue their tasks on that worker.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
/// use std::time::Duration;
///
/// use raddle_sched::{Config, CurrentThread, Driver, Turn, Unpark};
///
/// /// Waits for a signal from another thread. A real driver also waits for events and timers, and
/// /// wakes the tasks that wait for them.
/// struct Signals {
///     sender: SyncSender<()>,
///     receiver: Receiver<()>,
/// }
///
/// impl Driver for Signals {
///     fn park(&mut self, timeout: Option<Duration>, _limit: usize) {
///         let _is_unparked = match timeout {
///             Some(timeout) => self.receiver.recv_timeout(timeout).is_ok(),
///             None => self.receiver.recv().is_ok(),
///         };
///     }
///
///     fn last_turn(&self) -> Turn {
///         Turn { events: 0, timers: 0 }
///     }
///
///     fn unparker(&self) -> Arc<dyn Unpark> {
///         Arc::new(Unparker(self.sender.clone()))
///     }
///
///     fn shutdown(&mut self) {}
/// }
///
/// struct Unparker(SyncSender<()>);
///
/// impl Unpark for Unparker {
///     fn unpark(&self) {
///         // If the channel is full, the next park returns at once anyway.
///         let _ = self.0.try_send(());
///     }
/// }
///
/// let (sender, receiver) = sync_channel(1);
/// let driver = Signals { sender, receiver };
/// let scheduler = CurrentThread::new(Config::default(), Some(Box::new(driver)));
/// let handle = scheduler.handle().clone();
/// let task = std::thread::spawn(move || handle.spawn(async { 42 }));
/// let output = scheduler.block_on(async { task.join().unwrap().await });
/// assert_eq!(output.unwrap(), 42);
/// ```
pub trait Driver: Send {
    /// Waits for an event, a timer or an [`Unpark::unpark`], for at most `timeout` (`None`: without
    /// a limit; zero: does not wait). Then wakes the tasks that are ready: at most `limit` by
    /// events, the others at the next call.
    ///
    /// May return spuriously, and must return after it has called wakers: a wake on the thread that
    /// is inside this call does not unpark the driver. A panic ends the worker; its tasks go to the
    /// others.
    fn park(&mut self, timeout: Option<Duration>, limit: usize);

    /// Returns the result of the last [`park`](Self::park), for an [`Observer`](crate::Observer).
    /// By default it is empty.
    fn last_turn(&self) -> Turn {
        Turn::default()
    }

    /// Returns an object that ends a [`park`](Self::park) from another thread.
    fn unparker(&self) -> Arc<dyn Unpark>;

    /// Ends all waits for the driver. Called once, when no worker parks in the driver any more. By
    /// then all tasks have been dropped, except those whose polls [block in
    /// place](crate::block_in_place) without a worker: these may wait for the driver.
    ///
    /// A panic is caught.
    fn shutdown(&mut self);
}

/// Ends a [`Driver::park`].
pub trait Unpark: Send + Sync {
    /// Makes the current park return, or the next one if there is none.
    ///
    /// A panic is caught. The function must end the park before it panics: nothing else ends it.
    fn unpark(&self);
}

/// A driver as one pointer, so that it can be in a slot while no worker has it.
pub(crate) type BoxedDriver = Box<Box<dyn Driver>>;
