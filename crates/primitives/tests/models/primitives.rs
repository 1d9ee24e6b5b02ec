//! Models of what the model build adds to loom, and of what this crate builds on loom.

use std::collections::BTreeSet;
use std::sync::Mutex as StdMutex;
use std::task::Poll;
use std::time::Duration;

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, Condvar, Mutex};
use raddle_primitives::thread;

/// Returns the different results of a model's executions.
fn outcomes<T: Ord + Send + 'static>(body: impl Fn() -> T + Send + Sync + 'static) -> BTreeSet<T> {
    let all = std::sync::Arc::new(StdMutex::new(BTreeSet::new()));
    let seen = all.clone();
    model::check(move || {
        let outcome = body();
        seen.lock().unwrap().insert(outcome);
    });
    std::sync::Arc::into_inner(all)
        .unwrap()
        .into_inner()
        .unwrap()
}

/// loom 376: loom assumed that a thread that tries a lock waits for its holder, here forever.
#[test]
fn try_lock_does_not_wait() {
    let outcomes = outcomes(|| {
        let lock = Arc::new(Mutex::new(()));
        let theirs = lock.clone();
        let other = thread::spawn(move || theirs.try_lock().is_some());
        let ours = lock.try_lock();
        (ours.is_some(), other.join().unwrap())
    });
    // The main thread holds the lock to the end. The other thread releases it in the step in which
    // it takes it.
    assert_eq!(outcomes, BTreeSet::from([(true, false), (true, true)]));
}

/// One thread tries to take a lock while another holds it, sleeps and is woken.
#[test]
fn try_lock_does_not_wait_for_a_sleeping_holder() {
    model::check(|| {
        let state = Arc::new((Mutex::new(()), Mutex::new(false), Condvar::new()));
        let theirs = state.clone();
        let sleeper = thread::spawn(move || {
            let _held = theirs.0.lock();
            let mut woken = theirs.1.lock();
            while !*woken {
                woken = theirs.2.wait(woken);
            }
        });
        drop(state.0.try_lock());
        *state.1.lock() = true;
        state.2.notify_all();
        sleeper.join().unwrap();
    });
}

/// A timed wait races with a change, which is made under the lock and notified after it. The wait
/// ends by the notification or by its time-out, and may see the change in both cases.
#[test]
fn a_timed_wait_ends_by_a_notification_or_its_time_out() {
    let outcomes = outcomes(|| {
        let state = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = state.clone();
        let other = thread::spawn(move || {
            *theirs.0.lock() = true;
            theirs.1.notify_one();
        });
        let (changed, timed_out) = state.1.wait_timeout(state.0.lock(), Duration::from_secs(1));
        let outcome = (*changed, timed_out);
        drop(changed);
        other.join().unwrap();
        outcome
    });
    assert_eq!(
        outcomes,
        BTreeSet::from([(false, true), (true, false), (true, true)])
    );
}

/// One notification ends the wait of one thread, whether the wait is timed or not.
#[test]
fn a_notification_ends_one_wait() {
    model::check(|| {
        let state = Arc::new((Mutex::new(0), Condvar::new()));
        let theirs = state.clone();
        let other = thread::spawn(move || {
            let mut waiting = theirs.0.lock();
            *waiting += 1;
            drop(theirs.1.wait(waiting));
        });
        let mut waiting = state.0.lock();
        let mut late = true;
        while *waiting == 0 && late {
            (waiting, late) = state.1.wait_timeout(waiting, Duration::from_secs(1));
        }
        drop(waiting);
        state.1.notify_one();
        other.join().unwrap();
    });
}

/// A timed park takes the token of an unpark that comes in time. A late unpark leaves its token to
/// the next park.
#[test]
fn a_timed_park_ends_by_an_unpark_or_its_time_out() {
    let outcomes = outcomes(|| {
        let main = thread::current();
        let unparked = Arc::new(AtomicUsize::new(0));
        let theirs = unparked.clone();
        let other = thread::spawn(move || {
            // ORDERING: Relaxed: the value is a hint until the join.
            theirs.store(1, Ordering::Relaxed);
            main.unpark();
        });
        thread::park_timeout(Duration::from_secs(1));
        let seen = unparked.load(Ordering::Relaxed);
        thread::park_timeout(Duration::from_secs(1));
        let then = unparked.load(Ordering::Relaxed);
        other.join().unwrap();
        (seen, then)
    });
    assert!(outcomes.contains(&(0, 1)), "{outcomes:?}");
    assert!(outcomes.contains(&(1, 1)), "{outcomes:?}");
}

/// Both orders of the earlier operations are explored, but only one of the later ones.
#[test]
fn after_stop_exploring_a_model_runs_one_order() {
    let outcomes = outcomes(|| {
        let (first, second) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let theirs = (first.clone(), second.clone());
        let other = thread::spawn(move || {
            let turn = theirs.0.fetch_add(1, Ordering::Relaxed);
            (turn, theirs.1.fetch_add(1, Ordering::Relaxed))
        });
        first.fetch_add(1, Ordering::Relaxed);
        model::stop_exploring();
        second.fetch_add(1, Ordering::Relaxed);
        other.join().unwrap()
    });
    let first: BTreeSet<_> = outcomes.iter().map(|outcome| outcome.0).collect();
    assert_eq!(first, BTreeSet::from([0, 1]));
    assert!(outcomes.len() < 4, "{outcomes:?}");
}

/// The second pair of operations is explored again.
#[test]
fn exploration_resumes_after_explore() {
    let outcomes = outcomes(|| {
        let turns = Arc::new(AtomicUsize::new(0));
        model::stop_exploring();
        let theirs = turns.clone();
        let other = thread::spawn(move || theirs.fetch_add(1, Ordering::Relaxed));
        model::explore();
        turns.fetch_add(1, Ordering::Relaxed);
        other.join().unwrap()
    });
    assert_eq!(outcomes, BTreeSet::from([0, 1]));
}

#[derive(Default)]
struct CountWithoutLock {
    lock: Mutex<()>,
    turns: AtomicUsize,
    count: UnsafeCell<u32>,
}

// SAFETY: the test below shares it on purpose; the model finds the race.
unsafe impl Sync for CountWithoutLock {}
// SAFETY: as above.
unsafe impl Send for CountWithoutLock {}

impl CountWithoutLock {
    fn count(&self) {
        let _held = self.lock.try_lock();
        // ORDERING: Relaxed: a step at which the model may run the other thread.
        self.turns.fetch_add(1, Ordering::Relaxed);
        // SAFETY: none; this is the race.
        self.count.with_mut(|count| unsafe { *count += 1 });
    }
}

/// The models report an access by a thread that failed to take the lock.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_access_without_the_lock_after_a_failed_try_lock_is_caught() {
    model::check(|| {
        let shared = Arc::new(CountWithoutLock::default());
        let theirs = shared.clone();
        let other = thread::spawn(move || theirs.count());
        shared.count();
        other.join().unwrap();
    });
}

/// Only the wake orders a write before it with the poll after it. A second wake finds the first
/// still pending, and must publish its write too.
#[test]
fn a_wake_publishes_earlier_writes() {
    Model::new().preemptions(3).check(|| {
        let flags: [Arc<AtomicBool>; 2] = std::array::from_fn(|_| Arc::default());
        let mut threads = Vec::new();
        thread::block_on(|cx| {
            if threads.is_empty() {
                for flag in flags.clone() {
                    let waker = cx.waker().clone();
                    threads.push(thread::spawn(move || {
                        // ORDERING: Relaxed: the test checks the ordering of the wake.
                        flag.store(true, Ordering::Relaxed);
                        waker.wake();
                    }));
                }
            }
            // ORDERING: Relaxed: the test checks the ordering of the wake.
            if flags.iter().all(|flag| flag.load(Ordering::Relaxed)) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
}
