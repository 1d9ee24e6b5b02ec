//! Timers and their clock.

use super::Builder;
use crate::runtime::RuntimeFlavor;
use crate::runtime::driver::{Enabled, MaxEvents};

impl Builder {
    /// Enables timers.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    /// use raddle::time::{Duration, sleep};
    ///
    /// let runtime = Builder::new_current_thread().enable_time().build()?;
    /// runtime.block_on(async { sleep(Duration::from_millis(1)).await });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "time")]
    pub fn enable_time(&mut self) -> &mut Self {
        self.enable_time = true;
        self
    }

    /// Has the runtime start with its clock [paused](crate::time::pause), if
    /// `start_paused` is true. Default: false.
    ///
    /// Only a current-thread runtime with timers can; the
    /// [build](Self::build) of another panics.
    ///
    /// ```
    /// use std::time::Duration;
    /// use raddle::runtime::Builder;
    /// use raddle::time::{Instant, sleep};
    ///
    /// let runtime = Builder::new_current_thread().enable_time().start_paused(true).build()?;
    /// runtime.block_on(async {
    ///     let start = Instant::now();
    ///     sleep(Duration::from_secs(3600)).await;
    ///     assert_eq!(start.elapsed(), Duration::from_secs(3600));
    /// });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(feature = "test-util")]
    pub fn start_paused(&mut self, start_paused: bool) -> &mut Self {
        self.start_paused = start_paused;
        self
    }

    /// The event source and timers of a driver that serves that many workers.
    #[track_caller]
    pub(super) fn enabled(&self, workers: usize) -> Enabled {
        let pausable = self.flavor == RuntimeFlavor::CurrentThread;
        if self.start_paused {
            assert!(
                pausable,
                "start_paused needs a runtime of one thread; use Builder::new_current_thread"
            );
            assert!(
                self.enable_time,
                "start_paused needs timers; call Builder::enable_time"
            );
        }
        Enabled {
            io: self.enable_io,
            timer_shards: if self.enable_time { workers } else { 0 },
            pausable,
            max_events: MaxEvents {
                waiting: self.max_io_events_per_tick,
                busy: self
                    .max_io_events_per_busy_tick
                    .unwrap_or(self.max_io_events_per_tick),
            },
        }
    }
}
