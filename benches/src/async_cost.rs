//! The cost of async: a server as a hand-written loop over a poll, and as async functions on
//! several executors.
//!
//! The servers and their in-memory I/O are those of the example `async_cost` of raddle-bare, which
//! cannot depend on this package.

pub mod bare;
pub mod boxes;
#[path = "../../crates/bare/examples/async_cost/fake_io.rs"]
pub mod fake_io;
mod one_thread;
#[path = "../../crates/bare/examples/async_cost/poll_loop.rs"]
pub mod poll_loop;
#[path = "../../crates/bare/examples/async_cost/reactor.rs"]
pub mod reactor;
pub mod scheduler;
#[path = "../../crates/bare/examples/async_cost/tasks.rs"]
pub mod tasks;
pub mod wakers;

use std::time::{Duration, Instant};

use crate::async_cost::fake_io::Calls;
use crate::async_cost::poll_loop::PollLoop;
use crate::async_cost::reactor::Reactor;

/// The longest line, on either side.
pub const BUFFER: usize = 128;

/// Like [`BUFFER`], for the variant whose futures are large.
pub const LARGE_BUFFER: usize = 4096;

/// The numbers of requests that a run serves.
pub const REQUESTS: [usize; 2] = [32, 256];

/// One way to run the server: its name in tables, and the function that returns the time of some
/// runs of some requests each, after one run that is not measured.
pub type Variant = (&'static str, fn(&'static Calls, usize, u32) -> Duration);

/// The poll loop, then async functions; `docs/cost-of-async.md` describes each.
#[rustfmt::skip]
pub const VARIANTS: [Variant; 10] = [
    ("run_sync", run_sync),
    ("run_async", bare::run_async),
    ("unchecked", bare::unchecked),
    ("caller_boxed", bare::caller_boxed),
    ("boxed", bare::boxed),
    ("large_future", bare::large_future),
    ("rc_waker", boxes::run::<wakers::Unchecked>),
    ("checked_rc_waker", boxes::run::<wakers::Checked>),
    ("arc_waker", boxes::run::<wakers::Atomic>),
    ("current_thread", scheduler::current_thread),
];

fn run_sync(calls: &'static Calls, requests: usize, runs: u32) -> Duration {
    let mut poll_loop = PollLoop::new(calls, requests);
    timed(calls, runs, || {
        poll_loop
            .run(requests)
            .expect("the fake sources do not fail");
    })
}

/// Leaks a reactor, so that it lives forever.
fn leaked(calls: &'static Calls, requests: usize) -> &'static Reactor<'static> {
    Box::leak(Box::new(Reactor::new(calls, requests + 1)))
}

/// Runs once without measurement, then `runs` times. Times these, and counts only their calls.
fn timed(calls: &Calls, runs: u32, mut run: impl FnMut()) -> Duration {
    run();
    calls.take();
    let start = Instant::now();
    for _ in 0..runs {
        run();
    }
    start.elapsed()
}

#[cfg(test)]
mod tests;
