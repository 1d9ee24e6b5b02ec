//! Tasks on real threads: every wake is followed by a poll that sees what was written before it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::task::{Poll, Waker};
use std::thread;

use crate::common::{Executor, Gate, join, poll_with};
use raddle_primitives::sync::Mutex;
use raddle_task::{Outcome, Runnable};

const ROUNDS: usize = 2_000;
const WAKERS: usize = 3;
const TASKS: usize = 4;

/// What the threads that wake share with a task.
#[derive(Default)]
struct Shared {
    /// How often each of the threads has counted; it wakes after each time.
    counts: [AtomicUsize; WAKERS],
    waker: Mutex<Option<Waker>>,
    first_poll: AtomicBool,
}

impl Shared {
    /// The same waker for all, as the first poll left it.
    fn waker(&self) -> Waker {
        while !self.first_poll.load(Ordering::Acquire) {
            thread::yield_now();
        }
        self.waker.lock().clone().unwrap()
    }
}

/// The counters are relaxed, so that only the wakes order them. A task that missed the last count
/// would never complete, and the runners not end.
#[test]
fn each_wake_is_followed_by_a_poll_that_sees_its_cause() {
    let executor = Executor::new();
    let shared: Vec<_> = (0..TASKS).map(|_| Arc::new(Shared::default())).collect();
    let handles: Vec<_> = shared
        .iter()
        .map(|shared| {
            let shared = shared.clone();
            let mut polls = 0_usize;
            executor.spawn(poll_fn(move |cx| {
                polls += 1;
                if polls == 1 {
                    *shared.waker.lock() = Some(cx.waker().clone());
                    shared.first_poll.store(true, Ordering::Release);
                }
                let done = |count: &AtomicUsize| count.load(Ordering::Relaxed) == ROUNDS;
                if shared.counts.iter().all(done) {
                    Poll::Ready(polls)
                } else {
                    Poll::Pending
                }
            }))
        })
        .collect();
    let aborts: Vec<_> = handles.iter().map(|handle| handle.abort_handle()).collect();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !aborts.iter().all(|task| task.is_finished()) {
                    if !executor.run_one() {
                        thread::yield_now();
                    }
                }
            });
        }
        for index in 0..WAKERS {
            let shared = &shared;
            scope.spawn(move || {
                let wakers: Vec<_> = shared.iter().map(|shared| shared.waker()).collect();
                for round in 1..=ROUNDS {
                    for (shared, waker) in shared.iter().zip(&wakers) {
                        shared.counts[index].store(round, Ordering::Relaxed);
                        if round % 2 == 0 {
                            waker.wake_by_ref();
                        } else {
                            let clone = waker.clone();
                            clone.wake();
                        }
                    }
                }
            });
        }
    });
    for handle in handles {
        let polls = join(handle).unwrap();
        assert!((2..=1 + WAKERS * ROUNDS).contains(&polls), "{polls} polls");
    }
    drop((aborts, shared));
    executor.check();
}

/// Tasks are aborted, joined and detached while two threads run them.
#[test]
fn each_task_ends_once() {
    let executor = Executor::new();
    let done = AtomicBool::new(false);
    let completed = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while executor.run_one() || !done.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            });
        }
        for index in 0..1_000 {
            let output = executor.outputs.one();
            let mut left = index % 3;
            let mut handle = executor.spawn(poll_fn(move |cx| {
                if left == 0 {
                    return Poll::Ready(output.clone());
                }
                left -= 1;
                cx.waker().wake_by_ref();
                Poll::Pending
            }));
            match index % 4 {
                0 => drop(handle),
                1 => handle.abort(),
                2 => {
                    let thread = thread::current();
                    let waker = Waker::from(Arc::new(Unpark(thread)));
                    while poll_with(&mut handle, &waker).is_pending() {
                        thread::park();
                    }
                    completed.fetch_add(1, Ordering::Relaxed);
                }
                _ => {
                    let abort = handle.abort_handle();
                    drop(handle);
                    abort.abort();
                }
            }
        }
        done.store(true, Ordering::Release);
    });
    assert_eq!(completed.into_inner(), 250);
    executor.check();
}

struct Unpark(thread::Thread);

impl std::task::Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// compio 948: a thread that wakes a task has queued it, and is held before its wake returns; the
/// task is polled and waits again. The wake of another thread then queues it once more.
#[test]
fn a_wake_that_has_not_returned_hides_no_other() {
    for by_value in [true, false] {
        let queue = Arc::new(Mutex::new(VecDeque::new()));
        let (entered, is_entered) = channel();
        let (release, released) = channel::<()>();
        let hold = Arc::new(Mutex::new(Some((entered, released))));
        let gate = Gate::default();
        let pushed = queue.clone();
        let (task, handle) = raddle_task::spawn(gate.clone(), move |task: Runnable| {
            pushed.lock().push_back(task);
            let first = hold.lock().take();
            if let Some((entered, released)) = first {
                entered.send(()).unwrap();
                released.recv().unwrap();
            }
        });
        let next = || queue.lock().pop_front().expect("a wake was lost");
        assert!(matches!(task.run(), Outcome::Idle));
        let held = gate.waker();
        let holder = thread::spawn(move || match by_value {
            true => held.wake(),
            false => held.wake_by_ref(),
        });
        is_entered.recv().unwrap();
        assert!(matches!(next().run(), Outcome::Idle));
        gate.waker().wake();
        gate.open();
        assert!(matches!(next().run(), Outcome::Complete));
        drop(handle);
        release.send(()).unwrap();
        holder.join().unwrap();
        drop(gate.waker());
        assert!(queue.lock().is_empty());
    }
}
