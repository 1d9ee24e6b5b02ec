//! Models of the semaphore. A lost wake-up is a deadlock.

use std::sync::Arc;
use std::task::Poll;

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model::{self, Model};
use raddle_primitives::thread;
use raddle_sync::{Semaphore, TryAcquireError};
use raddle_testing::block_on;

use crate::common::poll;

/// A number that only the holder of a permit may access: the model finds a race.
struct Guarded(UnsafeCell<u32>);

// SAFETY: shared on purpose; the model finds races.
unsafe impl Sync for Guarded {}
// SAFETY: as above.
unsafe impl Send for Guarded {}

impl Guarded {
    fn new() -> Arc<Self> {
        Arc::new(Self(UnsafeCell::new(0)))
    }

    fn add(&self) -> u32 {
        self.0.with_mut(|number| {
            // SAFETY: the caller has the only permit; otherwise the model reports a race.
            unsafe {
                *number += 1;
                *number
            }
        })
    }
}

#[test]
fn two_threads_never_hold_one_permit_at_once() {
    model::check(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let guarded = Guarded::new();
        let other = {
            let (semaphore, guarded) = (semaphore.clone(), guarded.clone());
            thread::spawn(move || {
                let _permit = block_on(semaphore.acquire()).unwrap();
                guarded.add();
            })
        };
        {
            let _permit = block_on(semaphore.acquire()).unwrap();
            guarded.add();
        }
        other.join().unwrap();
        assert_eq!(guarded.add(), 3);
        assert_eq!(semaphore.available_permits(), 1);
    });
}

#[test]
fn three_tasks_acquire_one_permit_in_turn() {
    Model::new().preemptions(2).check(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let guarded = Guarded::new();
        let others: Vec<_> = (0..2)
            .map(|_| {
                let (semaphore, guarded) = (semaphore.clone(), guarded.clone());
                thread::spawn(move || {
                    let _permit = block_on(semaphore.acquire()).unwrap();
                    guarded.add();
                })
            })
            .collect();
        drop(block_on(semaphore.acquire()).map(|_permit| guarded.add()));
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(guarded.add(), 4);
        assert_eq!(semaphore.available_permits(), 1);
    });
}

#[test]
fn try_acquire_publishes_what_was_done_under_the_permit() {
    model::check(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let guarded = Guarded::new();
        let other = {
            let (semaphore, guarded) = (semaphore.clone(), guarded.clone());
            thread::spawn(move || {
                if let Ok(_permit) = semaphore.try_acquire() {
                    guarded.add();
                }
            })
        };
        if let Ok(_permit) = semaphore.try_acquire() {
            guarded.add();
        }
        other.join().unwrap();
        assert!(guarded.add() > 1);
    });
}

/// The store of the thread that serves a waiter does not order an earlier release before a later
/// acquisition; the thread that begins the wait must do so.
#[test]
fn a_release_before_a_wait_is_seen_after_it() {
    Model::new().preemptions(3).check(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let guarded = Guarded::new();
        let releaser = {
            let (semaphore, guarded) = (semaphore.clone(), guarded.clone());
            thread::spawn(move || {
                guarded.add();
                semaphore.add_permits(1);
            })
        };
        let impatient = {
            let semaphore = semaphore.clone();
            thread::spawn(move || {
                let mut acquire = Box::pin(semaphore.acquire_many(2));
                assert!(poll(&mut acquire).is_pending());
            })
        };
        let taker = {
            let (semaphore, guarded) = (semaphore.clone(), guarded.clone());
            thread::spawn(move || {
                if let Ok(_permit) = semaphore.try_acquire() {
                    guarded.add();
                }
            })
        };
        releaser.join().unwrap();
        impatient.join().unwrap();
        taker.join().unwrap();
        assert_eq!(semaphore.available_permits(), 1);
    });
}

#[test]
fn close_publishes_earlier_writes() {
    model::check(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let guarded = Guarded::new();
        let closer = {
            let (semaphore, guarded) = (semaphore.clone(), guarded.clone());
            thread::spawn(move || {
                guarded.add();
                semaphore.close();
            })
        };
        let refused = matches!(semaphore.try_acquire(), Err(TryAcquireError::Closed));
        if refused || semaphore.is_closed() {
            assert_eq!(guarded.add(), 2);
        }
        closer.join().unwrap();
    });
}

#[test]
fn dropping_a_wait_loses_no_permit() {
    model::check(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let permit = semaphore.clone().try_acquire_owned().unwrap();
        let other = {
            let semaphore = semaphore.clone();
            thread::spawn(move || {
                let mut acquire = Box::pin(semaphore.acquire());
                drop(poll(&mut acquire));
            })
        };
        drop(permit);
        drop(block_on(semaphore.acquire()).unwrap());
        other.join().unwrap();
        assert_eq!(semaphore.available_permits(), 1);
    });
}

#[test]
fn a_wait_that_is_served_while_it_is_dropped_returns_the_permit() {
    model::check(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let permit = semaphore.clone().try_acquire_owned().unwrap();
        let mut acquire = Box::pin(semaphore.acquire());
        assert!(poll(&mut acquire).is_pending());
        let other = thread::spawn(move || drop(permit));
        drop(acquire);
        other.join().unwrap();
        assert_eq!(semaphore.available_permits(), 1);
    });
}

#[test]
fn closing_ends_a_wait() {
    model::check(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let other = {
            let semaphore = semaphore.clone();
            thread::spawn(move || {
                semaphore.add_permits(1);
                semaphore.close();
            })
        };
        // The semaphore was closed before the permit was seen, in between, or not at all.
        let _ = block_on(semaphore.acquire_many(1)).map(drop);
        assert!(block_on(semaphore.acquire_many(2)).is_err());
        other.join().unwrap();
        assert_eq!(semaphore.available_permits(), 1);
    });
}

#[test]
fn a_waiter_for_several_permits_is_served_by_several_releases() {
    Model::new().preemptions(3).check(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let guarded = Guarded::new();
        let others: Vec<_> = (0..2)
            .map(|_| {
                let semaphore = semaphore.clone();
                thread::spawn(move || semaphore.add_permits(1))
            })
            .collect();
        let permit = block_on(semaphore.acquire_many(2)).unwrap();
        guarded.add();
        drop(permit);
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(semaphore.available_permits(), 2);
    });
}

/// A waiter that is polled before it is woken learns only from its node's word that it has its
/// permits.
#[test]
fn a_waiter_released_without_the_lock_sees_what_was_done_before() {
    model::check(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let guarded = Guarded::new();
        let mut acquire = Box::pin(semaphore.clone().acquire_owned());
        assert!(poll(&mut acquire).is_pending());
        let other = guarded.clone();
        let checking_thread = thread::spawn(move || {
            if poll(&mut acquire).is_ready() {
                assert_eq!(other.add(), 2);
            }
        });
        guarded.add();
        semaphore.add_permits(1);
        checking_thread.join().unwrap();
        assert_eq!(semaphore.available_permits(), 1);
    });
}

/// A waiter that has its permit finds the other permit that was released with it.
#[test]
fn a_waiter_released_without_the_lock_finds_the_permits_left() {
    model::check(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let mut acquire = Box::pin(semaphore.clone().acquire_owned());
        assert!(poll(&mut acquire).is_pending());
        let other = semaphore.clone();
        let checking_thread = thread::spawn(move || {
            if let Poll::Ready(permit) = poll(&mut acquire) {
                let _permit = permit.unwrap();
                assert!(other.try_acquire().is_ok());
            }
        });
        semaphore.add_permits(2);
        checking_thread.join().unwrap();
        assert_eq!(semaphore.available_permits(), 2);
    });
}

/// The permits are forgotten, because their drops would panic during the panic.
#[test]
#[should_panic(expected = "Causality violation: Concurrent write accesses")]
fn canary_writes_under_two_permits_race() {
    model::check(|| {
        let semaphore = Arc::new(Semaphore::new(2));
        let guarded = Guarded::new();
        let other = {
            let (semaphore, guarded) = (semaphore.clone(), guarded.clone());
            thread::spawn(move || {
                semaphore.try_acquire().unwrap().forget();
                guarded.add();
            })
        };
        semaphore.try_acquire().unwrap().forget();
        guarded.add();
        other.join().unwrap();
    });
}
