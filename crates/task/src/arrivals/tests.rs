use std::future::poll_fn;
use std::task::Poll;

use raddle_primitives::sync::Arc;
use raddle_primitives::thread;

use super::*;
use crate::{LocalList, ScheduleLocal};

#[derive(Default)]
struct Shared(Arrivals);

impl ScheduleLocal for Shared {
    fn schedule(&self, task: LocalRunnable) {
        self.0.push(task);
    }
}

/// The thread of the set blocks until a woken task has been pushed.
#[test]
fn an_arrival_ends_the_wait() {
    let (list, shared) = (LocalList::new(), Arc::new(Shared::default()));
    let given = Arc::new(Mutex::new(None));
    let gives = given.clone();
    let future = poll_fn(move |cx| match gives.lock().replace(cx.waker().clone()) {
        None => Poll::Pending,
        Some(_) => Poll::Ready(()),
    });
    let (task, handle) = list.spawn(future, shared.clone());
    assert!(list.run(task).is_none());
    let waker = given.lock().clone().expect("the task was polled");
    let arriving = thread::spawn({
        let shared = shared.clone();
        move || {
            while !shared.0.state.lock().waiting {
                thread::yield_now();
            }
            waker.wake();
        }
    });
    shared.0.wait();
    arriving.join().unwrap();
    assert!(!shared.0.state.lock().waiting);
    let mut due = VecDeque::new();
    shared.0.take(&mut due);
    assert_eq!(due.len(), 1);
    for task in due {
        assert!(list.run(task).is_none());
    }
    assert!(handle.is_finished());
}

/// Counts its wakes.
#[derive(Default)]
struct Count(std::sync::atomic::AtomicUsize);

impl std::task::Wake for Count {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn a_push_wakes_each_poller_that_registered_once() {
    let (list, shared) = (LocalList::new(), Arc::new(Shared::default()));
    let pollers: Vec<_> = (0..3)
        .map(|_| (shared.0.join(), std::sync::Arc::new(Count::default())))
        .collect();
    for (place, count) in &pollers[..2] {
        shared.0.register(*place, &Waker::from(count.clone()));
    }
    // A poller that has left is not woken, and its waker is dropped.
    let (left, count) = (shared.0.join(), std::sync::Arc::new(Count::default()));
    shared.0.register(left, &Waker::from(count.clone()));
    shared.0.leave(left);
    assert_eq!(std::sync::Arc::strong_count(&count), 1);
    for _ in 0..2 {
        let (task, _) = list.spawn(async {}, shared.clone());
        shared.0.push(task);
        let wakes = pollers
            .iter()
            .map(|(_, count)| count.0.load(std::sync::atomic::Ordering::Relaxed));
        assert_eq!(wakes.collect::<Vec<_>>(), [1, 1, 0]);
    }
    let mut due = VecDeque::new();
    shared.0.take(&mut due);
    assert_eq!(due.len(), 2);
    for task in due {
        assert!(list.run(task).is_none());
    }
}
