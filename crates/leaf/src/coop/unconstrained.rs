//! A future without a budget.

use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::coop::budget::unlimited;

pin_project! {
    /// The future of [`unconstrained`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Unconstrained<F> {
        #[pin]
        future: F,
    }
}

/// Makes a future that has no budget, so its resources never yield because of one.
///
/// The task around it keeps its own budget, and the future's operations are not charged to it. A
/// future that never waits keeps its worker forever.
///
/// # Cancel safety
///
/// The same as for `future` itself.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::task::coop::unconstrained;
///
/// # fn main() { raddle::run(async {
/// // Never yields because of the budget.
/// assert_eq!(unconstrained(async { 7 }).await, 7);
/// # }) }
/// ```
pub fn unconstrained<F>(future: F) -> Unconstrained<F> {
    Unconstrained { future }
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let future = self.project().future;
        unlimited(|| future.poll(cx))
    }
}
