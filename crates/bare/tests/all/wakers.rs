//! Tests of wakers: no waker, on any thread, is left with a dangling pointer.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::process::Command;
use std::task::{Poll, Waker};
use std::thread;

use raddle_bare::{Array, Executor, Slab, Spawner};

/// Adds a clone of its waker to `kept` at each poll, and completes once `ready` is set.
async fn keep_waker(kept: &RefCell<Vec<Waker>>, ready: &Cell<bool>) {
    poll_fn(|cx| {
        kept.borrow_mut().push(cx.waker().clone());
        if ready.get() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or_default()
}

#[test]
fn a_waker_may_be_kept_until_its_task_ends() {
    let (kept, ready) = (RefCell::<Vec<Waker>>::default(), Cell::new(false));
    let polls = Cell::new(0);
    let spawner = Spawner::new();
    let executor = pin!(Executor::new(
        &spawner,
        Slab::with_capacity(1),
        async |()| {
            poll_fn(|cx| {
                polls.set(polls.get() + 1);
                if ready.get() {
                    kept.borrow_mut().clear();
                    return Poll::Ready(());
                }
                kept.borrow_mut().push(cx.waker().clone());
                Poll::Pending
            })
            .await;
        }
    ));
    let executor = executor.as_ref();
    executor.spawn(()).unwrap();
    assert!(executor.step() && !executor.step());
    let waker = kept.borrow()[0].clone();
    assert!(waker.will_wake(&kept.borrow()[0]));
    waker.wake_by_ref();
    waker.wake();
    assert!(
        executor.step() && !executor.step(),
        "two wakes cause one poll"
    );
    kept.borrow()[1].wake_by_ref();
    ready.set(true);
    let Ok(()) = executor.run(|_| Ok::<(), Infallible>(()));
    assert_eq!(polls.get(), 3);
}

#[test]
fn a_waker_that_outlives_its_task_panics_and_keeps_the_slot() {
    let (kept, ready) = (RefCell::<Vec<Waker>>::default(), Cell::new(true));
    let spawner = Spawner::new();
    let executor = pin!(Executor::new(
        &spawner,
        Array::<_, _, 1>::new(),
        async |keeps_waker| {
            if keeps_waker {
                keep_waker(&kept, &ready).await;
            }
        }
    ));
    let executor = executor.as_ref();
    executor.spawn(true).unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| executor.step())).unwrap_err();
    assert_eq!(
        message(&*panic),
        "1 wakers outlive their task; drop a waker before its task ends"
    );
    assert!(executor.is_empty());

    kept.borrow()[0].wake_by_ref();
    assert!(!executor.step(), "the task has ended");
    assert!(executor.spawn(false).unwrap_err().is_full());
    kept.borrow_mut().clear();
    executor.spawn(false).unwrap();
    assert!(executor.step());
}

#[test]
fn a_task_that_was_woken_as_it_ended_is_not_polled_again() {
    let spawner = Spawner::new();
    let executor = pin!(Executor::new(
        &spawner,
        Array::<_, _, 1>::new(),
        async |()| {
            poll_fn(|cx| {
                cx.waker().wake_by_ref();
                Poll::Ready(())
            })
            .await;
        }
    ));
    let executor = executor.as_ref();
    for _ in 0..3 {
        executor.spawn(()).unwrap();
        assert!(executor.step());
        assert!(!executor.step());
    }
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_waker_of_a_leaked_slab_does_nothing() {
    let (kept, ready) = (RefCell::<Vec<Waker>>::default(), Cell::new(false));
    let spawner = Spawner::new();
    {
        let executor = pin!(Executor::new(
            &spawner,
            Slab::with_capacity(2),
            async |()| {
                keep_waker(&kept, &ready).await;
            }
        ));
        executor.as_ref().spawn(()).unwrap();
        assert!(executor.as_ref().step());
    }
    let waker = kept.borrow()[0].clone();
    waker.wake_by_ref();
    waker.wake();
    kept.borrow_mut().clear();
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn using_a_waker_on_another_thread_panics() {
    let (kept, ready) = (RefCell::<Vec<Waker>>::default(), Cell::new(false));
    let spawner = Spawner::new();
    let executor = pin!(Executor::new(
        &spawner,
        Slab::with_capacity(1),
        async |()| {
            keep_waker(&kept, &ready).await;
        }
    ));
    let executor = executor.as_ref();
    executor.spawn(()).unwrap();
    assert!(executor.step());

    let uses: [fn(&Waker); 2] = [Waker::wake_by_ref, |waker| drop(waker.clone())];
    let waker = &kept.borrow_mut().pop().unwrap();
    for use_waker in uses {
        let panic = thread::scope(|scope| scope.spawn(|| use_waker(waker)).join()).unwrap_err();
        assert!(message(&*panic).contains("on another thread than its executor's"));
    }
    assert!(!executor.step(), "no task was woken");
    for consume in [Waker::wake as fn(Waker), drop] {
        let waker = waker.clone();
        let panic = thread::spawn(move || consume(waker)).join().unwrap_err();
        assert!(message(&*panic).contains("on another thread than its executor's"));
    }
    // The two clones still count, because other threads may hold them.
}

/// Set in the child process, which aborts.
const CHILD_PROCESS: &str = "RADDLE_BARE_WAKER_OUTLIVES_ARRAY";

#[test]
#[cfg_attr(miri, ignore = "Miri cannot start a process")]
fn a_waker_that_outlives_an_array_aborts_the_process() {
    if std::env::var_os(CHILD_PROCESS).is_some() {
        return keep_a_waker_of_an_array();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg("wakers::a_waker_that_outlives_an_array_aborts_the_process")
        .env(CHILD_PROCESS, "1")
        .output()
        .unwrap();
    let fail_fast = 0xC000_0409_u32 as i32;
    let code = cfg!(windows).then_some(fail_fast);
    assert_eq!(output.status.code(), code, "the child process aborts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("a waker outlives the executor that it points into"),
        "{stderr}"
    );
}

fn keep_a_waker_of_an_array() {
    let (kept, ready) = (RefCell::default(), Cell::new(false));
    let spawner = Spawner::new();
    let executor = pin!(Executor::new(
        &spawner,
        Array::<_, _, 1>::new(),
        async |()| keep_waker(&kept, &ready).await
    ));
    executor.as_ref().spawn(()).unwrap();
    executor.as_ref().step();
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_forgotten_waker_counts_as_one_that_outlives_its_task() {
    let spawner = Spawner::new();
    let executor = pin!(Executor::new(
        &spawner,
        Slab::with_capacity(1),
        async |()| {
            poll_fn(|cx| {
                std::mem::forget(cx.waker().clone());
                Poll::Ready(())
            })
            .await;
        }
    ));
    let executor = executor.as_ref();
    executor.spawn(()).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| executor.step())).is_err());
    assert!(executor.spawn(()).unwrap_err().is_full());
}

#[test]
fn an_unchecked_waker_wakes_its_task() {
    let (kept, ready) = (RefCell::<Vec<Waker>>::default(), Cell::new(false));
    let spawner = Spawner::new();
    let make = async |()| keep_waker(&kept, &ready).await;
    // SAFETY: the executor and its wakers stay on this thread.
    let executor = pin!(unsafe { Executor::new_unchecked(&spawner, Slab::with_capacity(1), make) });
    let executor = executor.as_ref();
    executor.spawn(()).unwrap();
    assert!(executor.step() && !executor.step());
    kept.borrow_mut().pop().unwrap().wake();
    assert!(executor.step() && !executor.step());
    kept.borrow_mut().clear();
}
