use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use crate::{Timers, sleep};

/// The driver does not wait for a thread that sets later timers.
#[test]
fn a_shard_without_due_timers_is_skipped_without_its_lock() {
    let timers = Timers::new(std::sync::Arc::new(|| {}));
    let handle = timers.handle();
    handle.pause();
    let _entered = handle.enter();
    let mut sleep = pin!(sleep(Duration::from_millis(2)));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(sleep.as_mut().poll(&mut cx).is_pending());
    let shard = handle.shard();
    let now = shard.shared.present_tick();
    {
        let _locked = shard.core();
        assert_eq!(shard.fire(now + 1), 0);
    }
    assert_eq!(shard.fire(now + 2), 1);
}

#[test]
fn a_timer_set_after_an_idle_time_is_placed_relative_to_the_present() {
    let timers = Timers::new(std::sync::Arc::new(|| {}));
    let handle = timers.handle();
    handle.pause();
    let _entered = handle.enter();
    handle.advance(Duration::from_millis(5_000));
    assert_eq!(handle.fire_due(), 0);
    let mut sleep = pin!(sleep(Duration::from_millis(1)));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(sleep.as_mut().poll(&mut cx).is_pending());
    let shard = handle.shard();
    let due = shard.shared.present_tick() + 1;
    // It is not the earlier start of a slot of a higher level.
    assert_eq!(shard.core().wheel.next_tick(), Some(due));
}
