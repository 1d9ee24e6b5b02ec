//! Models of the current-thread scheduler: wakes from other threads, and the handover of the worker
//! between threads that block.

use std::future::poll_fn;
use std::task::Poll;

use raddle_primitives::model::{Model, Race};
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::thread;
use raddle_sched::{Config, CurrentThread, Pool};

fn check(body: impl Fn() + Send + Sync + 'static) {
    Model::new().preemptions(3).branches(20_000).check(body);
}

fn scheduler() -> Arc<CurrentThread> {
    Arc::new(CurrentThread::new(Config::default(), None))
}

/// A future that is pending once. Another thread wakes it.
async fn woken_by_a_thread() {
    let mut foreign = None;
    poll_fn(move |cx| match foreign.take() {
        None => {
            let waker = cx.waker().clone();
            foreign = Some(thread::spawn(move || waker.wake()));
            Poll::Pending
        }
        Some(thread) => {
            thread.join().unwrap();
            Poll::Ready(())
        }
    })
    .await;
}

#[test]
fn a_remote_wake_of_the_future() {
    check(|| scheduler().block_on(woken_by_a_thread()));
}

#[test]
fn a_remote_wake_of_a_task() {
    check(|| {
        let scheduler = scheduler();
        let task = scheduler.handle().spawn(woken_by_a_thread());
        scheduler.block_on(task).unwrap();
    });
}

/// A future that wakes itself while another thread wakes it too. The second wake may find the first
/// still pending. The future must still see what the other thread wrote.
async fn woken_twice() {
    let flag = Arc::new(AtomicBool::new(false));
    let mut foreign = None;
    poll_fn(|cx| {
        if foreign.is_none() {
            let (waker, flag) = (cx.waker().clone(), flag.clone());
            foreign = Some(thread::spawn(move || {
                // ORDERING: Relaxed: the wake that follows makes the store visible.
                flag.store(true, Ordering::Relaxed);
                waker.wake();
            }));
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        match flag.load(Ordering::Relaxed) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    foreign.expect("the first poll set it").join().unwrap();
}

#[test]
fn two_wakes_at_once_on_the_current_thread() {
    check(|| scheduler().block_on(woken_twice()));
}

/// rayon 739: one of the wakes may finish after the blocked thread has gone on.
#[test]
fn two_wakes_at_once_on_a_thread_that_drives_nothing() {
    check(|| {
        let (handle, workers) = Pool::stepped(Config::default(), None);
        handle.block_on(woken_twice());
        drop(workers);
    });
}

#[test]
fn a_remote_spawn() {
    check(|| {
        let scheduler = scheduler();
        let handle = scheduler.handle().clone();
        let mut spawner = None;
        let task = scheduler.block_on(poll_fn(|cx| match spawner.take() {
            None => {
                let (handle, waker) = (handle.clone(), cx.waker().clone());
                spawner = Some(thread::spawn(move || {
                    let task = handle.spawn(async {});
                    waker.wake();
                    task
                }));
                Poll::Pending
            }
            Some(spawner) => Poll::Ready(spawner.join().unwrap()),
        }));
        scheduler.block_on(task).unwrap();
    });
}

/// Two threads block on one scheduler. The thread that finishes first hands the worker over.
#[test]
fn two_threads_block_on_one_worker() {
    check(|| {
        let scheduler = scheduler();
        let task = scheduler.handle().spawn(async {});
        let other = {
            let scheduler = scheduler.clone();
            thread::spawn(move || scheduler.block_on(async {}))
        };
        scheduler.block_on(task).unwrap();
        other.join().unwrap();
    });
}

/// Both threads wait for tasks. The thread without the worker must get it, or the other thread must
/// run its task.
#[test]
fn two_threads_wait_for_tasks() {
    check(|| {
        let scheduler = scheduler();
        let tasks = [(); 2].map(|()| scheduler.handle().spawn(async {}));
        let [first, second] = tasks;
        let other = {
            let scheduler = scheduler.clone();
            thread::spawn(move || scheduler.block_on(first).unwrap())
        };
        scheduler.block_on(second).unwrap();
        other.join().unwrap();
    });
}

/// A woken future does not see what the waking thread does after the wake.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_a_wake_is_not_seen_by_the_woken_task() {
    check(|| {
        let race = Race::new();
        // The scheduler runs on its own thread: when the model fails, it cannot drop the
        // thread-local variables of a parked thread.
        let driving = thread::spawn(move || {
            let mut foreign = None;
            scheduler().block_on(poll_fn(|cx| match foreign.take() {
                None => {
                    let (waker, theirs) = (cx.waker().clone(), race.clone());
                    foreign = Some(thread::spawn(move || {
                        waker.wake();
                        theirs.first();
                    }));
                    Poll::Pending
                }
                Some(thread) => {
                    race.second();
                    thread.join().unwrap();
                    Poll::Ready(())
                }
            }));
        });
        driving.join().unwrap();
    });
}
