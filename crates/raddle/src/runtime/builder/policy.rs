//! How a runtime gives its tasks to its workers.

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
        self.policy = policy;
        self
    }
}
