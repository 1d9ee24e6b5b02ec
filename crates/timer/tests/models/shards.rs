//! Models of several shards and the driver that parks for all of them.

use std::pin::Pin;
use std::sync::Arc as StdArc;
use std::task::{Context, Waker};
use std::time::Duration;

use raddle_primitives::model;
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::thread;
use raddle_timer::driver::{EventSource as _, NoEvents};
use raddle_timer::{Handle, Instant, Sleep, Timers, sleep_until};

/// No timer fires: the models check which thread unparks the driver.
const HOUR: Duration = Duration::from_secs(3600);

fn set(handle: &Handle, deadline: Instant) -> Pin<Box<Sleep>> {
    let _entered = handle.enter();
    let mut sleep = Box::pin(sleep_until(deadline));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(sleep.as_mut().poll(cx).is_pending());
    sleep
}

/// Makes timers in two shards, owned by the calling thread.
fn two_shards() -> (Timers, [Handle; 2]) {
    let driver = thread::current();
    let timers = Timers::sharded(2, StdArc::new(move || driver.unpark()));
    let mut handles = timers.handles();
    let both = [handles.next().unwrap(), handles.next().unwrap()];
    drop(handles);
    (timers, both)
}

/// Parks as a driver does, without a limit, until it knows of a timer at `deadline` or before. If
/// no thread unparked it, the model would end in a deadlock.
fn drive_until(timers: &mut Timers, deadline: Instant) {
    while timers.next_deadline().is_none_or(|next| next > deadline) {
        thread::park();
        timers.fire_due();
    }
}

#[test]
fn inserts_in_two_shards_against_a_parking_driver() {
    model::Model::new().preemptions(3).check(|| {
        let (mut timers, handles) = two_shards();
        let start = timers.now();
        let users = [(0, 2), (1, 1)].map(|(shard, hours)| {
            let handle: Handle = handles[shard].clone();
            thread::spawn(move || set(&handle, start + hours * HOUR))
        });
        drive_until(&mut timers, start + HOUR + Duration::from_millis(1));
        drop(users.map(|user| user.join().unwrap()));
        assert_eq!(timers.next_deadline(), None);
    });
}

/// The driver waits for a timer of one shard; the timer that is set in the other shard is earlier.
#[test]
fn an_insert_against_a_driver_that_waits_for_another_shard() {
    model::Model::new().preemptions(3).check(|| {
        let (mut timers, [first, second]) = two_shards();
        let start = timers.now();
        let later = set(&first, start + 2 * HOUR);
        let user = thread::spawn(move || set(&second, start + HOUR));
        drive_until(&mut timers, start + HOUR + Duration::from_millis(1));
        drop((later, user.join().unwrap()));
    });
}

/// A timer that is not earlier than another one of its shard does not unpark the driver. When the
/// earlier one is cancelled, the driver must know of the others.
#[test]
fn a_cancellation_against_an_insert_in_its_shard() {
    model::Model::new().preemptions(3).check(|| {
        let (mut timers, [handle, _]) = two_shards();
        let start = timers.now();
        let first = set(&handle, start + HOUR);
        let until = timers.next_deadline();
        assert!(until.is_some());
        let user = thread::spawn(move || set(&handle, start + 2 * HOUR));
        drop(first);
        let second = user.join().unwrap();
        // The driver wakes at the tick that it waited for, and checks again.
        assert!(timers.fire_due() == 0 && timers.next_deadline().is_some());
        drive_until(&mut timers, start + 2 * HOUR + Duration::from_millis(1));
        drop(second);
        assert_eq!(timers.next_deadline(), None);
    });
}

/// Two threads set a timer of the same tick in different shards while the driver waits: at least
/// one of them unparks it.
#[test]
fn equal_timers_in_two_shards_unpark_the_driver() {
    model::Model::new().preemptions(3).check(|| {
        let unparks = Arc::new(AtomicUsize::new(0));
        let timers = Timers::sharded(2, {
            let unparks = Arc::clone(&unparks);
            StdArc::new(move || {
                unparks.fetch_add(1, Ordering::Relaxed);
            })
        });
        let start = timers.now();
        assert_eq!(timers.next_deadline(), None);
        let users: Vec<_> = timers
            .handles()
            .map(|handle| thread::spawn(move || set(&handle, start + HOUR)))
            .collect();
        let sleeps: Vec<_> = users.into_iter().map(|user| user.join().unwrap()).collect();
        assert_eq!(unparks.load(Ordering::Relaxed), 1);
        drop(sleeps);
    });
}

/// An unpark notifies the condition variable only if the driver waits for it, and only the first of
/// two does so.
#[test]
fn unparks_against_a_wait_without_events() {
    model::check(|| {
        let mut source = NoEvents::default();
        let unparks = [source.unparker(), source.unparker()];
        let others = unparks.map(|unpark| thread::spawn(move || unpark()));
        source.wait(None, usize::MAX);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// What follows the insertion of a timer is not seen by the driver that knows of it.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_what_follows_an_insertion_is_not_seen_by_the_driver() {
    model::check(|| {
        let race = model::Race::new();
        // The driver has its own thread, because a failing model cannot drop the thread-local
        // variables.
        let driver = thread::spawn(move || {
            let (timers, [first, _]) = two_shards();
            let start = timers.now();
            let theirs = race.clone();
            let user = thread::spawn(move || {
                let sleep = set(&first, start + HOUR);
                theirs.second();
                sleep
            });
            if timers.next_deadline().is_some() {
                race.first();
            }
            drop(user.join().unwrap());
        });
        driver.join().unwrap();
    });
}
