//! The futures of a handle, which can be made on any thread.

use std::time::Duration;

use crate::handle::Handle;
use crate::instant::Instant;
use crate::interval::{Interval, check_period};
use crate::sleep::Sleep;
use crate::timeout::Timeout;

impl Handle {
    /// Like [`sleep`](crate::sleep), with the timers of this handle. The calling thread need not
    /// have entered it, and neither need the thread that polls the future.
    ///
    /// # Panics
    ///
    /// Polling the future panics if the timers have shut down before the deadline.
    ///
    /// # Examples
    ///
    /// A thread of its own serves the timers of an executor that has none:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::thread;
    /// use std::time::Duration;
    ///
    /// use raddle_timer::driver::{NoEvents, TimerDriver};
    ///
    /// let mut driver = TimerDriver::new(NoEvents::default(), 1, false);
    /// let timers = driver.handles().next().unwrap();
    /// thread::spawn(move || {
    ///     loop {
    ///         driver.park(None, usize::MAX);
    ///     }
    /// });
    ///
    /// let start = timers.now();
    /// raddle_testing::block_on(timers.sleep(Duration::from_millis(2)));
    /// assert!(timers.now() >= start + Duration::from_millis(2));
    /// ```
    #[track_caller]
    pub fn sleep(&self, duration: Duration) -> Sleep {
        Sleep::after(self.clone(), duration)
    }

    /// Like [`sleep_until`](crate::sleep_until), with the timers of this handle, on any thread.
    ///
    /// Take the deadline from [`now`](Self::now): [`Instant::now`] does not know this handle on a
    /// thread that has not entered it, and so does not see that its clock was paused.
    ///
    /// # Panics
    ///
    /// The same as for [`sleep`](Self::sleep).
    #[track_caller]
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        Sleep::at(self.clone(), deadline)
    }

    /// Like [`interval`](crate::interval()), with the timers of this handle, on any thread.
    ///
    /// # Panics
    ///
    /// Panics if `period` is zero. Polling a tick panics if the timers have shut down before it is
    /// due.
    #[track_caller]
    pub fn interval(&self, period: Duration) -> Interval {
        check_period(period);
        Interval::new(self.clone(), self.now(), period)
    }

    /// Like [`interval_at`](crate::interval_at), with the timers of this handle, on any thread.
    ///
    /// # Panics
    ///
    /// The same as for [`interval`](Self::interval).
    #[track_caller]
    pub fn interval_at(&self, start: Instant, period: Duration) -> Interval {
        check_period(period);
        Interval::new(self.clone(), start, period)
    }

    /// Like [`timeout`](crate::timeout()), with the timers of this handle, on any thread.
    ///
    /// # Errors
    ///
    /// The future returns [`Elapsed`](crate::error::Elapsed) if `future` is not ready within
    /// `duration`.
    ///
    /// # Panics
    ///
    /// The same as for [`sleep`](Self::sleep).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    ///
    /// use raddle_timer::Timers;
    ///
    /// let mut timers = Timers::new(Arc::new(|| {}));
    /// let handle = timers.handle();
    /// let never = std::future::pending::<()>();
    /// let mut limited = Box::pin(handle.timeout(Duration::from_millis(1), never));
    /// assert!(raddle_testing::poll(limited.as_mut()).is_pending());
    /// while timers.fire_due() == 0 {
    ///     std::thread::yield_now();
    /// }
    /// assert!(raddle_testing::poll(limited.as_mut()).is_ready());
    /// ```
    #[track_caller]
    pub fn timeout<F: IntoFuture>(&self, duration: Duration, future: F) -> Timeout<F::IntoFuture> {
        Timeout::new(future.into_future(), self.sleep(duration))
    }

    /// Like [`timeout_at`](crate::timeout_at), with the timers of this handle, on any thread.
    ///
    /// # Errors
    ///
    /// The same as for [`timeout`](Self::timeout).
    ///
    /// # Panics
    ///
    /// The same as for [`sleep`](Self::sleep).
    #[track_caller]
    pub fn timeout_at<F: IntoFuture>(
        &self,
        deadline: Instant,
        future: F,
    ) -> Timeout<F::IntoFuture> {
        Timeout::new(future.into_future(), self.sleep_until(deadline))
    }
}
