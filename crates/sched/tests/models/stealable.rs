//! Models of the stealable set: a worker that pushes, a searcher that removes this worker because
//! its queue was empty, and a worker that parks.

#[allow(dead_code, reason = "the crate uses more of it")]
// rustfmt would look for the tests of the file beside it.
#[rustfmt::skip]
#[path = "../../src/idle/stealable.rs"]
mod source;

use raddle_primitives::model::Model;
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use raddle_primitives::thread;
use source::StealableSet;

/// The worker that pushes.
const PUSHER: usize = 1;

struct Workers {
    set: StealableSet,
    /// The length of the pusher's queue.
    queued: AtomicUsize,
    parked: AtomicBool,
}

impl Workers {
    fn new(in_set: bool) -> Arc<Self> {
        let workers = Self {
            set: StealableSet::new(3),
            queued: AtomicUsize::new(0),
            parked: AtomicBool::new(false),
        };
        if in_set {
            workers.set.insert(PUSHER);
        }
        Arc::new(workers)
    }

    /// Pushes, and returns whether it sees a parked worker, which it would wake.
    fn push(&self) -> bool {
        self.queued.store(1, Ordering::Release);
        self.set.insert_and_fence(PUSHER);
        self.parked.load(Ordering::Relaxed)
    }

    fn is_empty(&self) -> bool {
        self.queued.load(Ordering::Acquire) == 0
    }

    /// Returns whether a search of the set finds the task.
    fn finds(&self) -> bool {
        let has_some = |worker| (worker == PUSHER && !self.is_empty()).then_some(());
        self.set.find_from(0, has_some).is_some()
    }

    /// Removes the pusher if its queue is empty, then searches again as the last searcher does, and
    /// returns whether it finds the task.
    fn search(&self, check: impl Fn(&Self) -> bool) -> bool {
        if self.is_empty() {
            self.set.remove_if(PUSHER, || check(self));
        }
        fence(Ordering::SeqCst);
        self.finds()
    }

    /// Parks, and returns whether the worker finds the task before it sleeps.
    fn park(&self) -> bool {
        self.parked.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.finds()
    }
}

#[test]
fn a_worker_with_a_task_is_in_the_set_after_a_searcher_has_removed_it() {
    Model::new().check(|| {
        let workers = Workers::new(true);
        let other = workers.clone();
        let pusher = thread::spawn(move || other.push());
        let _ = workers.search(Workers::is_empty);
        pusher.join().unwrap();
        assert!(workers.finds(), "the worker is not in the set");
    });
}

#[test]
fn a_worker_that_parks_finds_the_task_or_is_woken() {
    Model::new().check(|| {
        let workers = Workers::new(false);
        let other = workers.clone();
        let pusher = thread::spawn(move || other.push());
        let finds = workers.park();
        let wakes = pusher.join().unwrap();
        assert!(finds || wakes, "the task waits for ever");
    });
}

#[test]
fn a_worker_that_parks_beside_a_searcher_finds_the_task_or_is_woken() {
    Model::new().preemptions(3).check(|| {
        let workers = Workers::new(true);
        let (first, second) = (workers.clone(), workers.clone());
        let pusher = thread::spawn(move || first.push());
        let searcher = thread::spawn(move || second.search(Workers::is_empty));
        let finds = workers.park();
        let (wakes, steals) = (pusher.join().unwrap(), searcher.join().unwrap());
        assert!(finds || wakes || steals, "the task waits for ever");
        assert!(workers.finds(), "the worker is not in the set");
    });
}

/// The removal without the check after it.
#[test]
#[should_panic(expected = "the worker is not in the set")]
fn canary_a_removal_that_does_not_look_again_loses_the_task() {
    Model::new().check(|| {
        let workers = Workers::new(true);
        let other = workers.clone();
        let pusher = thread::spawn(move || other.push());
        let _ = workers.search(|_| true);
        pusher.join().unwrap();
        assert!(workers.finds(), "the worker is not in the set");
    });
}
