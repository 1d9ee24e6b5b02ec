//! Sets of join handles without any runtime.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use crate::common::{Executor, Gate};
use raddle_leaf::coop::{budget, has_budget_remaining, try_proceed};
use raddle_task::JoinError;
use raddle_testing::Wakes;

/// A set for tasks that the test spawns itself.
type JoinSet<T> = raddle_task::JoinSet<T, ()>;

fn poll_next<T: 'static>(set: &mut JoinSet<T>, waker: &Waker) -> Poll<Option<T>> {
    let polled = set.poll_join_next(&mut Context::from_waker(waker));
    polled.map(|output| output.map(Result::unwrap))
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn ended<T>(poll: Poll<T>) -> T {
    match poll {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

#[test]
fn tasks_are_joined_in_the_order_in_which_they_end() {
    let executor = Executor::new();
    let mut set = JoinSet::new();
    assert!(set.is_empty());
    let gates: [Gate; 3] = Default::default();
    for (number, gate) in gates.iter().cloned().enumerate() {
        set.insert(executor.spawn(async move {
            gate.await;
            number
        }));
    }
    executor.run();
    assert_eq!((set.len(), set.is_empty()), (3, false));
    let (wakes, waker) = Wakes::new();
    assert!(poll_next(&mut set, &waker).is_pending());
    assert_eq!(wakes.get(), 0);
    for (number, gate) in gates.iter().enumerate().rev() {
        gate.open();
        gate.waker().wake();
        executor.run();
        assert_eq!(wakes.get(), 3 - number);
        assert_eq!(poll_next(&mut set, &waker), Poll::Ready(Some(number)));
        assert_eq!(set.len(), number);
        assert_eq!(poll_next(&mut set, &waker).is_pending(), number > 0);
    }
    assert_eq!(poll_next(&mut set, &waker), Poll::Ready(None));
    drop(gates);
    executor.check();
}

/// The task's completion woke no set, since the task was in none.
#[test]
fn a_task_that_ended_before_it_was_put_in_is_joined() {
    let executor = Executor::new();
    let mut set = JoinSet::new();
    let handle = executor.spawn(async { 7 });
    executor.run();
    set.insert(handle);
    assert_eq!(ended(poll(pin!(set.join_next()))).unwrap().unwrap(), 7);
    assert!(ended(poll(pin!(set.join_next()))).is_none());
}

#[test]
fn joining_with_id_returns_the_id_of_the_task() {
    let executor = Executor::new();
    let mut set = JoinSet::new();
    let mut expected = Vec::new();
    for number in 0..3 {
        let handle = executor.spawn(async move { number });
        expected.push((handle.id(), number));
        set.insert(handle);
    }
    executor.run();
    let mut cx = Context::from_waker(Waker::noop());
    let first = ended(poll(pin!(set.join_next_with_id())));
    let second = set.try_join_next_with_id();
    let third = ended(set.poll_join_next_with_id(&mut cx));
    let outputs = [first, second, third].map(|output| output.unwrap().unwrap());
    assert_eq!(outputs[..], expected);
    assert!(ended(poll(pin!(set.join_next_with_id()))).is_none());
}

#[test]
fn try_join_next_returns_only_completed_tasks() {
    let executor = Executor::new();
    let mut set = JoinSet::new();
    assert!(set.try_join_next().is_none());
    let gate = Gate::default();
    let waits = gate.clone();
    set.insert(executor.spawn(async move {
        waits.await;
        1
    }));
    set.insert(executor.spawn(async { 2 }));
    executor.run();
    assert_eq!(set.try_join_next().unwrap().unwrap(), 2);
    assert!(set.try_join_next().is_none());
    gate.open();
    gate.waker().wake();
    executor.run();
    // The same with no budget left.
    let output = budget(|| {
        while let Some(unit) = try_proceed() {
            unit.made_progress();
        }
        set.try_join_next()
    });
    assert_eq!(output.unwrap().unwrap(), 1);
    assert!(set.is_empty());
}

#[test]
fn joining_without_budget_asks_for_another_poll() {
    let executor = Executor::new();
    let mut set = JoinSet::new();
    set.insert(executor.spawn(async { 7 }));
    executor.run();
    let (wakes, waker) = Wakes::new();
    budget(|| {
        while has_budget_remaining() {
            try_proceed().unwrap().made_progress();
        }
        assert!(poll_next(&mut set, &waker).is_pending());
    });
    assert_eq!(wakes.get(), 1);
    assert_eq!(poll_next(&mut set, &waker), Poll::Ready(Some(7)));
}

/// A poll without budget polls no member, and does not change their order.
#[test]
fn a_poll_without_budget_keeps_the_order_of_completion() {
    let executor = Executor::new();
    let mut set = JoinSet::new();
    for number in 0..3 {
        set.insert(executor.spawn(async move { number }));
    }
    executor.run();
    budget(|| {
        while has_budget_remaining() {
            try_proceed().unwrap().made_progress();
        }
        assert!(poll_next(&mut set, Waker::noop()).is_pending());
    });
    let outputs = [(); 3].map(|()| poll_next(&mut set, Waker::noop()));
    assert_eq!(outputs, [0, 1, 2].map(|number| Poll::Ready(Some(number))));
}

#[test]
fn joining_an_empty_set_takes_from_the_budget() {
    let mut set = JoinSet::<()>::new();
    let joins = budget(|| {
        let joins = 0..1_000;
        joins
            .take_while(|_| poll_next(&mut set, Waker::noop()).is_ready())
            .count()
    });
    assert_eq!(joins, 128);
}

#[test]
fn a_join_that_waits_takes_nothing_from_the_budget() {
    let executor = Executor::new();
    let mut set = JoinSet::new();
    let abort = set.insert(executor.spawn(std::future::pending::<()>()));
    budget(|| {
        for _ in 0..1_000 {
            assert!(poll_next(&mut set, Waker::noop()).is_pending());
        }
        assert!(has_budget_remaining());
    });
    abort.abort();
    executor.run();
}

#[test]
fn joining_all_gives_the_outputs() {
    let executor = Executor::new();
    let mut set = JoinSet::new();
    for number in 0..3 {
        set.insert(executor.spawn(async move { number }));
    }
    let mut outputs = pin!(set.join_all());
    assert!(poll(outputs.as_mut()).is_pending());
    executor.run();
    assert_eq!(ended(poll(outputs)), [0, 1, 2]);
    executor.check();
}

#[test]
fn joining_all_panics_if_a_task_has_panicked_or_was_aborted_and_aborts_the_others() {
    let executor = Executor::new();
    for aborts in [false, true] {
        let mut set = JoinSet::new();
        let handle = executor.spawn(async { std::panic::resume_unwind(Box::new("on purpose")) });
        let first = set.insert(handle);
        if aborts {
            first.abort();
        }
        drop(first);
        set.insert(executor.spawn(std::future::pending()));
        executor.run();
        let joined = catch_unwind(AssertUnwindSafe(|| poll(pin!(set.join_all()))));
        let payload = joined.unwrap_err();
        match payload.downcast::<&str>() {
            Ok(text) => assert!(*text == "on purpose" && !aborts),
            Err(payload) => {
                let text = payload.downcast::<String>().unwrap();
                assert!(text.contains("was aborted") && aborts, "{text}");
            }
        }
        executor.run();
        executor.check();
    }
}

#[test]
fn a_shutdown_ends_all_tasks_and_waits_for_them() {
    let executor = Executor::new();
    let mut set = JoinSet::new();
    for _ in 0..3 {
        set.insert(executor.spawn(std::future::pending::<()>()));
    }
    executor.run();
    {
        let mut shutdown = pin!(set.shutdown());
        assert!(poll(shutdown.as_mut()).is_pending());
        executor.run();
        assert!(poll(shutdown).is_ready());
    }
    assert!(set.is_empty());
    executor.check();
}

#[test]
fn aborted_tasks_stay_until_they_are_joined() {
    let executor = Executor::new();
    let mut set = JoinSet::new();
    for _ in 0..2 {
        set.insert(executor.spawn(std::future::pending::<()>()));
    }
    executor.run();
    set.abort_all();
    executor.run();
    assert_eq!(set.len(), 2);
    let errors: Vec<JoinError> = std::iter::from_fn(|| set.try_join_next())
        .map(Result::unwrap_err)
        .collect();
    assert!(errors.len() == 2 && errors.iter().all(JoinError::is_cancelled));
}

#[test]
fn a_set_that_is_dropped_aborts_its_tasks() {
    let executor = Executor::new();
    let mut set = JoinSet::new();
    set.insert(executor.spawn(std::future::pending::<()>()));
    executor.run();
    assert_eq!(executor.futures.get(), 1);
    drop(set);
    executor.run();
    executor.check();
}

/// The set does not check detached tasks later.
#[test]
fn detached_tasks_run_on_and_leave_nothing_in_the_set() {
    let executor = Executor::new();
    let mut set = JoinSet::new();
    for _ in 0..1_000 {
        set.insert(executor.spawn(async {}));
    }
    set.detach_all();
    assert!(set.is_empty());
    set.insert(executor.spawn(std::future::pending()));
    let (wakes, waker) = Wakes::new();
    assert!(poll_next(&mut set, &waker).is_pending());
    assert_eq!(wakes.get(), 0, "the set checked more than one task");
    assert_eq!(executor.futures.get(), 1_001);
    executor.run();
    assert_eq!(executor.futures.get(), 1);
    drop(set);
    executor.run();
    executor.check();
}
