//! Local sets without any runtime.
#![cfg(not(raddle_loom))]

use std::cell::Cell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};

use raddle_task::{CurrentLocalSet, LocalSet};

/// A waker that counts.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

fn poll<F: Future>(future: Pin<&mut F>, wakes: &Arc<Wakes>) -> Poll<F::Output> {
    let waker = Waker::from(Arc::clone(wakes));
    future.poll(&mut Context::from_waker(&waker))
}

/// Adds tasks that count their runs.
fn spawn_counting(set: &LocalSet, tasks: usize) -> Rc<Cell<usize>> {
    let runs = Rc::new(Cell::new(0));
    for _ in 0..tasks {
        let runs = Rc::clone(&runs);
        drop(set.spawn_local(async move { runs.set(runs.get() + 1) }));
    }
    runs
}

#[test]
fn a_set_that_may_not_poll_on_runs_one_task_in_each_poll() {
    let mut set = LocalSet::new(|| false);
    let runs = spawn_counting(&set, 3);
    let wakes = Arc::new(Wakes::default());
    for run in 1..=3 {
        assert_eq!(poll(Pin::new(&mut set), &wakes).is_ready(), run == 3);
        assert_eq!(runs.get(), run);
        // Each poll that leaves tasks behind asks for the next.
        assert_eq!(wakes.0.load(SeqCst), run.min(2));
    }
    assert!(set.is_empty());
}

#[test]
fn a_set_that_may_poll_on_runs_all_tasks_in_one_poll() {
    let mut set = LocalSet::new(|| true);
    let runs = spawn_counting(&set, 3);
    assert_eq!(set.len(), 3);
    assert!(poll(Pin::new(&mut set), &Arc::default()).is_ready());
    assert_eq!((runs.get(), set.len()), (3, 0));
}

#[test]
fn the_current_set_is_polled_inside_and_only_entered_outside() {
    let set = LocalSet::new(|| true);
    assert!(CurrentLocalSet::get().is_none());
    {
        let _guard = set.enter();
        assert!(!CurrentLocalSet::get().unwrap().is_polled());
    }
    let inside = set.run_until(async { CurrentLocalSet::get().unwrap().is_polled() });
    assert_eq!(poll(pin!(inside), &Arc::default()), Poll::Ready(true));
    assert!(CurrentLocalSet::get().is_none());
}

#[test]
#[should_panic(expected = "a task of a LocalSet panicked")]
fn a_set_that_shuts_down_on_a_panic_panics_when_it_is_polled() {
    let mut set = LocalSet::new(|| true);
    set.shut_down_on_panic(true);
    let handle = set.spawn_local(async { panic!("the task's own message") });
    let _ = poll(Pin::new(&mut set), &Arc::default());
    drop(handle);
}

#[test]
fn a_future_that_was_not_polled_is_no_driver() {
    let set = LocalSet::new(|| true);
    let runs = spawn_counting(&set, 1);
    drop(set.run_until(async {}));
    assert_eq!(runs.get(), 0);
    assert!(poll(pin!(set.run_until(async {})), &Arc::default()).is_ready());
}
