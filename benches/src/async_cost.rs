//! What async costs: a server as a loop written by hand over a poll, and as
//! async functions on several executors.
//!
//! The servers and the I/O in memory that they run on are those of the example
//! `async_cost` of raddle-bare, which cannot depend on this package.

pub mod bare;
pub mod boxes;
#[path = "../../crates/bare/examples/async_cost/fake_io.rs"]
pub mod fake_io;
mod one_thread;
pub mod plot;
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

/// How long a line can be, on either side.
pub const BUFFER: usize = 128;

/// As [`BUFFER`], of the variant whose futures are large.
pub const LARGE_BUFFER: usize = 4096;

/// How many requests a run serves.
pub const REQUESTS: [usize; 2] = [32, 256];

/// One way to run the server.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// What it is called.
    pub name: &'static str,
    /// What is different about it.
    pub about: &'static str,
    time: fn(&'static Calls, usize, u32) -> Duration,
}

impl Variant {
    /// How long `runs` runs of `requests` each take, after one that does not
    /// count.
    pub fn time(&self, calls: &'static Calls, requests: usize, runs: u32) -> Duration {
        (self.time)(calls, requests, runs)
    }
}

/// The poll loop, then async functions.
pub const VARIANTS: [Variant; 10] = [
    Variant {
        name: "run_sync",
        about: "the loop written by hand",
        time: run_sync,
    },
    Variant {
        name: "run_async",
        about: "raddle-bare, futures by value",
        time: bare::run_async,
    },
    Variant {
        name: "unchecked",
        about: "likewise, without the check of the thread",
        time: bare::unchecked,
    },
    Variant {
        name: "caller_boxed",
        about: "raddle-bare, each future of the one type boxed",
        time: bare::caller_boxed,
    },
    Variant {
        name: "boxed",
        about: "raddle-bare, boxed futures of any type",
        time: bare::boxed,
    },
    Variant {
        name: "large_future",
        about: "raddle-bare, by value, with buffers of 4 KiB",
        time: bare::large_future,
    },
    Variant {
        name: "rc_waker",
        about: "boxed futures, a waker that is an Rc",
        time: boxes::run::<wakers::Unchecked>,
    },
    Variant {
        name: "checked_rc_waker",
        about: "likewise, which checks its thread",
        time: boxes::run::<wakers::Checked>,
    },
    Variant {
        name: "arc_waker",
        about: "boxed futures, a waker that is an Arc",
        time: boxes::run::<wakers::Atomic>,
    },
    Variant {
        name: "current_thread",
        about: "the scheduler of Raddle's current-thread runtime",
        time: scheduler::current_thread,
    },
];

fn run_sync(calls: &'static Calls, requests: usize, runs: u32) -> Duration {
    let mut poll_loop = PollLoop::new(calls, requests);
    timed(calls, runs, || {
        poll_loop
            .run(requests)
            .expect("the fake sources do not fail");
    })
}

/// A reactor that is there for ever.
fn leaked(calls: &'static Calls, requests: usize) -> &'static Reactor<'static> {
    Box::leak(Box::new(Reactor::new(calls, requests + 1)))
}

/// Runs once, then `runs` times on the clock; of those alone the calls are
/// counted.
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
