//! Letting other tasks run.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::context;
use crate::worker::core::Core;

/// Lets the other ready tasks run before this one continues.
///
/// The task goes to the end of its worker's queue. If all tasks of the worker have yielded, the
/// worker looks for events and due timers before it runs them again.
///
/// # Cancel safety
///
/// Cancel safe: dropping the future has no effect.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::task::yield_now;
///
/// # fn main() { raddle::run(async {
/// for part in 0..3 {
///     println!("part {part}");
///     // Other tasks may run in between.
///     yield_now().await;
/// }
/// # }) }
/// ```
pub fn yield_now() -> YieldNow {
    YieldNow { yielded: false }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct YieldNow {
    yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        context::with_core(|core| core.map(Core::note_yield));
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
