//! Waiting for a point in time.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use raddle_leaf::misuse::Misuse;
use raddle_leaf::wait::{Caller, Resource, ResourceSpan};

use crate::entry::{Entry, ShutdownError};
use crate::handle::Handle;
use crate::instant::Instant;

/// Waits until `duration` has passed.
///
/// The resolution is a millisecond by default; the future is never ready early. With a duration of
/// zero it is ready at the next tick of the clock, within a millisecond, and other tasks run
/// meanwhile; if the clock is paused at a tick, it is ready at once. A duration that is too long
/// for the clock ends in thirty years.
///
/// # Cancel safety
///
/// Cancel safe: dropping the future cancels the timer, at a constant cost.
///
/// # Panics
///
/// Panics if no timers are current on this thread: outside of a runtime, as in an argument of
/// `block_on`, or in a runtime without `enable_time`. Polling the future panics if the timers have
/// shut down before the deadline.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::time::{Duration, Instant, sleep};
///
/// # fn main() { raddle::run(async {
/// let start = Instant::now();
/// sleep(Duration::from_millis(2)).await;
/// assert!(start.elapsed() >= Duration::from_millis(2));
/// # }) }
/// ```
#[track_caller]
#[inline]
pub fn sleep(duration: Duration) -> Sleep {
    Sleep::after(Handle::lend(), duration)
}

/// Waits until `deadline`. If that has passed, the future is ready at the next tick of the clock,
/// within a millisecond.
///
/// Otherwise like [`sleep`].
///
/// # Cancel safety
///
/// The same as for [`sleep`].
///
/// # Panics
///
/// Panics in the same cases as [`sleep`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::time::{Duration, Instant, sleep_until};
///
/// # fn main() { raddle::run(async {
/// let deadline = Instant::now() + Duration::from_millis(2);
/// sleep_until(deadline).await;
/// assert!(Instant::now() >= deadline);
/// # }) }
/// ```
#[track_caller]
#[inline]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::at(Handle::lend(), deadline)
}

pin_project! {
    /// The future of [`sleep`] and [`sleep_until`].
    ///
    /// It holds the timer itself, so it is neither small to move nor [`Unpin`]: pin it, on the
    /// stack or in a box, to poll it more than once or to [`reset`](Sleep::reset) it.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::time::{Duration, sleep};
    /// use std::pin::pin;
    ///
    /// # fn main() { raddle::run(async {
    /// let mut timer = pin!(sleep(Duration::from_millis(2)));
    /// assert!(!timer.is_elapsed());
    /// timer.as_mut().await;
    /// assert!(timer.is_elapsed());
    /// # }) }
    /// ```
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    #[project(!Unpin)]
    pub struct Sleep {
        deadline: Instant,
        caller: Caller,
        // For tokio-console.
        _span: ResourceSpan,
        #[pin]
        entry: Entry,
    }
}

impl Sleep {
    #[track_caller]
    #[inline]
    pub(crate) fn after(handle: Handle, duration: Duration) -> Self {
        let now = handle.now();
        let deadline = now
            .checked_add(duration)
            .unwrap_or_else(|| Instant::far_after(now));
        Self::at(handle, deadline)
    }

    #[track_caller]
    #[inline]
    pub(crate) fn at(handle: Handle, deadline: Instant) -> Self {
        Self {
            deadline,
            caller: Caller::here(),
            _span: ResourceSpan::new("Sleep", "timer"),
            entry: Entry::new(handle),
        }
    }

    /// Like [`at`](Self::at), but ready at once if the deadline has passed, and not only at the
    /// next tick of the clock.
    pub(crate) fn first(handle: Handle, deadline: Instant) -> Self {
        let entry = match deadline <= handle.now() {
            true => Entry::fired(handle),
            false => Entry::new(handle),
        };
        Self {
            deadline,
            caller: Caller::here(),
            _span: ResourceSpan::new("Sleep", "timer"),
            entry,
        }
    }

    /// Returns the deadline.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns whether the timer has fired. A timer that was never polled does not fire.
    pub fn is_elapsed(&self) -> bool {
        self.entry.is_fired()
    }

    /// Sets another deadline, even after the timer has fired.
    ///
    /// A task that was waiting will be woken at the new deadline without polling again, unless the
    /// timer had fired. Moving the deadline to a later instant takes no lock.
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::time::{Duration, Instant, sleep};
    /// use std::pin::pin;
    ///
    /// # fn main() { raddle::run(async {
    /// let mut idle = pin!(sleep(Duration::from_secs(30)));
    /// // At each request:
    /// idle.as_mut().reset(Instant::now() + Duration::from_secs(30));
    /// # }) }
    /// ```
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let this = self.project();
        *this.deadline = deadline;
        this.entry.reset(deadline);
    }

    /// Returns the current time of this timer's clock.
    pub(crate) fn now(&self) -> Instant {
        self.entry.handle().now()
    }

    /// Like `poll`, but does not use the budget of the task.
    #[inline]
    #[track_caller]
    pub(crate) fn poll_unconstrained(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.poll_fired(cx) {
            Poll::Ready(Ok(())) => Poll::Ready(()),
            Poll::Ready(Err(error)) => shut_down(error).panic(),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Like [`poll_unconstrained`](Self::poll_unconstrained), with an error instead of a panic if
    /// the timers have shut down.
    #[inline]
    fn poll_fired(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), ShutdownError>> {
        let this = self.project();
        let polled = this.entry.poll(*this.deadline, cx);
        if polled.is_pending() {
            let deadline = Resource::Deadline(this.deadline.into_std());
            raddle_leaf::wait::note(cx, "sleep", Some(*this.caller), deadline);
        }
        polled
    }

    /// Like `poll`, with an error instead of a panic if the timers have shut down.
    #[inline]
    pub(crate) fn try_poll(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), ShutdownError>> {
        let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
        ready!(self.poll_fired(cx))?;
        coop.made_progress();
        Poll::Ready(Ok(()))
    }
}

impl Future for Sleep {
    type Output = ();

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match ready!(self.try_poll(cx)) {
            Ok(()) => Poll::Ready(()),
            Err(error) => shut_down(error).panic(),
        }
    }
}

#[cold]
pub(crate) fn shut_down(_: ShutdownError) -> Misuse {
    Misuse::new("the timers have shut down; a timer must not outlive the runtime it was made in")
}
