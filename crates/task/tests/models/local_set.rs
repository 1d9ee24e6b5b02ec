//! Models of a local set whose future and tasks other threads wake.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Poll, Waker};

use raddle_primitives::model::{Model, Race};
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::thread::{self, JoinHandle};
use raddle_task::{CurrentLocalSet, LocalSet};

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    thread::block_on(|cx| future.as_mut().poll(cx))
}

/// Waits until two threads have each set a flag and woken the future. Only the wakes order the
/// flags with the poll.
async fn woken_twice() {
    let flags: [Arc<AtomicBool>; 2] = std::array::from_fn(|_| Arc::default());
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    poll_fn(|cx| {
        if threads.is_empty() {
            threads.extend(flags.clone().map(|flag| wake(cx.waker().clone(), flag)));
        }
        // ORDERING: the wake's, which this is about.
        match flags.iter().all(|flag| flag.load(Ordering::Relaxed)) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

fn wake(waker: Waker, flag: Arc<AtomicBool>) -> JoinHandle<()> {
    thread::spawn(move || {
        // ORDERING: the wake's, which this is about.
        flag.store(true, Ordering::Relaxed);
        waker.wake();
    })
}

#[test]
fn two_wakes_of_the_future_that_is_run() {
    Model::new().preemptions(2).check(|| {
        let set = LocalSet::new(|| true);
        block_on(set.run_until(woken_twice()));
    });
}

#[test]
fn two_wakes_of_a_task() {
    Model::new().preemptions(2).check(|| {
        let set = LocalSet::new(|| true);
        let task = set.spawn_local(woken_twice());
        block_on(set.run_until(task)).unwrap();
    });
}

/// The set is dropped while another thread wakes a task of it.
#[test]
fn a_drop_against_a_wake_of_a_task() {
    Model::new().preemptions(2).check(|| {
        let set = LocalSet::new(|| true);
        let waker = block_on(set.run_until(async {
            let set = CurrentLocalSet::get().unwrap();
            let (mut waker, held) = (None, Arc::new(raddle_primitives::sync::Mutex::new(None)));
            let given = held.clone();
            drop(set.spawn_local(poll_fn(move |cx| {
                *given.lock() = Some(cx.waker().clone());
                Poll::<()>::Pending
            })));
            poll_fn(|cx| {
                waker = held.lock().take();
                if waker.is_none() {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(())
            })
            .await;
            waker.unwrap()
        }));
        let other = thread::spawn(move || waker.wake());
        drop(set);
        other.join().unwrap();
    });
}

/// What a thread does after its wake is not seen by the future that it has woken.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_a_wake_is_not_seen_by_the_woken_task() {
    Model::new().preemptions(2).check(|| {
        let race = Race::new();
        // The set runs on its own thread: when the model fails, it cannot drop the thread-local
        // variables of a parked thread.
        let driving = thread::spawn(move || {
            let mut foreign = None;
            let set = LocalSet::new(|| true);
            block_on(set.run_until(poll_fn(|cx| match foreign.take() {
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
            })));
        });
        driving.join().unwrap();
    });
}
