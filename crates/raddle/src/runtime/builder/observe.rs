//! Options that name a runtime, hook its tasks and configure its metrics.

use std::sync::Arc;

use crate::runtime::{Builder, HistogramConfiguration, TaskMeta};

impl Builder {
    /// Names the runtime, for [`Handle::name`](crate::runtime::Handle::name). Default: none.
    ///
    /// # Panics
    ///
    /// If the name is empty, or blank.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .name("web")
    ///     .build()?;
    /// assert_eq!(runtime.handle().name(), Some("web"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        assert!(
            !name.trim().is_empty(),
            "the name of the runtime is blank; pass a name, or do not set one"
        );
        self.name = Some(name);
        self
    }

    /// Calls `f` where a task is spawned, on that thread, before the task can
    /// run.
    ///
    /// The task hooks, this one and the next three, are called for what
    /// [`spawn`](crate::spawn) and its like spawn on the runtime, not for
    /// blocking work, the tasks of a [`LocalSet`](crate::task::LocalSet) or the
    /// future that `block_on` runs. They run outside the task:
    /// [`TaskMeta::id`] names it, [`task::id`](crate::task::id) does not. They
    /// may spawn and wake. A panic in one is reported as any, and has no other
    /// effect on the task, the worker or the spawner.
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

    /// Calls `f` when a task has ended: it was ready, it panicked, or it was aborted. Its future
    /// has been dropped; its join handle may be ready before `f` is called.
    /// [`on_task_spawn`](Self::on_task_spawn) describes what holds for all task hooks.
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

    /// Calls `f` before each poll of a task, and before a task that was aborted is dropped where it
    /// would have been polled. [`on_task_spawn`](Self::on_task_spawn) describes what holds for all
    /// task hooks.
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
    ///     .on_before_task_poll(move |_task| drop(counted.fetch_add(1, Ordering::Relaxed)))
    ///     .build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// drop(runtime);
    /// assert_eq!(calls.load(Ordering::Relaxed), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_before_task_poll<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn(&TaskMeta<'_>) + Send + Sync + 'static,
    {
        self.scheduler.task_hooks.before_poll = Some(Arc::new(f));
        self
    }

    /// Calls `f` after each poll of a task, also one that panicked, as often
    /// as [`on_before_task_poll`](Self::on_before_task_poll) before it.
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
    ///     .on_after_task_poll(move |_task| drop(counted.fetch_add(1, Ordering::Relaxed)))
    ///     .build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// drop(runtime);
    /// assert_eq!(calls.load(Ordering::Relaxed), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_after_task_poll<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn(&TaskMeta<'_>) + Send + Sync + 'static,
    {
        self.scheduler.task_hooks.after_poll = Some(Arc::new(f));
        self
    }

    /// Makes each worker measure its polls, for
    /// [`RuntimeMetrics::poll_time_histogram_bucket_count`](crate::runtime::RuntimeMetrics::poll_time_histogram_bucket_count).
    /// That costs two reads of the clock for each poll.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().enable_metrics_poll_time_histogram().build()?;
    /// assert!(runtime.metrics().poll_time_histogram_enabled());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enable_metrics_poll_time_histogram(&mut self) -> &mut Self {
        self.poll_time_histogram = true;
        self
    }

    /// Sets the buckets of the histogram of poll times. It is kept only if
    /// [asked for](Self::enable_metrics_poll_time_histogram). Default:
    /// [`LogHistogram::default`](crate::runtime::LogHistogram::default).
    ///
    /// ```
    /// use std::time::Duration;
    /// use raddle::runtime::{Builder, HistogramConfiguration};
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .enable_metrics_poll_time_histogram()
    ///     .metrics_poll_time_histogram_configuration(HistogramConfiguration::linear(
    ///         Duration::from_micros(50),
    ///         20,
    ///     ))
    ///     .build()?;
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.poll_time_histogram_num_buckets(), 20);
    /// assert_eq!(
    ///     metrics.poll_time_histogram_bucket_range(1),
    ///     Duration::from_micros(50)..Duration::from_micros(100)
    /// );
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn metrics_poll_time_histogram_configuration(
        &mut self,
        configuration: HistogramConfiguration,
    ) -> &mut Self {
        self.poll_time_buckets = configuration;
        self
    }
}
