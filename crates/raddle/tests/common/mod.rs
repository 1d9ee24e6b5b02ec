//! Helpers of several test programs.
#![allow(dead_code, reason = "each program uses some of the helpers")]
#![allow(clippy::disallowed_types, reason = "never modelled")]

#[cfg(target_os = "linux")]
pub(crate) mod own_process;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use raddle::runtime::{Builder, Policy, Runtime};

/// Runs a test on a runtime of each builder of [`builders`].
pub(crate) fn each_flavor(test: impl Fn(Runtime)) {
    for mut builder in builders() {
        test(builder.build().unwrap());
    }
}

/// Builders of a multi-thread runtime of each policy and of a current-thread runtime.
pub(crate) fn builders() -> [Builder; 4] {
    [
        multi_thread(),
        with_policy(Policy::Shared),
        with_policy(Policy::Sharded),
        current_thread(),
    ]
}

pub(crate) fn with_policy(policy: Policy) -> Builder {
    let mut builder = multi_thread();
    builder.scheduler(policy);
    builder
}

pub(crate) fn multi_thread() -> Builder {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all();
    builder
}

pub(crate) fn current_thread() -> Builder {
    let mut builder = Builder::new_current_thread();
    builder.enable_all();
    builder
}

/// Waits until `holds` returns true; panics after a minute.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "not within a minute: {what}"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Counts the values that are alive.
pub(crate) struct Live(Arc<AtomicUsize>);

impl Live {
    pub(crate) fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Uses about four megabytes of the stack: more than a thread has by default.
pub(crate) fn use_large_stack() {
    #[inline(never)]
    fn dig(depth: usize) -> usize {
        let block = std::hint::black_box([depth as u8; 16 * 1024]);
        match depth {
            0 => 0,
            _ => dig(depth - 1) + usize::from(block[0] == depth as u8),
        }
    }
    assert_eq!(dig(250), 250);
}

/// Runs `f`, which must panic, and returns the message of the panic.
pub(crate) fn panic_message<R>(f: impl FnOnce() -> R) -> String {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    let payload = result.err().expect("the function did not panic");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload
            .downcast_ref::<&str>()
            .expect("the payload is not a string"))
        .to_owned(),
    }
}
