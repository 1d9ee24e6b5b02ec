//! Tasks that stay on the thread that spawned them.

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::thread;

use crate::common::{Gate, join};
use raddle_primitives::sync::Mutex;
use raddle_task::{LocalList, LocalRunnable, ScheduleLocal};
use static_assertions::{assert_impl_all, assert_not_impl_any};

assert_not_impl_any!(LocalList: Send, Sync);
assert_impl_all!(LocalRunnable: Send);
assert_not_impl_any!(LocalRunnable: Clone, Sync);

#[derive(Default)]
struct Queue(Mutex<VecDeque<LocalRunnable>>);

impl ScheduleLocal for Queue {
    fn schedule(&self, task: LocalRunnable) {
        self.0.lock().push_back(task);
    }
}

impl Queue {
    fn pop(&self) -> Option<LocalRunnable> {
        self.0.lock().pop_front()
    }

    fn run(&self, list: &LocalList) {
        while let Some(task) = self.pop() {
            if let Some(again) = list.run(task) {
                self.schedule(again);
            }
        }
    }
}

/// Notes the thread that drops it.
struct DroppedOn(Rc<Cell<Option<thread::ThreadId>>>);

impl Drop for DroppedOn {
    fn drop(&mut self) {
        assert!(
            self.0.replace(Some(thread::current().id())).is_none(),
            "something was dropped twice"
        );
    }
}

#[test]
fn joining_a_task_that_is_not_send_returns_its_output() {
    let (list, queue) = (LocalList::new(), Arc::new(Queue::default()));
    let rc = Rc::new(7);
    let output = rc.clone();
    let (task, handle) = list.spawn(async move { output }, queue);
    assert_eq!(list.len(), 1);
    assert!(list.run(task).is_none());
    assert!(list.is_empty());
    assert_eq!(*join(handle).unwrap(), 7);
    assert_eq!(Rc::strong_count(&rc), 1);
}

#[test]
fn a_wake_and_an_abort_on_another_thread_return_the_task_to_its_list() {
    for abort in [false, true] {
        let (list, queue) = (LocalList::new(), Arc::new(Queue::default()));
        let (gate, dropped) = (Gate::default(), Rc::default());
        let (gated, witness) = (gate.clone(), DroppedOn(Rc::clone(&dropped)));
        let (task, handle) = list.spawn(
            async move {
                let _witness = witness;
                gated.await;
            },
            queue.clone(),
        );
        assert!(list.run(task).is_none());
        let waker = gate.waker();
        let aborter = handle.abort_handle();
        thread::spawn(move || {
            if abort {
                aborter.abort();
            } else {
                gate.open();
            }
            waker.wake();
        })
        .join()
        .unwrap();
        // Nothing has run there.
        assert_eq!(dropped.get(), None);
        queue.run(&list);
        assert_eq!(dropped.get(), Some(thread::current().id()));
        assert!(list.is_empty());
        assert_eq!(join(handle).is_err(), abort);
    }
}

#[test]
fn a_task_woken_while_it_runs_is_given_back() {
    let (list, queue) = (LocalList::new(), Arc::new(Queue::default()));
    let mut polls = 0;
    let woken_twice = poll_fn(move |cx| {
        polls += 1;
        if polls == 3 {
            return Poll::Ready(polls);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    });
    let (task, handle) = list.spawn(woken_twice, queue.clone());
    let again = list.run(task).expect("it woke itself");
    let again = list.run(again).expect("it woke itself");
    assert!(list.run(again).is_none() && queue.pop().is_none());
    assert_eq!(join(handle).unwrap(), 3);
}

#[test]
fn abort_all_ends_tasks_whose_wakers_are_kept() {
    let (list, queue) = (LocalList::new(), Arc::new(Queue::default()));
    let (wakers, rc) = (Rc::new(Cell::new(Vec::new())), Rc::new(()));
    let mut handles = Vec::new();
    for _ in 0..3 {
        let (wakers, rc) = (wakers.clone(), rc.clone());
        let future = async move {
            let _rc = rc;
            poll_fn(|cx| {
                let mut all: Vec<Waker> = wakers.take();
                all.push(cx.waker().clone());
                wakers.set(all);
                Poll::<()>::Pending
            })
            .await;
        };
        let (task, handle) = list.spawn(future, queue.clone());
        assert!(list.run(task).is_none());
        handles.push(handle);
    }
    // One is on its way while the list ends.
    let wakers = wakers.take();
    wakers[0].wake_by_ref();
    list.abort_all(|task| queue.schedule(task));
    assert_eq!(queue.0.lock().len(), 3);
    queue.run(&list);
    assert!(list.is_empty());
    assert_eq!(Rc::strong_count(&rc), 1);
    drop(list);
    thread::spawn(move || {
        for waker in wakers {
            waker.wake_by_ref();
            waker.wake();
        }
    })
    .join()
    .unwrap();
    assert!(queue.pop().is_none());
    for handle in handles {
        assert!(join(handle).unwrap_err().is_cancelled());
    }
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn running_a_local_task_on_another_list_panics() {
    let (list, queue) = (LocalList::new(), Arc::new(Queue::default()));
    let other = LocalList::new();
    let (task, handle) = list.spawn(async {}, queue);
    let ran = catch_unwind(AssertUnwindSafe(|| other.run(task)));
    let message = *ran.unwrap_err().downcast::<&'static str>().unwrap();
    assert_eq!(
        message,
        "a local task must be run by the list that spawned it"
    );
    assert!(!handle.is_finished());
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_list_dropped_with_unfinished_tasks_leaks_them() {
    let (list, queue) = (LocalList::new(), Arc::new(Queue::default()));
    let dropped = Rc::default();
    let witness = DroppedOn(Rc::clone(&dropped));
    let future = async move {
        let _witness = witness;
        pending::<()>().await;
    };
    let (task, handle) = list.spawn(future, queue);
    thread::spawn(move || drop(task)).join().unwrap();
    drop(list);
    assert_eq!(dropped.get(), None);
    assert!(!handle.is_finished());
}

/// Counts the panics that are reported to the scheduler.
#[derive(Default)]
struct Panics(Mutex<usize>);

impl ScheduleLocal for Panics {
    fn schedule(&self, task: LocalRunnable) {
        drop(task);
    }

    fn panicked(&self) {
        *self.0.lock() += 1;
    }
}

#[test]
fn a_scheduler_of_local_tasks_is_notified_of_a_panic() {
    let (list, panics) = (LocalList::new(), Arc::new(Panics::default()));
    let (task, handle) = list.spawn(
        async { std::panic::resume_unwind(Box::new(())) },
        panics.clone(),
    );
    assert!(list.run(task).is_none());
    assert!(join::<()>(handle).unwrap_err().is_panic());
    assert_eq!(*panics.0.lock(), 1);
}

#[test]
fn a_list_counts_its_tasks() {
    let (list, queue) = (LocalList::new(), Arc::new(Queue::default()));
    assert!(list.is_empty());
    for count in 1..=3 {
        let (task, _handle) = list.spawn(pending::<()>(), queue.clone());
        assert!(list.run(task).is_none());
        assert_eq!((list.len(), list.is_empty()), (count, false));
    }
    list.abort_all(|task| queue.schedule(task));
    queue.run(&list);
    assert_eq!((list.len(), list.is_empty()), (0, true));
}
