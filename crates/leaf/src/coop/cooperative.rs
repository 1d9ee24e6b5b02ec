//! A future that is charged to the budget.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::coop::poll_proceed;

pin_project! {
    /// The future of [`cooperative`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Coop<F> {
        #[pin]
        future: F,
    }
}

/// Charges a future to the budget: a unit when it is ready. While nothing is left it is not polled,
/// and the task yields.
///
/// For resources of other crates, which do not use the budget.
///
/// # Cancel safety
///
/// The same as for `future` itself.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::task::coop::cooperative;
/// use std::sync::mpsc;
///
/// /// Another crate's way to receive, which does not use the budget.
/// async fn receive(receiver: &mpsc::Receiver<u32>) -> Option<u32> {
///     receiver.try_recv().ok()
/// }
///
/// async fn sum(receiver: mpsc::Receiver<u32>) -> u32 {
///     let mut sum = 0;
///     while let Some(number) = cooperative(receive(&receiver)).await {
///         sum += number;
///     }
///     sum
/// }
/// # fn main() { raddle::run(sum(mpsc::channel().1)); }
/// ```
pub fn cooperative<F: Future>(future: F) -> Coop<F> {
    Coop { future }
}

impl<F: Future> Future for Coop<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let coop = ready!(poll_proceed(cx));
        let output = ready!(self.project().future.poll(cx));
        coop.made_progress();
        Poll::Ready(output)
    }
}
