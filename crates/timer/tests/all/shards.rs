//! Timers in several shards, with one owner.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Waker;

use raddle_testing::{Wakes, poll_with};
use raddle_timer::{Handle, Instant, Sleep, Timers, interval, sleep, sleep_until, timeout};

use crate::support::ms;

fn sharded(count: usize) -> (Timers, Vec<Handle>) {
    let timers = Timers::sharded(count, Arc::new(|| {}));
    let handles = timers.handles().collect();
    (timers, handles)
}

fn set(handle: &Handle, deadline: Instant, waker: &Waker) -> Pin<Box<Sleep>> {
    let _entered = handle.enter();
    let mut sleep = Box::pin(sleep_until(deadline));
    assert!(poll_with(sleep.as_mut(), waker).is_pending());
    sleep
}

#[test]
fn the_owner_waits_for_and_fires_the_timers_of_every_shard() {
    let (mut timers, handles) = sharded(4);
    let start = timers.now();
    let (count, waker) = Wakes::new();
    let sleeps: Vec<_> = handles
        .iter()
        .zip([40, 10, 30, 20])
        .map(|(handle, millis)| set(handle, start + ms(millis), &waker))
        .collect();
    let next = timers.next_deadline().expect("timers are set");
    assert!(next >= start + ms(10) && next <= start + ms(11));
    while count.get() < 4 {
        timers.fire_due();
        std::thread::yield_now();
    }
    assert!(timers.now() >= start + ms(40));
    assert!(sleeps.iter().all(|sleep| sleep.is_elapsed()));
    assert_eq!(timers.next_deadline(), None);
}

#[test]
fn a_timer_stays_in_its_shard_wherever_it_is_used() {
    let (mut timers, handles) = sharded(2);
    let (count, waker) = Wakes::new();
    let far = timers.now() + ms(3_600_000);
    let mut timer = set(&handles[0], far, &waker);
    let _entered = handles[1].enter();
    timer.as_mut().reset(far + ms(1));
    timer.as_mut().reset(far - ms(1_000));
    let (_, other) = Wakes::new();
    assert!(poll_with(timer.as_mut(), &other).is_pending());
    assert!(poll_with(timer.as_mut(), &waker).is_pending());
    timer.as_mut().reset(timers.now());
    while count.get() == 0 {
        timers.fire_due();
    }
    timer.as_mut().reset(far);
    assert!(poll_with(timer.as_mut(), &waker).is_pending());
    assert!(timers.next_deadline().is_some());
    drop(timer);
    assert_eq!(timers.next_deadline(), None);
}

#[test]
fn shutdown_ends_the_timers_of_every_shard() {
    let (mut timers, handles) = sharded(3);
    let (count, waker) = Wakes::new();
    let far = timers.now() + ms(3_600_000);
    let sleeps: Vec<_> = handles
        .iter()
        .map(|handle| set(handle, far, &waker))
        .collect();
    timers.shutdown();
    assert_eq!(count.get(), 3);
    assert_eq!(timers.next_deadline(), None);
    drop((timers, sleeps));
}

#[test]
#[should_panic(expected = "in several shards cannot be paused")]
fn the_clock_of_several_shards_cannot_be_paused() {
    sharded(2).1[0].pause();
}

#[test]
#[should_panic(expected = "timers need at least one shard")]
fn no_shards_are_refused() {
    drop(sharded(0));
}

/// The memory that a timer leaves for the next one belongs to the entered handle, and is freed with
/// it.
#[test]
fn dropped_timers_leave_nothing_in_their_shards() {
    let (token, gone) = {
        let token = Arc::new(());
        let gone = Arc::downgrade(&token);
        (token, gone)
    };
    let timers = Timers::new(Arc::new(move || {
        let _ = &token;
    }));
    let other = Timers::new(Arc::new(|| {}));
    let handle = timers.handle();
    {
        let _entered = handle.enter();
        let ready = timeout(ms(1), std::future::ready(()));
        assert!(poll_with(pin!(ready), Waker::noop()).is_ready());
        let (first, second) = (sleep(ms(1)), sleep(ms(1)));
        let other = other.handle();
        let _inner = other.enter();
        // Made with one handle entered, dropped with the other.
        drop((first, second, interval(ms(1))));
    }
    drop((handle, timers));
    assert!(gone.upgrade().is_none());
}
