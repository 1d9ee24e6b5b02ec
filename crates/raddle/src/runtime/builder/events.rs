//! Sockets, and what else waits for a descriptor.

use super::Builder;

impl Builder {
    /// Enables sockets, and what else waits for a descriptor.
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().enable_io().build()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn enable_io(&mut self) -> &mut Self {
        self.enable_io = true;
        self
    }

    /// Sets how many events a worker takes from the operating system at a time.
    /// Default: 1,024.
    ///
    /// A multi-thread worker takes no more than its run queue has room for, so
    /// that a smaller number is seldom of use.
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .enable_io()
    ///     .max_io_events_per_tick(128)
    ///     .build()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If `capacity` is zero.
    #[track_caller]
    pub fn max_io_events_per_tick(&mut self, capacity: usize) -> &mut Self {
        assert!(
            capacity > 0,
            "max_io_events_per_tick must be non-zero; set it to 1 or more"
        );
        self.max_io_events_per_tick = capacity;
        self
    }

    /// Sets how many events a busy worker takes from the operating system when
    /// it looks for them between two polls. What it leaves stays in the kernel
    /// until its next look. Default: as
    /// [`max_io_events_per_tick`](Self::max_io_events_per_tick).
    ///
    /// # Panics
    ///
    /// If `capacity` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .enable_all()
    ///     .max_io_events_per_busy_tick(64)
    ///     .build()?;
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn max_io_events_per_busy_tick(&mut self, capacity: usize) -> &mut Self {
        assert!(
            capacity > 0,
            "max_io_events_per_busy_tick must be non-zero; set it to 1 or more"
        );
        self.max_io_events_per_busy_tick = Some(capacity);
        self
    }
}
