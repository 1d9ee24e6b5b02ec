//! A task's life: woken, run, joined or detached, and freed.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::common::{Executor, Gate, join, poll, poll_with};
use raddle_primitives::sync::Mutex;
use raddle_task::{CurrentLocalSet, LocalSet, Outcome, Runnable, blocking};
use raddle_testing::Wakes;

/// Wakes by value.
fn wake_a_clone(waker: &Waker) {
    let clone = waker.clone();
    clone.wake();
}

#[test]
fn a_task_is_joined_after_completion() {
    let executor = Executor::new();
    let output = executor.outputs.one();
    let handle = executor.spawn(async move { output });
    assert!(!handle.is_finished());
    executor.run();
    assert!(handle.is_finished());
    assert_eq!(executor.futures.get(), 0);
    drop(join(handle).unwrap());
    executor.check();
}

#[test]
fn a_task_is_joined_before_completion() {
    let executor = Executor::new();
    let mut handle = executor.spawn(async { 7 });
    let (wakes, waker) = Wakes::new();
    assert!(poll_with(&mut handle, &waker).is_pending());
    executor.run();
    assert_eq!(wakes.get(), 1);
    assert_eq!(join(handle).unwrap(), 7);
    executor.check();
    drop(waker);
    assert_eq!(Arc::strong_count(&wakes), 1);
}

#[test]
fn only_the_last_join_waker_is_woken() {
    let executor = Executor::new();
    let mut handle = executor.spawn(async {});
    let (first, first_waker) = Wakes::new();
    let (second, second_waker) = Wakes::new();
    assert!(poll_with(&mut handle, &first_waker).is_pending());
    assert!(poll_with(&mut handle, &second_waker).is_pending());
    assert!(poll_with(&mut handle, &second_waker).is_pending());
    assert_eq!(Arc::strong_count(&first), 2);
    assert_eq!(Arc::strong_count(&second), 3);
    executor.run();
    assert_eq!((first.get(), second.get()), (0, 1));
    join(handle).unwrap();
    executor.check();
}

#[test]
fn a_detached_task_runs_on_and_its_output_is_dropped() {
    let executor = Executor::new();
    let output = executor.outputs.one();
    let gate = Gate::default();
    let waiting = gate.clone();
    drop(executor.spawn(async move {
        waiting.await;
        output
    }));
    executor.run();
    assert_eq!(executor.futures.get(), 1);
    gate.open();
    gate.waker().wake();
    executor.run();
    drop(gate);
    executor.check();
}

#[test]
fn a_handle_dropped_after_completion_drops_the_output() {
    let executor = Executor::new();
    let output = executor.outputs.one();
    let handle = executor.spawn(async move { output });
    executor.run();
    assert_eq!(executor.outputs.get(), 1);
    drop(handle);
    executor.check();
}

#[test]
fn a_handle_dropped_with_a_waker_drops_the_waker() {
    let executor = Executor::new();
    let mut handle = executor.spawn(async {});
    let (wakes, waker) = Wakes::new();
    assert!(poll_with(&mut handle, &waker).is_pending());
    drop(waker);
    drop(handle);
    assert_eq!(Arc::strong_count(&wakes), 1);
    executor.run();
    assert_eq!(wakes.get(), 0);
    executor.check();
}

#[test]
#[should_panic(expected = "polled after it had completed")]
fn a_handle_polled_after_its_output_was_taken_panics() {
    let executor = Executor::new();
    let mut handle = executor.spawn(async {});
    executor.run();
    assert!(poll(&mut handle).is_ready());
    let _ = poll(&mut handle);
}

#[test]
fn a_task_woken_while_it_runs_is_returned_to_the_runner() {
    let executor = Executor::new();
    let mut polls = 0;
    let (task, handle) = executor.task(poll_fn(move |cx| {
        polls += 1;
        if polls == 2 {
            return Poll::Ready(polls);
        }
        cx.waker().wake_by_ref();
        wake_a_clone(cx.waker());
        Poll::Pending
    }));
    let Outcome::Again(task) = task.run() else {
        panic!("the wakes were lost");
    };
    assert_eq!(executor.queued(), 0);
    assert!(matches!(task.run(), Outcome::Complete));
    assert_eq!(join(handle).unwrap(), 2);
    executor.check();
}

/// Checks that a task that wakes itself in its first poll, and then calls `nested` in the same
/// poll, is polled again.
fn check_that_a_woken_task_runs_again(nested: impl FnOnce(&Executor) + Send + 'static) {
    let executor = Executor::new();
    let inner = executor.clone();
    let mut nested = Some(nested);
    let (task, handle) = executor.task(poll_fn(move |cx| match nested.take() {
        Some(nested) => {
            cx.waker().wake_by_ref();
            nested(&inner);
            Poll::Pending
        }
        None => Poll::Ready(()),
    }));
    let Outcome::Again(task) = task.run() else {
        panic!("the wake was lost");
    };
    assert!(matches!(task.run(), Outcome::Complete));
    join(handle).unwrap();
    executor.check();
}

#[test]
fn a_task_that_wakes_itself_and_runs_another_is_run_again() {
    check_that_a_woken_task_runs_again(|executor| {
        let (nested, handle) = executor.task(async {});
        assert!(matches!(nested.run(), Outcome::Complete));
        join(handle).unwrap();
    });
}

#[test]
fn a_task_that_wakes_itself_and_drops_a_finished_handle_is_run_again() {
    check_that_a_woken_task_runs_again(|executor| {
        let (nested, handle) = executor.task(async {});
        // On a thread that does not run the outer task.
        let finished = std::thread::spawn(move || drop(nested.run()));
        finished.join().unwrap();
        assert!(handle.is_finished());
        drop(handle);
    });
}

/// The other direction: the wake of the nested task does not wake the outer one.
#[test]
fn a_task_that_runs_one_that_wakes_itself_is_not_run_again() {
    let executor = Executor::new();
    let inner = executor.clone();
    let (task, handle) = executor.task(poll_fn(move |_| {
        let (nested, _) = inner.task(poll_fn(|cx| {
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        }));
        assert!(matches!(nested.run(), Outcome::Again(_)));
        Poll::<()>::Pending
    }));
    assert!(matches!(task.run(), Outcome::Idle));
    handle.abort();
    executor.run();
    drop(handle);
    executor.check();
}

#[test]
fn several_wakes_before_a_run_cause_one_run() {
    let executor = Executor::new();
    let gate = Gate::default();
    let handle = executor.spawn(gate.clone());
    executor.run();
    let waker = gate.waker();
    for _ in 0..3 {
        waker.wake_by_ref();
        wake_a_clone(&waker);
    }
    assert_eq!(executor.queued(), 1);
    executor.run();
    assert_eq!(gate.polls(), 2);
    gate.open();
    waker.wake();
    executor.run();
    join(handle).unwrap();
    drop(gate.waker());
    executor.check();
}

#[test]
fn wakers_outlive_the_task_and_the_last_frees_it() {
    let executor = Executor::new();
    let gate = Gate::default();
    gate.open();
    drop(executor.spawn(gate.clone()));
    executor.run();
    let wakers: Vec<_> = vec![gate.waker(); 4];
    let [first, second, third, fourth] = <[_; 4]>::try_from(wakers).unwrap();
    assert_eq!(executor.futures.get(), 0);
    first.wake_by_ref();
    drop(first);
    wake_a_clone(&second);
    second.wake();
    drop(third);
    assert_eq!(executor.cells.get(), 1);
    assert_eq!(executor.queued(), 0);
    fourth.wake();
    executor.check();
}

#[test]
fn a_dropped_runnable_cancels_the_task() {
    let executor = Executor::new();
    let (task, handle) = executor.task(std::future::pending::<()>());
    drop(task);
    assert_eq!(executor.futures.get(), 0);
    assert!(join(handle).unwrap_err().is_cancelled());
    executor.check();
}

#[test]
fn a_runnable_survives_as_a_pointer() {
    let executor = Executor::new();
    let (task, handle) = executor.task(async { 7 });
    let raw = task.into_raw();
    // SAFETY: it was just given up, and is taken back once.
    let task = unsafe { Runnable::from_raw(raw) };
    assert_eq!(task.id(), handle.id());
    assert!(matches!(task.run(), Outcome::Complete));
    assert_eq!(join(handle).unwrap(), 7);
    executor.check();
}

/// async-task 11: the closure that schedules is not freed while it runs.
#[test]
fn a_schedule_function_may_end_its_task() {
    for run in [true, false] {
        let gate = Gate::default();
        let waiting = gate.clone();
        let log = Arc::new(Mutex::new(Vec::new()));
        let text = String::from("captured");
        let written = log.clone();
        let schedule = move |task: Runnable| {
            if run {
                assert!(matches!(task.run(), Outcome::Complete));
            } else {
                drop(task);
            }
            written.lock().push(text.clone());
        };
        let (task, handle) = raddle_task::spawn(waiting, schedule);
        assert!(matches!(task.run(), Outcome::Idle));
        drop(handle);
        gate.open();
        gate.waker().wake();
        if run {
            drop(gate.waker());
        }
        assert_eq!(*log.lock(), ["captured"]);
        assert_eq!(Arc::strong_count(&log), 1, "the closure was leaked");
    }
}

#[test]
fn a_task_may_drop_its_own_handle() {
    let executor = Executor::new();
    let slot = Arc::new(Mutex::new(None));
    let own = slot.clone();
    let output = executor.outputs.one();
    let handle = executor.spawn(async move {
        drop(own.lock().take());
        output
    });
    *slot.lock() = Some(handle);
    executor.run();
    executor.check();
}

/// Bug: own. Without optimizations each function had a copy of the future in its frame. Here only
/// the caller has one, and the function that it calls.
#[test]
fn a_large_future_needs_a_small_stack() {
    const SIZE: usize = 256 << 10;
    if cfg!(not(target_pointer_width = "64")) {
        // On 32-bit targets the caller's code has further copies.
        return;
    }
    async fn large() -> u8 {
        let mut content = [1; SIZE];
        let mut is_first = true;
        poll_fn(|_| match std::mem::take(&mut is_first) {
            true => Poll::Pending,
            false => Poll::Ready(()),
        })
        .await;
        std::hint::black_box(&mut content)[7]
    }
    let on_stack = |name: &str, size: usize, f: fn()| {
        let thread = std::thread::Builder::new().name(name.to_owned());
        thread.stack_size(size).spawn(f).unwrap().join().unwrap();
    };
    let on_small_stack = |name: &str, f: fn()| on_stack(name, 5 * SIZE / 2, f);
    on_small_stack("spawn", || {
        let (task, handle) = raddle_task::spawn(large(), drop::<Runnable>);
        assert!(matches!(task.run(), Outcome::Idle));
        handle.abort();
    });
    on_small_stack("LocalSet::spawn_local", || {
        let set = LocalSet::new(|| true);
        let task = set.spawn_local(large());
        let _ = raddle_testing::poll_once(set);
        drop(task);
    });
    on_small_stack("CurrentLocalSet::spawn_local", || {
        let set = LocalSet::new(|| true);
        let _entered = set.enter();
        drop(CurrentLocalSet::get().unwrap().spawn_local(large()));
    });
    // The closure is made here, and moved out of its box to be called.
    on_stack("blocking::spawn", 5 * SIZE, || {
        let submit = |task: blocking::BlockingTask| {
            drop(task.into_runnable().run());
            Ok(())
        };
        let content = std::hint::black_box([1_u8; SIZE]);
        drop(blocking::spawn(
            move || std::hint::black_box(&content)[7],
            submit,
        ));
    });
}
