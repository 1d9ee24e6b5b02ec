//! A task's panic shuts the scheduler down: it ends every `block_on`, and every other task is
//! dropped.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use crate::common::handoff::Handoffs;
use crate::common::{
    DropTracker, POLICIES, SHARING, SelfWaking, Signal, config, config_of, current_thread,
    message_of, wait_until,
};
use raddle_sched::{
    Config, CurrentThread, Handle, Hook, Policy, Pool, Step, TaskMeta, UnhandledPanic,
    block_in_place, spawn,
};

const PANIC_MESSAGE: &str = "a task panicked, and its runtime is set to shut down then";

fn with_shutdown_on_panic(config: Config) -> Config {
    Config {
        unhandled_panic: UnhandledPanic::ShutdownRuntime,
        ..config
    }
}

fn scheduler() -> CurrentThread {
    CurrentThread::new(with_shutdown_on_panic(config(1)), None)
}

/// Panics without calling the panic hook, which would print a message.
async fn panics() {
    std::panic::resume_unwind(Box::new(()));
}

/// Whether a task's panic ends the call.
fn is_ended(block_on: impl FnOnce()) -> bool {
    message_of(block_on).starts_with(PANIC_MESSAGE)
}

#[test]
fn a_panic_ends_each_waiting_block_on() {
    for policy in POLICIES {
        let pool = Pool::start(with_shutdown_on_panic(config_of(policy, 2)), None).unwrap();
        let waiting = Signal::default();
        thread::scope(|scope| {
            let others = [(); 2]
                .map(|()| scope.spawn(|| is_ended(|| pool.handle().block_on(waiting.clone()))));
            wait_until(|| waiting.polls() == 2);
            let task = pool.handle().spawn(panics());
            assert!(is_ended(|| drop(pool.handle().block_on(task))));
            assert!(others.map(|other| other.join().unwrap()) == [true; 2]);
        });
        // A later call ends too, and does not poll its future.
        assert!(is_ended(|| pool
            .handle()
            .block_on(async { unreachable!() })));
        assert!(pool.handle().spawn(pending::<()>()).is_finished());
    }
}

#[test]
fn a_panic_shuts_a_current_thread_scheduler_down_and_drops_its_tasks() {
    let scheduler = scheduler();
    let tracker = DropTracker::default();
    let tracked = tracker.tracked();
    let signal = Signal::default();
    let waits = signal.clone();
    drop(scheduler.handle().spawn(async move {
        let _tracked = tracked;
        waits.await;
    }));
    thread::scope(|scope| {
        // One thread waits for the worker, both for their futures.
        let (first, second) = (Signal::default(), Signal::default());
        let theirs = (first.clone(), second.clone());
        let [driving, waiting] = [theirs.0, theirs.1]
            .map(|signal| scope.spawn(|| is_ended(|| scheduler.block_on(signal))));
        wait_until(|| first.polls() == 1 && second.polls() == 1 && signal.polls() == 1);
        let task = scheduler.handle().spawn(panics());
        assert!(driving.join().unwrap() && waiting.join().unwrap());
        assert!(task.is_finished());
    });
    assert_eq!(tracker.dropped(), 1);
    assert!(is_ended(|| scheduler.block_on(async { unreachable!() })));
}

#[test]
fn a_future_that_the_panic_makes_ready_returns_no_output() {
    let scheduler = scheduler();
    let task = scheduler.handle().spawn(panics());
    assert!(is_ended(|| drop(scheduler.block_on(task))));
}

/// A future is inside a poll on a thread that does not drive the worker, when a task panics on the
/// thread that does.
#[test]
fn a_future_that_is_ready_after_a_task_panicked_during_its_poll_returns_no_output() {
    let scheduler = scheduler();
    let (driving, panicking) = (Signal::default(), Signal::default());
    let waits = panicking.clone();
    thread::scope(|scope| {
        let driver = scope.spawn(|| is_ended(|| scheduler.block_on(driving.clone())));
        wait_until(|| driving.polls() == 1);
        let task = scheduler.handle().spawn(async {
            waits.await;
            panics().await;
        });
        assert!(is_ended(|| scheduler.block_on(async {
            panicking.set();
            wait_until(|| task.is_finished());
        })));
        assert!(driver.join().unwrap());
    });
}

/// The same with hooks: another type of the scheduler reports the panic then.
#[test]
fn a_panic_of_a_task_with_hooks_shuts_the_scheduler_down() {
    for policy in POLICIES {
        let mut config = with_shutdown_on_panic(config_of(policy, 1));
        config.task_hooks.before_poll = Some(Arc::new(|_: &TaskMeta<'_>| ()));
        let (handle, mut workers) = Pool::stepped(config, None);
        let _current = handle.enter();
        let task = handle.spawn(panics());
        assert_eq!(workers[0].step(), Step::Ran);
        assert!(task.is_finished());
        assert_eq!(workers[0].step(), Step::Shutdown, "{policy:?}");
    }
}

/// The other tasks of the worker are ready, but no longer run.
#[test]
fn the_worker_whose_task_panicked_shuts_down_at_its_next_step() {
    for policy in POLICIES {
        let (handle, mut workers) =
            Pool::stepped(with_shutdown_on_panic(config_of(policy, 1)), None);
        let _current = handle.enter();
        let polls = Arc::default();
        for _ in 0..3 {
            drop(handle.spawn(SelfWaking(Arc::clone(&polls))));
        }
        let task = handle.spawn(panics());
        while !task.is_finished() {
            assert_eq!(workers[0].step(), Step::Ran);
        }
        assert_eq!(workers[0].step(), Step::Shutdown, "{policy:?}");
    }
}

/// What the tasks use may be gone after the shutdown.
#[test]
fn a_worker_that_is_run_after_shutdown_polls_no_task() {
    for policy in SHARING {
        let (handle, mut workers) =
            Pool::stepped(with_shutdown_on_panic(config_of(policy, 2)), None);
        let _current = handle.enter();
        drop(handle.spawn(panics()));
        let tracker = DropTracker::default();
        let polls = Arc::default();
        for _ in 0..3 {
            let (tracked, polled) = (tracker.tracked(), SelfWaking(Arc::clone(&polls)));
            drop(handle.spawn(async move {
                let _tracked = tracked;
                polled.await;
            }));
        }
        assert_eq!(workers[0].step(), Step::Ran);
        workers.pop().unwrap().run();
        assert_eq!(polls.load(SeqCst), 0, "{policy:?}");
        drop(workers);
        assert_eq!(tracker.alive(), 0);
    }
}

#[test]
fn a_panic_on_one_shard_shuts_all_down() {
    let (handle, mut workers) =
        Pool::stepped(with_shutdown_on_panic(config_of(Policy::Sharded, 2)), None);
    let _current = handle.enter();
    drop(handle.spawn_on(1, panics));
    assert_eq!(workers[1].step(), Step::Ran);
    assert!(handle.spawn_on(0, pending::<()>).is_finished());
    assert_eq!(workers[0].step(), Step::Shutdown);
}

/// The thread of the panicking task drives no worker by then.
#[test]
fn a_panic_after_the_worker_was_handed_off_shuts_the_scheduler_down() {
    let handoffs = Handoffs::default();
    let pool = handoffs.pool(with_shutdown_on_panic(config(1)));
    let task = pool.handle().spawn(async {
        block_in_place(|| {
            let handle = Handle::current();
            handle.block_on(handle.spawn(async {})).unwrap();
        });
        panics().await;
    });
    assert!(is_ended(|| pool.handle().block_on(pending())));
    // The task is cancelled at once.
    assert!(pool.handle().spawn(pending::<()>()).is_finished());
    wait_until(|| task.is_finished());
    drop(pool);
    handoffs.join();
}

#[test]
fn without_the_setting_a_panic_ends_only_its_task() {
    let scheduler = current_thread();
    let inside = scheduler.block_on(async {
        assert!(spawn(panics()).await.unwrap_err().is_panic());
        spawn(async { 7 }).await
    });
    assert_eq!(inside.unwrap(), 7);
}

/// A `block_on` that has returned is no longer woken, and its waker does not keep the scheduler
/// alive.
#[test]
fn a_block_on_that_has_returned_is_not_woken_by_a_panic() {
    let hook: Hook = Arc::new(|| ());
    let config = || Config {
        on_thread_park: Some(hook.clone()),
        ..with_shutdown_on_panic(config(1))
    };
    let scheduler = CurrentThread::new(config(), None);
    for _ in 0..3 {
        scheduler.block_on(async {});
    }
    drop(scheduler);
    assert_eq!(Arc::strong_count(&hook), 1);
}
