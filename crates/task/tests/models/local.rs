//! Models of local tasks: whatever other threads do to them, their futures are run and dropped by
//! the thread of their list, once.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model;
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;
use raddle_task::{JoinHandle, LocalList, LocalRunnable, ScheduleLocal};

/// The queue in which tasks wait for the thread of their list.
#[derive(Default)]
struct Queue(Mutex<Vec<LocalRunnable>>);

impl ScheduleLocal for Queue {
    fn schedule(&self, task: LocalRunnable) {
        self.0.lock().push(task);
    }
}

/// Never ready. Its polls and its drop write to memory that no other thread may touch meanwhile,
/// and that nothing orders but the task.
struct Witness {
    memory: std::rc::Rc<UnsafeCell<usize>>,
    waker: Arc<Mutex<Option<Waker>>>,
}

impl Witness {
    fn write(&self, add: usize) {
        // SAFETY: only this thread has it, and the model checks that.
        self.memory.with_mut(|count| unsafe { *count += add });
    }
}

impl Future for Witness {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.write(0);
        *self.waker.lock() = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.write(1);
    }
}

/// The list's thread cancels an idle task while another thread uses its reference to the task.
fn end_against(others: fn(Waker, JoinHandle<()>), waits: bool) {
    let (list, queue) = (LocalList::new(), Arc::new(Queue::default()));
    let (memory, waker) = (std::rc::Rc::new(UnsafeCell::new(0)), Arc::default());
    let witness = Witness {
        memory: memory.clone(),
        waker: Arc::clone(&waker),
    };
    let (task, handle) = list.spawn(witness, queue.clone());
    assert!(list.run(task).is_none());
    let waker = waker.lock().take().expect("the task was polled");
    let other = thread::spawn(move || others(waker, handle));
    list.abort_all(|task| queue.schedule(task));
    let run = || {
        let due = std::mem::take(&mut *queue.0.lock());
        for task in due {
            assert!(list.run(task).is_none());
        }
    };
    run();
    if waits && !list.is_empty() {
        // The woken task has not been pushed yet.
        other.join().unwrap();
        run();
    }
    assert!(list.is_empty(), "a task was left alive");
    // SAFETY: the future is gone.
    assert_eq!(memory.with(|count| unsafe { *count }), 1);
}

fn wake(waker: Waker, handle: JoinHandle<()>) {
    waker.wake();
    drop(handle);
}

/// All interleavings are explored.
#[test]
fn shutdown_against_a_wake() {
    model::check(|| end_against(wake, true));
}

/// All interleavings are explored.
#[test]
fn shutdown_against_a_wake_by_reference_and_an_abort() {
    model::check(|| {
        end_against(
            |waker, handle| {
                waker.wake_by_ref();
                handle.abort();
            },
            true,
        );
    });
}

/// A list that does not wait for a woken task is dropped before the task is pushed.
#[test]
#[should_panic(expected = "a task was left alive")]
fn canary_a_shutdown_that_does_not_wait_is_caught() {
    model::check(|| end_against(wake, false));
}
