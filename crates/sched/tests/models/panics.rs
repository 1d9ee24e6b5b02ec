//! Models of a task's panic that shuts the scheduler down. It wakes every thread that blocks on a
//! future, whenever that thread began to block.

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind, set_hook, take_hook};
use std::sync::Once;

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model::{Model, Race};
use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use raddle_sched::{Config, CurrentThread, Pool, Step, UnhandledPanic};

/// A value that two threads access without synchronization of its own.
struct Shared(UnsafeCell<u32>);

// SAFETY: the value is shared on purpose; the model finds a race.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

const PANIC_MESSAGE: &str = "a task panicked, and its runtime is set to shut down then";

fn check(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let hook = take_hook();
        set_hook(Box::new(move |panic| {
            let text = panic.payload().downcast_ref::<&str>();
            if !text.is_some_and(|text| text.starts_with(PANIC_MESSAGE)) {
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

/// Panics without calling the panic hook.
async fn panics() {
    resume_unwind(Box::new(()));
}

/// Checks that a task's panic ends the call.
fn check_ended_by_panic(block_on: impl FnOnce()) {
    let payload = catch_unwind(AssertUnwindSafe(block_on)).expect_err("it must panic");
    match payload.downcast::<&str>() {
        Ok(text) => assert!(text.starts_with(PANIC_MESSAGE), "{text}"),
        Err(payload) => panic_any(payload),
    }
}

#[test]
fn a_panic_against_a_thread_that_begins_to_block() {
    check(2, || {
        let pool = Pool::start(config(), None).unwrap();
        let task = pool.handle().spawn(panics());
        check_ended_by_panic(|| pool.handle().block_on(pending()));
        drop(pool);
        assert!(task.is_finished());
    });
}

#[test]
fn a_panic_against_a_thread_that_waits_for_that_task() {
    check(2, || {
        let pool = Pool::start(config(), None).unwrap();
        let task = pool.handle().spawn(panics());
        check_ended_by_panic(|| drop(pool.handle().block_on(task)));
    });
}

/// One thread has the worker and runs the task. The other waits for the worker, or comes later.
#[test]
fn a_panic_against_two_threads_that_block_on_one_worker() {
    check(3, || {
        let scheduler = Arc::new(CurrentThread::new(config(), None));
        let task = scheduler.handle().spawn(panics());
        let other = {
            let scheduler = scheduler.clone();
            thread::spawn(move || check_ended_by_panic(|| scheduler.block_on(pending())))
        };
        check_ended_by_panic(|| scheduler.block_on(pending()));
        other.join().unwrap();
        assert!(task.is_finished());
    });
}

/// A spawn during the shutdown is cancelled, not lost.
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

/// When the panic has ended the `block_on` of a thread, the scheduler is closed: a task that this
/// thread spawns is cancelled at once.
#[test]
fn a_panic_against_a_spawn_after_a_block_on_that_it_ended() {
    check(3, || {
        let (handle, mut workers) = Pool::stepped(config(), None);
        drop(handle.spawn(panics()));
        let blocked = thread::spawn(move || {
            check_ended_by_panic(|| handle.block_on(pending()));
            assert!(handle.spawn(pending::<()>()).is_finished());
        });
        let mut worker = workers.pop().unwrap();
        assert_eq!(worker.step(), Step::Ran);
        blocked.join().unwrap();
        drop(worker);
    });
}

/// A thread whose spawn is refused sees what the task did before its panic.
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

/// The thread whose `block_on` the panic ends does not see what the worker does after the step in
/// which the task panicked.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_the_panic_is_not_seen_by_the_blocked_thread() {
    check(2, || {
        let (handle, mut workers) = Pool::stepped(config(), None);
        drop(handle.spawn(panics()));
        let race = Race::new();
        let theirs = race.clone();
        let blocked_thread = thread::spawn(move || {
            check_ended_by_panic(|| handle.block_on(pending()));
            theirs.second();
        });
        let mut worker = workers.pop().unwrap();
        assert_eq!(worker.step(), Step::Ran);
        race.first();
        blocked_thread.join().unwrap();
        drop(worker);
    });
}
