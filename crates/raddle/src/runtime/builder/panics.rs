//! The builder's options for a panic of a task.

use crate::runtime::{Builder, UnhandledPanic};

impl Builder {
    /// Sets what the panic of a task does to the runtime, of either kind.
    /// Default: [`UnhandledPanic::Ignore`].
    ///
    /// A task panics in a poll, or in the drop of its future when that is
    /// ready. With [`UnhandledPanic::ShutdownRuntime`] the runtime then
    ///
    /// - drops its other tasks, whose handles give an error that
    ///   [`is_cancelled`](crate::task::JoinError::is_cancelled): at once on a
    ///   current-thread runtime, as soon as the polls under way have returned
    ///   on a multi-thread one;
    /// - ends each `block_on` with a panic, those under way, of
    ///   [`Runtime`](crate::runtime::Runtime) and
    ///   [`Handle`](crate::runtime::Handle), and later ones. Their futures are
    ///   not polled again, and an output that one has just given is dropped;
    /// - cancels what is spawned later.
    ///
    /// The handle of the task that panicked gives its panic as ever.
    ///
    /// A panic of a future that was aborted, while it is dropped, does not
    /// count, nor does one in the drop of an output, one of the future that
    /// `block_on` runs, or one in blocking work. A
    /// [`LocalSet`](crate::task::LocalSet) has
    /// [a setting of its own](crate::task::LocalSet::unhandled_panic); the local
    /// tasks of a [`LocalRuntime`](crate::runtime::LocalRuntime) have this one. Blocking
    /// work continues until the runtime is dropped.
    ///
    /// ```should_panic
    /// use raddle::runtime::{Builder, UnhandledPanic};
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .unhandled_panic(UnhandledPanic::ShutdownRuntime)
    ///     .build()
    ///     .unwrap();
    /// runtime.spawn(async { panic!("the task's own message") });
    /// // Panics too, instead of waiting for ever.
    /// runtime.block_on(std::future::pending::<()>());
    /// ```
    pub fn unhandled_panic(&mut self, behavior: UnhandledPanic) -> &mut Self {
        self.scheduler.unhandled_panic = behavior;
        self
    }
}
