//! Models of the locks and the barrier. The cells in them show loom which threads access the value;
//! a lost wake-up is a deadlock.

use std::sync::Arc;

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model::{self, Model};
use raddle_primitives::thread;
use raddle_sync::{Barrier, Mutex, RwLock};
use raddle_testing::block_on;

use crate::common::poll;

#[test]
fn two_threads_never_hold_a_mutex_at_once() {
    model::check(|| {
        let mutex = Arc::new(Mutex::new(0));
        let other = {
            let mutex = mutex.clone();
            thread::spawn(move || *block_on(mutex.lock_owned()) += 1)
        };
        *block_on(mutex.lock()) += 1;
        other.join().unwrap();
        assert_eq!(*mutex.try_lock().unwrap(), 2);
    });
}

#[test]
fn a_mutex_does_not_wait_for_a_dropped_waiter() {
    model::check(|| {
        let mutex = Arc::new(Mutex::new(0));
        let other = {
            let mutex = mutex.clone();
            thread::spawn(move || drop(poll(&mut Box::pin(mutex.lock()))))
        };
        *block_on(mutex.lock()) += 1;
        other.join().unwrap();
        assert_eq!(*mutex.try_lock().unwrap(), 1);
    });
}

#[test]
fn threads_block_on_a_mutex() {
    model::check(|| {
        let mutex = Arc::new(Mutex::new(0));
        let other = {
            let mutex = mutex.clone();
            thread::spawn(move || *mutex.blocking_lock() += 1)
        };
        *mutex.blocking_lock() += 1;
        other.join().unwrap();
        assert_eq!(*mutex.try_lock().unwrap(), 2);
    });
}

#[test]
fn a_writer_excludes_all_others() {
    Model::new().preemptions(3).check(|| {
        let lock = Arc::new(RwLock::with_max_readers(0, 2));
        let writer = {
            let lock = lock.clone();
            thread::spawn(move || *block_on(lock.write()) += 1)
        };
        let reader = {
            let lock = lock.clone();
            thread::spawn(move || *block_on(lock.read()))
        };
        assert!(*block_on(lock.read()) < 2);
        assert!(reader.join().unwrap() < 2);
        writer.join().unwrap();
        assert_eq!(*lock.try_write().unwrap(), 1);
    });
}

#[test]
fn two_writers_lose_no_update_beside_a_reader() {
    Model::new().preemptions(2).check(|| {
        let lock = Arc::new(RwLock::with_max_readers(0, 2));
        let writers: Vec<_> = (0..2)
            .map(|_| {
                let lock = lock.clone();
                thread::spawn(move || *block_on(lock.write()) += 1)
            })
            .collect();
        assert!(*block_on(lock.read()) < 3);
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(*lock.try_write().unwrap(), 2);
    });
}

#[test]
fn a_downgrade_lets_no_writer_in_between() {
    model::check(|| {
        let lock = Arc::new(RwLock::with_max_readers(0, 2));
        let writer = {
            let lock = lock.clone();
            thread::spawn(move || *block_on(lock.write()) += 10)
        };
        let mut guard = block_on(lock.write());
        *guard += 1;
        let written = *guard;
        let guard = guard.downgrade();
        assert_eq!(*guard, written);
        drop(guard);
        writer.join().unwrap();
        assert_eq!(*lock.try_read().unwrap(), 11);
    });
}

#[test]
fn a_barrier_has_one_leader_each_time() {
    model::check(|| {
        let barrier = Arc::new(Barrier::new(2));
        let other = {
            let barrier = barrier.clone();
            thread::spawn(move || [0, 1].map(|_| usize::from(block_on(barrier.wait()).is_leader())))
        };
        let mine = [0, 1].map(|_| usize::from(block_on(barrier.wait()).is_leader()));
        let others = other.join().unwrap();
        assert_eq!([mine[0] + others[0], mine[1] + others[1]], [1, 1]);
    });
}

#[test]
fn a_waiter_that_leaves_a_barrier_stays_counted() {
    model::check(|| {
        let barrier = Arc::new(Barrier::new(2));
        let fickle = {
            let barrier = barrier.clone();
            thread::spawn(move || poll(&mut Box::pin(barrier.wait())).is_ready())
        };
        let mut wait = Box::pin(barrier.wait());
        let met = poll(&mut wait).is_ready();
        let led = fickle.join().unwrap();
        // The second task to arrive was the leader, whether or not the other wait had been dropped
        // by then.
        assert_ne!(led, met);
        assert!(met || poll(&mut wait).is_ready());
    });
}

/// A cell whose accesses race on purpose.
struct Raced(UnsafeCell<()>);

// SAFETY: the model finds the race, and the cell has no content.
unsafe impl Sync for Raced {}
// SAFETY: as above.
unsafe impl Send for Raced {}

/// Two readers hold the lock at the same time: if both write, the model finds it. The guards are
/// forgotten, because their drops would panic on top of the panic.
#[test]
#[should_panic(expected = "Causality violation: Concurrent write accesses")]
fn canary_writes_under_two_read_locks_race() {
    model::check(|| {
        let (lock, raced) = (
            Arc::new(RwLock::new(())),
            Arc::new(Raced(UnsafeCell::new(()))),
        );
        let other = {
            let (lock, raced) = (lock.clone(), raced.clone());
            thread::spawn(move || {
                std::mem::forget(lock.try_read());
                raced.0.with_mut(|_| {});
            })
        };
        std::mem::forget(lock.try_read());
        raced.0.with_mut(|_| {});
        other.join().unwrap();
    });
}
