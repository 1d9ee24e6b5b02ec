//! A panic hook that reads the clock whose misuse has panicked. It deadlocks if a panic begins
//! under the clock's lock. The hook is global to the process, but acts only on the test's thread.

use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use raddle_timer::{Handle, Instant};

use crate::support::{TestTimers, ms};

#[test]
fn a_panic_hook_may_read_the_clock() {
    let test = thread::current().id();
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().id() == test {
            let _ = Handle::try_current().map(|handle| (handle.is_paused(), Instant::now()));
        } else {
            previous(info);
        }
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
