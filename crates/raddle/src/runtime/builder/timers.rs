//! How precisely the timers of a runtime wait, and by which clock.

use std::time::Duration;

use super::Builder;

impl Builder {
    /// Sets the resolution of the runtime's timers: deadlines are rounded up to a multiple of it.
    /// Default: 1 ms. With less, the driver also waits more precisely than in milliseconds.
    ///
    /// With the default, rounding makes a sleep up to 2 ms late. With a resolution of 10 µs, it is
    /// about as late as the system wakes the thread.
    ///
    /// It costs a system call (`timerfd_settime`) for each wait of the driver that has a deadline,
    /// and a descriptor for each driver. Timers that would share a tick of a millisecond wake the
    /// driver one by one. With a resolution of 1 µs, timers fire at the latest 8 years after the
    /// start of the runtime.
    ///
    /// On Linux and Android the waits are precise. On systems with kqueue, such as macOS, they are
    /// as precise as the system's own. On Windows they count milliseconds, so that deadlines are
    /// exact but wake-ups are not. Without [`enable_io`](Self::enable_io) the driver waits on a
    /// condition variable, which Linux ends some 50 µs late by default.
    ///
    /// # Panics
    ///
    /// Panics if `resolution` does not divide a millisecond, or is less than a microsecond.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use raddle::runtime::Builder;
    /// use raddle::time::{Instant, sleep};
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .enable_all()
    ///     .timer_resolution(Duration::from_micros(10))
    ///     .build()?;
    /// runtime.block_on(async {
    ///     let start = Instant::now();
    ///     sleep(Duration::from_micros(300)).await;
    ///     println!("{:?} late", start.elapsed() - Duration::from_micros(300));
    /// });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn timer_resolution(&mut self, resolution: Duration) -> &mut Self {
        // Checks it.
        let _ = raddle_timer::Config::new().resolution(resolution);
        self.driver.timer_resolution = resolution;
        self
    }

    /// Sets whether timers count the time during which the system is suspended. Default: false, so
    /// that a sleep of an hour lasts an hour in which the system runs.
    ///
    /// With true, a timer whose deadline has passed during a suspension fires when the system
    /// resumes, and [`Instant::now`](crate::time::Instant::now) inside the runtime counts the
    /// suspension. The system does not resume for a timer. An instant of the runtime is ahead of
    /// one that was made outside it by the suspended time, also after
    /// [`into_std`](crate::time::Instant::into_std).
    ///
    /// - Linux and Android: the clock is `CLOCK_BOOTTIME`. With [`enable_io`](Self::enable_io) a
    ///   timer of the system ends the driver's wait; it costs what
    ///   [`timer_resolution`](Self::timer_resolution) says. Without, the driver checks the clock
    ///   each second while it waits for a timer.
    /// - macOS and iOS: the clock is `CLOCK_MONOTONIC_RAW`, and the driver checks it each second
    ///   while it waits for a timer.
    /// - Windows: timers count suspended time in any case.
    /// - Others: no effect.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use raddle::runtime::Builder;
    /// use raddle::time::interval;
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .enable_all()
    ///     .include_suspended_time(true)
    ///     .build()?;
    /// runtime.block_on(async {
    ///     // Renews a lease in time, also if the lid of the laptop was closed for half an hour.
    ///     let mut ticks = interval(Duration::from_secs(600));
    ///     ticks.tick().await;
    /// });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn include_suspended_time(&mut self, include: bool) -> &mut Self {
        self.driver.include_suspended_time = include;
        self
    }
}
