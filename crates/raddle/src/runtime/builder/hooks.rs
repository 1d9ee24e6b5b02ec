//! Functions that the runtime calls for the events of tasks.

use std::sync::Arc;

use super::Builder;
use crate::runtime::TaskMeta;

impl Builder {
    /// Calls `f` when a task is spawned, on the spawning thread, before the task can run.
    ///
    /// The four task hooks are called for tasks that [`spawn`](crate::spawn) and similar functions
    /// spawn on the runtime. They are not called for blocking work, the tasks of a
    /// [`LocalSet`](crate::task::LocalSet) or the future of `block_on`. They run outside the task:
    /// [`TaskMeta::id`] returns its id, [`task::id`](crate::task::id) does not. They may spawn and
    /// wake tasks. The panic hook reports a panic in a task hook, which has no other effect on the
    /// task, the worker or the spawner.
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .on_task_spawn(|task| println!("{} from {}", task.id(), task.spawned_at()))
    ///     .build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn on_task_spawn<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn(&TaskMeta<'_>) + Send + Sync + 'static,
    {
        self.scheduler.task_hooks.on_spawn = Some(Arc::new(f));
        self
    }

    /// Calls `f` when a task has completed, panicked or been aborted. Its future has been dropped;
    /// its join handle may be ready before `f` is called. See
    /// [`on_task_spawn`](Self::on_task_spawn) for all task hooks.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let calls = Arc::new(AtomicUsize::new(0));
    /// let counted = Arc::clone(&calls);
    /// let runtime = Builder::new_current_thread()
    ///     .on_task_terminate(move |_task| drop(counted.fetch_add(1, Ordering::Relaxed)))
    ///     .build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// drop(runtime);
    /// assert_eq!(calls.load(Ordering::Relaxed), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_task_terminate<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn(&TaskMeta<'_>) + Send + Sync + 'static,
    {
        self.scheduler.task_hooks.on_terminate = Some(Arc::new(f));
        self
    }

    /// Calls `f` before each poll of a task, and before an aborted task is dropped in place of a
    /// poll. See [`on_task_spawn`](Self::on_task_spawn) for all task hooks.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .on_before_task_poll(|task| println!("{} is polled", task.id()))
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_before_task_poll<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn(&TaskMeta<'_>) + Send + Sync + 'static,
    {
        self.scheduler.task_hooks.before_poll = Some(Arc::new(f));
        self
    }

    /// Calls `f` after each poll of a task, including one that has panicked, once for each call of
    /// [`on_before_task_poll`](Self::on_before_task_poll).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .on_after_task_poll(|task| println!("{} was polled", task.id()))
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_after_task_poll<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn(&TaskMeta<'_>) + Send + Sync + 'static,
    {
        self.scheduler.task_hooks.after_poll = Some(Arc::new(f));
        self
    }
}
