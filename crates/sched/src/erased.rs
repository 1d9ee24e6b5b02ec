//! Futures of `block_on` without their types, so that a program does not compile the loops that
//! poll them once for each type.

use std::future::{Future, poll_fn};
use std::pin::Pin;

/// A future of any type, whose output is stored elsewhere.
pub(crate) type ErasedFuture<'a> = dyn Future<Output = ()> + Unpin + 'a;

/// Passes `future` to `run`, which polls it, and returns its output if `run` returns `Some`.
pub(crate) fn run_erased<F: Future>(
    mut future: Pin<&mut F>,
    run: impl FnOnce(&mut ErasedFuture<'_>) -> Option<()>,
) -> Option<F::Output> {
    let mut output = None;
    let mut future = poll_fn(|cx| {
        let polled = future.as_mut().poll(cx);
        polled.map(|ready| output = Some(ready))
    });
    run(&mut future).and(output)
}
