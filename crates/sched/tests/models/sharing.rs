//! Models of the queue of a pool's only worker, which takes from it exclusively except while spare
//! workers share it.

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model::Model;
use raddle_primitives::sync::atomic::{AtomicU32, Ordering};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;

#[rustfmt::skip]
#[path = "../../src/worker/sharing.rs"]
#[allow(dead_code, reason = "a model needs a part of it")]
mod source;

use source::Sharing;

/// A queue that is accessed with a lock while it is shared.
struct Queue {
    sharing: Sharing,
    polls: AtomicU32,
    ended: AtomicU32,
    lock: Mutex<()>,
    tasks: UnsafeCell<u32>,
}

// SAFETY: this is what the models check.
unsafe impl Sync for Queue {}

impl Queue {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            sharing: Sharing::exclusive(),
            polls: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            lock: Mutex::new(()),
            tasks: UnsafeCell::new(0),
        })
    }

    /// The worker takes a task, and polls it.
    fn step(&self, is_exclusive: bool) -> bool {
        let _guard = (!is_exclusive).then(|| self.lock.lock());
        // SAFETY: as above.
        self.tasks.with_mut(|tasks| unsafe { *tasks += 1 });
        drop(_guard);
        let polls = self.polls.load(Ordering::Relaxed) + 1;
        self.polls.store(polls, Ordering::Release);
        // The poll.
        self.ended.store(polls, Ordering::Release);
        self.sharing.end_poll()
    }

    fn is_in_poll(&self) -> bool {
        self.polls.load(Ordering::Acquire) != self.ended.load(Ordering::Acquire)
    }

    /// A spare worker takes a task, if the monitor may start it.
    fn take_if(&self, is_in_poll: impl FnOnce() -> bool) {
        if self.sharing.request(is_in_poll) {
            let _guard = self.lock.lock();
            // SAFETY: as above.
            self.tasks.with_mut(|tasks| unsafe { *tasks += 1 });
        }
    }
}

fn worker(queue: &Queue) {
    let mut is_exclusive = true;
    for _ in 0..3 {
        is_exclusive = queue.step(is_exclusive);
    }
}

#[test]
fn a_spare_worker_takes_only_while_the_worker_shares_its_queue() {
    Model::new().preemptions(3).check(|| {
        let queue = Queue::new();
        let theirs = queue.clone();
        let monitor = thread::spawn(move || theirs.take_if(|| theirs.is_in_poll()));
        worker(&queue);
        monitor.join().unwrap();
    });
}

#[test]
fn the_queue_is_exclusive_again_when_no_spare_worker_is_active() {
    Model::new().preemptions(2).check(|| {
        let queue = Queue::new();
        let theirs = queue.clone();
        let monitor = thread::spawn(move || {
            theirs.take_if(|| theirs.is_in_poll());
            theirs.sharing.end();
            theirs.take_if(|| theirs.is_in_poll());
        });
        worker(&queue);
        monitor.join().unwrap();
    });
}

/// The monitor goes on whether or not the worker is in a poll.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_spare_worker_that_takes_between_two_polls_races() {
    Model::new().check(|| {
        let queue = Queue::new();
        let theirs = queue.clone();
        let monitor = thread::spawn(move || {
            theirs.take_if(|| {
                let _ignored = theirs.is_in_poll();
                true
            });
        });
        worker(&queue);
        monitor.join().unwrap();
    });
}
