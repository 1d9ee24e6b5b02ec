//! Models of the end by a task's panic: who blocks on a future is woken by it,
//! whenever it began to.
#![cfg(raddle_loom)]

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind, set_hook, take_hook};
use std::sync::Once;

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model::{Model, Race};
use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use raddle_sched::{Config, CurrentThread, Pool, Step, UnhandledPanic};

/// What two threads touch, without an order of its own.
struct Shared(UnsafeCell<u32>);

// SAFETY: shared on purpose; the model finds the race.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

const ENDED: &str = "a task panicked, and its runtime is set to shut down then";

fn check(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let hook = take_hook();
        set_hook(Box::new(move |panic| {
            let text = panic.payload().downcast_ref::<&str>();
            if !text.is_some_and(|text| text.starts_with(ENDED)) {
                hook(panic);
            }
        }));
    });
    Model::new()
        .preemptions(preemptions)
        .branches(20_000)
        .check(body);
}

fn config() -> Config {
    Config {
        unhandled_panic: UnhandledPanic::ShutdownRuntime,
        ..Config::default()
    }
}

/// Panics past the hook.
async fn panics() {
    resume_unwind(Box::new(()));
}

/// That a call is ended by the panic of a task.
fn ends(block_on: impl FnOnce()) {
    let payload = catch_unwind(AssertUnwindSafe(block_on)).expect_err("it must panic");
    match payload.downcast::<&str>() {
        Ok(text) => assert!(text.starts_with(ENDED), "{text}"),
        Err(payload) => panic_any(payload),
    }
}

#[test]
fn a_panic_against_a_thread_that_begins_to_block() {
    check(2, || {
        let pool = Pool::start(config(), None).unwrap();
        let task = pool.handle().spawn(panics());
        ends(|| pool.handle().block_on(pending()));
        drop(pool);
        assert!(task.is_finished());
    });
}

#[test]
fn a_panic_against_a_thread_that_waits_for_that_task() {
    check(2, || {
        let pool = Pool::start(config(), None).unwrap();
        let task = pool.handle().spawn(panics());
        ends(|| drop(pool.handle().block_on(task)));
    });
}

/// One has the seat and runs the task, the other waits for the seat or comes
/// later.
#[test]
fn a_panic_against_two_threads_that_block_on_one_worker() {
    check(3, || {
        let scheduler = Arc::new(CurrentThread::new(config(), None));
        let task = scheduler.handle().spawn(panics());
        let other = {
            let scheduler = scheduler.clone();
            thread::spawn(move || ends(|| scheduler.block_on(pending())))
        };
        ends(|| scheduler.block_on(pending()));
        other.join().unwrap();
        assert!(task.is_finished());
    });
}

/// A spawn that comes as the scheduler ends is cancelled, not lost.
#[test]
fn a_panic_against_a_spawn_from_outside() {
    check(2, || {
        let pool = Pool::start(config(), None).unwrap();
        drop(pool.handle().spawn(panics()));
        let late = pool.handle().spawn(pending::<()>());
        drop(pool);
        assert!(late.is_finished());
    });
}

/// A thread whose `block_on` the panic has ended finds the scheduler closed: a task that it spawns
/// then is cancelled at once.
#[test]
fn a_panic_against_a_spawn_after_a_block_on_that_it_ended() {
    check(3, || {
        let (handle, mut workers) = Pool::stepped(config(), None);
        drop(handle.spawn(panics()));
        let blocked = thread::spawn(move || {
            ends(|| handle.block_on(pending()));
            assert!(handle.spawn(pending::<()>()).is_finished());
        });
        let mut worker = workers.pop().unwrap();
        assert_eq!(worker.step(), Step::Ran);
        blocked.join().unwrap();
        drop(worker);
    });
}

/// Whose task is refused sees what was done before the panic.
#[test]
fn a_refused_spawn_sees_the_writes_of_the_panicked_task() {
    check(3, || {
        let (handle, mut workers) = Pool::stepped(config(), None);
        let shared = Arc::new(Shared(UnsafeCell::new(0)));
        let theirs = shared.clone();
        drop(handle.spawn(async move {
            // SAFETY: the model checks whether another thread reads meanwhile.
            theirs.0.with_mut(|value| unsafe { *value = 1 });
            panics().await;
        }));
        let refused = thread::spawn(move || {
            if handle.spawn(pending::<()>()).is_finished() {
                // SAFETY: as above.
                assert_eq!(shared.0.with(|value| unsafe { *value }), 1);
            }
        });
        let mut worker = workers.pop().unwrap();
        assert_eq!(worker.step(), Step::Ran);
        drop(worker);
        refused.join().unwrap();
    });
}

/// What a worker does after the step in which a task panicked is not seen by a thread
/// whose `block_on` is ended by that.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_the_panic_is_not_seen_by_the_blocked_thread() {
    check(2, || {
        let (handle, mut workers) = Pool::stepped(config(), None);
        drop(handle.spawn(panics()));
        let race = Race::new();
        let theirs = race.clone();
        let told = thread::spawn(move || {
            ends(|| handle.block_on(pending()));
            theirs.second();
        });
        let mut worker = workers.pop().unwrap();
        assert_eq!(worker.step(), Step::Ran);
        race.first();
        told.join().unwrap();
        drop(worker);
    });
}
