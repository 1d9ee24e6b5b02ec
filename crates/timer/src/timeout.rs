//! A future with a deadline.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;

use crate::error::Elapsed;
use crate::handle::Handle;
use crate::instant::Instant;
use crate::sleep::Sleep;

/// Awaits `future` for at most `duration`.
///
/// The future is polled before the deadline is checked, so a future that is ready returns its
/// output even if the deadline has passed. It is dropped together with the `Timeout`, not at the
/// deadline.
///
/// # Errors
///
/// Returns [`Elapsed`] if the future is not ready within `duration`.
///
/// # Cancel safety
///
/// The timeout is as cancel safe as `future`: dropping the `Timeout` drops `future`.
///
/// # Panics
///
/// Panics in the same cases as [`sleep`](crate::sleep).
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::time::{Duration, timeout};
///
/// # async fn example(answer: impl Future<Output = u32>) {
/// match timeout(Duration::from_secs(1), answer).await {
///     Ok(answer) => println!("{answer}"),
///     Err(_) => println!("no answer within a second"),
/// }
/// # }
/// # fn main() {}
/// ```
#[track_caller]
#[inline]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    Timeout::new(future.into_future(), Sleep::after(Handle::lend(), duration))
}

/// Awaits `future` until `deadline` at the latest.
///
/// Otherwise like [`timeout`].
///
/// # Errors
///
/// Returns [`Elapsed`] if the future is not ready by `deadline`.
///
/// # Cancel safety
///
/// The same as for [`timeout`].
///
/// # Panics
///
/// Panics in the same cases as [`sleep`](crate::sleep).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::time::{Duration, Instant, timeout_at};
///
/// # fn main() { raddle::run(async {
/// let deadline = Instant::now() + Duration::from_millis(2);
/// // Both share the deadline.
/// assert!(timeout_at(deadline, async { 1 }).await.is_ok());
/// assert!(timeout_at(deadline, std::future::pending::<()>()).await.is_err());
/// # }) }
/// ```
#[track_caller]
#[inline]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout::new(future.into_future(), Sleep::at(Handle::lend(), deadline))
}

pin_project! {
    /// The future of [`timeout`] and [`timeout_at`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Timeout<F> {
        #[pin]
        future: F,
        #[pin]
        delay: Sleep,
    }
}

impl<F> Timeout<F> {
    #[inline]
    pub(crate) fn new(future: F, delay: Sleep) -> Self {
        Self { future, delay }
    }

    /// Returns the inner future.
    pub fn get_ref(&self) -> &F {
        &self.future
    }

    /// Returns the inner future.
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.future
    }

    /// Returns the inner future, without its deadline.
    pub fn into_inner(self) -> F {
        self.future
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    #[inline]
    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let had_budget = raddle_leaf::coop::has_budget_remaining();
        if let Poll::Ready(output) = raddle_leaf::coop::poll_charged(cx, |cx| this.future.poll(cx))
        {
            return Poll::Ready(Ok(output));
        }
        // A future that uses up the budget at each poll must not hide the deadline.
        let delay = if had_budget && !raddle_leaf::coop::has_budget_remaining() {
            this.delay.poll_unconstrained(cx)
        } else {
            this.delay.poll(cx)
        };
        delay.map(|()| Err(Elapsed(())))
    }
}
