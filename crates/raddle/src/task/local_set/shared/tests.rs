use std::future::poll_fn;
use std::task::Poll;

use raddle_std::sync::Arc;
use raddle_std::thread;
use raddle_task::LocalList;

use super::*;

/// The thread of the set blocks until a task that is on its way has arrived.
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
            while !shared.state.lock().waiting {
                thread::yield_now();
            }
            waker.wake();
        }
    });
    shared.wait();
    arriving.join().unwrap();
    assert!(!shared.state.lock().waiting);
    let mut due = VecDeque::new();
    shared.take(&mut due);
    assert!(due.len() == 1 && !shared.has_arrived());
    for task in due {
        assert!(list.run(task).is_none());
    }
    assert!(handle.is_finished());
}
