//! A panic hook that reads the clock whose misuse has panicked. It deadlocks if a panic begins
//! under the clock's lock. The test has its own file, because a hook is global to the process.
#![cfg(not(raddle_loom))]

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use raddle_timer::{Handle, Instant};
use support::{TestTimers, ms};

#[test]
fn a_panic_hook_may_read_the_clock() {
    std::panic::set_hook(Box::new(|_| {
        let _ = Handle::try_current().map(|handle| (handle.is_paused(), Instant::now()));
    }));
    let running = TestTimers::running();
    let resumed = TestTimers::paused();
    resumed.handle.resume();
    let paused = TestTimers::paused();
    panics(&paused, Handle::pause);
    panics(&running, Handle::resume);
    panics(&resumed, Handle::resume);
    panics(&resumed, |handle| handle.advance(ms(1)));
    panics(&paused, |handle| handle.advance(Duration::MAX));
}

fn panics(driver: &TestTimers, misuse: impl FnOnce(&Handle)) {
    let _entered = driver.handle.enter();
    let caught = catch_unwind(AssertUnwindSafe(|| misuse(&driver.handle)));
    assert!(caught.is_err());
    // The clock can still be read.
    let _ = driver.handle.now();
}
