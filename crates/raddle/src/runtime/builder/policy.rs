//! The setting of the policy: which worker runs a task.

use std::io;

use raddle_sched::Pool;

use crate::runtime::driver::Driver;
use crate::runtime::{Builder, Policy};

impl Builder {
    /// Sets which worker of a multi-thread runtime runs a task, and with which
    /// sockets and timers. Default: [`Policy::WorkStealing`]. A current-thread
    /// runtime ignores it.
    ///
    /// ```
    /// use raddle::runtime::{Builder, Policy};
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .scheduler(Policy::Sharded)
    ///     .build()?;
    /// let task = runtime.handle().spawn_on(1, || async {
    ///     let text = std::rc::Rc::new("not Send");
    ///     raddle::task::spawn_local(async move { text.len() }).await.unwrap()
    /// });
    /// assert_eq!(runtime.block_on(task).unwrap(), 8);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn scheduler(&mut self, policy: Policy) -> &mut Self {
        self.scheduler.policy = policy;
        self
    }
    /// One for each worker of a sharded runtime, else one for all.
    #[track_caller]
    pub(super) fn drivers(&self, workers: usize) -> io::Result<Vec<Driver>> {
        let count = match self.scheduler.policy {
            Policy::Sharded => workers,
            _ => 1,
        };
        let enabled = self.enabled(workers / count);
        let drivers: io::Result<Vec<_>> = (0..count).map(|_| Driver::new(enabled)).collect();
        if let Ok(drivers) = &drivers {
            if self.start_paused {
                drivers.iter().for_each(Driver::pause);
            }
        }
        drivers
    }
}

/// Starts the workers, which have the drivers that they are due by the policy.
pub(super) fn start(
    config: raddle_sched::Config,
    mut drivers: impl Iterator<Item = Box<dyn raddle_sched::Driver>>,
) -> io::Result<Pool> {
    match config.policy {
        Policy::Sharded => Pool::start_sharded(config, drivers.collect()),
        _ => Pool::start(config, drivers.next()),
    }
}
