//! Models of the idle protocol without queues: workers that search, run tasks and park; the tasks
//! are a count. A lost wake-up leaves all workers parked, which loom reports as a deadlock.

#[allow(dead_code, reason = "the crate uses more of it")]
// rustfmt would look for the tests of the file beside it.
#[rustfmt::skip]
#[path = "../../src/idle/set.rs"]
pub(crate) mod source;

use raddle_primitives::model::Model;
use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use raddle_primitives::sync::{Arc, Condvar, Mutex};
use raddle_primitives::thread::{self, JoinHandle};
use source::{IdleSet, Parking};

/// The parker of one worker.
#[derive(Default)]
struct Parker {
    is_unparked: Mutex<bool>,
    changed: Condvar,
}

impl Parker {
    fn unpark(&self) {
        *self.is_unparked.lock() = true;
        self.changed.notify_one();
    }

    fn park(&self) {
        let mut is_unparked = self.is_unparked.lock();
        while !*is_unparked {
            is_unparked = self.changed.wait(is_unparked);
        }
        *is_unparked = false;
    }
}

struct Workers {
    idle: IdleSet,
    /// The number of queued tasks, read without a lock, like the length of a queue.
    queued: AtomicUsize,
    /// The number of tasks that have not run.
    left: AtomicUsize,
    parkers: Vec<Parker>,
}

impl Workers {
    fn new(workers: usize, tasks: usize) -> Arc<Self> {
        Arc::new(Self {
            idle: IdleSet::new(workers),
            queued: AtomicUsize::new(0),
            left: AtomicUsize::new(tasks),
            parkers: (0..workers).map(|_| Parker::default()).collect(),
        })
    }

    fn push(&self) {
        self.queued.fetch_add(1, Ordering::Release);
        self.notify();
    }

    fn notify(&self) {
        if let Some(worker) = self.idle.claim_to_wake(|| None) {
            self.parkers[worker].unpark();
        }
    }

    fn take(&self) -> bool {
        self.queued
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, |queued| {
                queued.checked_sub(1)
            })
            .is_ok()
    }

    fn is_done(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    fn run(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.parkers.iter().for_each(Parker::unpark);
        }
    }

    /// Runs a worker as `Worker::run` does, without queues.
    fn work(&self, worker: usize) {
        let mut searching = false;
        while !self.is_done() {
            searching = searching || self.idle.transition_to_searching(worker);
            if searching && self.take() {
                if self.idle.end_search(worker) && self.queued.load(Ordering::Acquire) > 0 {
                    self.notify();
                }
                searching = false;
                self.run();
                continue;
            }
            if self.idle.transition_to_parked(worker, searching) == Parking::RecheckQueues
                && (self.queued.load(Ordering::Acquire) > 0 || self.is_done())
            {
                self.idle.cancel_parking(worker);
                searching = true;
                thread::yield_now();
                continue;
            }
            self.parkers[worker].park();
            searching = self.idle.transition_to_running(worker);
        }
    }

    fn start(this: &Arc<Self>) -> Vec<JoinHandle<()>> {
        (0..this.parkers.len())
            .map(|worker| {
                let workers = this.clone();
                thread::spawn(move || workers.work(worker))
            })
            .collect()
    }
}

fn model(preemptions: Option<usize>, workers: usize, tasks: usize) {
    let model = match preemptions {
        Some(preemptions) => Model::new().preemptions(preemptions),
        None => Model::new(),
    };
    model.branches(10_000).check(move || {
        let workers = Workers::new(workers, tasks);
        let threads = Workers::start(&workers);
        for _ in 0..tasks {
            workers.push();
        }
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(workers.queued.load(Ordering::Relaxed), 0);
    });
}

/// tokio 1788: a push by another thread against the last worker that parks.
#[test]
fn a_push_against_the_last_worker_going_to_sleep() {
    model(None, 1, 1);
}

#[test]
fn two_pushes_against_one_worker() {
    model(None, 1, 2);
}

/// The throttle prevents the second worker from searching; it may be the only worker awake when it
/// parks.
#[test]
fn a_push_against_two_workers() {
    model(Some(3), 2, 1);
}

/// tokio 4383: a second push while the searcher is about to run a task or to park.
#[test]
fn two_pushes_against_two_workers() {
    model(Some(3), 2, 2);
}

/// The third worker is in another group.
#[test]
fn a_push_against_three_workers() {
    model(Some(2), 3, 1);
}

/// A worker returns by itself while a thread claims it (tokio 8372): the counts are right
/// afterwards.
#[test]
fn a_worker_returns_or_is_claimed() {
    Model::new().check(|| {
        let idle = Arc::new(IdleSet::new(2));
        assert_eq!(idle.transition_to_parked(0, false), Parking::RecheckQueues);
        let notifier = {
            let idle = idle.clone();
            thread::spawn(move || idle.claim_to_wake(|| None))
        };
        let claimed = idle.transition_to_running(0);
        assert_eq!(notifier.join().unwrap(), claimed.then_some(0));
        if claimed {
            assert!(idle.end_search(0));
        }
        assert!(idle.claim_to_wake(|| None).is_none());
        assert_eq!(idle.transition_to_parked(0, false), Parking::RecheckQueues);
        assert_eq!(idle.claim_to_wake(|| None), Some(0));
        assert!(idle.end_search(0));
    });
}

/// A worker that finds work before it blocks becomes a searcher, whether it has been claimed or
/// not. All interleavings are explored.
#[test]
fn a_worker_cancels_its_parking_or_is_claimed() {
    Model::new().check(|| {
        let idle = Arc::new(IdleSet::new(2));
        let _ = idle.transition_to_parked(0, false);
        let notifier = {
            let idle = idle.clone();
            thread::spawn(move || idle.claim_to_wake(|| None))
        };
        idle.cancel_parking(0);
        assert!(matches!(notifier.join().unwrap(), None | Some(0)));
        assert!(!idle.is_parked(0) && idle.end_search(0));
    });
}

/// Pushes a task on another thread, which returns whether it woke a worker.
fn push(idle: &Arc<IdleSet>, queued: &Arc<AtomicBool>) -> JoinHandle<bool> {
    let (idle, queued) = (idle.clone(), queued.clone());
    thread::spawn(move || {
        queued.store(true, Ordering::Relaxed);
        idle.claim_to_wake(|| None).is_some()
    })
}

/// The fences of a push and of a worker that parks, without the other steps: the worker sees the
/// task, or the pusher sees the parked worker, in either group. All interleavings are explored.
#[test]
fn a_worker_that_parks_sees_the_push_or_is_woken() {
    for (worker, searches) in [(0, false), (0, true), (2, false), (2, true)] {
        Model::new().check(move || {
            let idle = Arc::new(IdleSet::new(4));
            let queued = Arc::new(AtomicBool::new(false));
            let searching = searches && idle.transition_to_searching(worker);
            let pusher = push(&idle, &queued);
            let rechecks = idle.transition_to_parked(worker, searching) == Parking::RecheckQueues;
            let sees = rechecks && queued.load(Ordering::Relaxed);
            let wakes = pusher.join().unwrap();
            assert!(sees || wakes, "the task waits for ever");
        });
    }
}

/// The fence at the end of a search: the searcher sees a push that woke no worker because of the
/// searcher, or the pusher wakes the parked worker, in the same group or in another one (tokio
/// 4383). All interleavings are explored.
#[test]
fn the_last_searcher_sees_the_push_or_another_worker_is_woken() {
    for parked in [1, 2] {
        Model::new().check(move || {
            let idle = Arc::new(IdleSet::new(4));
            let queued = Arc::new(AtomicBool::new(false));
            let _ = idle.transition_to_parked(parked, false);
            assert!(idle.transition_to_searching(0));
            let pusher = push(&idle, &queued);
            let sees = idle.end_search(0) && queued.load(Ordering::Relaxed);
            let wakes = pusher.join().unwrap();
            assert!(sees || wakes, "no worker is woken for the task");
        });
    }
}

/// Two searchers of one group or of two end at the same time: the last searcher of each group
/// checks for a task whose pusher relied on both. All interleavings are explored.
#[test]
fn the_last_of_two_searchers_looks_again() {
    for other in [1, 2] {
        Model::new().check(move || {
            let idle = Arc::new(IdleSet::new(4));
            let queued = Arc::new(AtomicBool::new(false));
            let _ = idle.transition_to_parked(3, false);
            assert!(idle.transition_to_searching(0));
            // A cancelled parking makes a second searcher despite the throttle.
            let _ = idle.transition_to_parked(other, false);
            idle.cancel_parking(other);
            let pusher = push(&idle, &queued);
            let second = {
                let (idle, queued) = (idle.clone(), queued.clone());
                thread::spawn(move || idle.end_search(other) && queued.load(Ordering::Relaxed))
            };
            let sees = idle.end_search(0) && queued.load(Ordering::Relaxed);
            let second_sees = second.join().unwrap();
            let wakes = pusher.join().unwrap();
            assert!(
                sees || second_sees || wakes,
                "no worker is woken for the task"
            );
        });
    }
}

/// One of two pushers wakes a worker, which searches for the tasks of both. All interleavings are
/// explored.
#[test]
fn two_pushes_wake_one_worker() {
    Model::new().check(|| {
        let idle = Arc::new(IdleSet::new(2));
        let _ = idle.transition_to_parked(0, false);
        let _ = idle.transition_to_parked(1, false);
        let other = {
            let idle = idle.clone();
            thread::spawn(move || idle.claim_to_wake(|| None))
        };
        let one = idle.claim_to_wake(|| None);
        let other = other.join().unwrap();
        assert!(
            one.is_some() != other.is_some(),
            "exactly one pusher wakes a worker"
        );
        let woken = one.or(other).unwrap();
        // The woken worker is not parked; when it ends its search, the other one can be claimed.
        assert!(!idle.is_parked(woken) && idle.is_parked(1 - woken));
        assert!(idle.transition_to_running(woken) && idle.end_search(woken));
        assert_eq!(idle.claim_to_wake(|| None), Some(1 - woken));
    });
}

/// The worker in the driver is woken after the others.
#[test]
fn the_worker_in_the_driver_is_woken_last() {
    Model::new().check(|| {
        let idle = IdleSet::new(4);
        for worker in 0..3 {
            let _ = idle.transition_to_parked(worker, false);
        }
        for expected in [0, 2, 1] {
            assert_eq!(idle.claim_to_wake(|| Some(1)), Some(expected));
            assert!(idle.transition_to_running(expected) && idle.end_search(expected));
        }
        assert_eq!(idle.claim_to_wake(|| None), None);
    });
}

/// Like `a_worker_that_parks_sees_the_push_or_is_woken`, but the pusher notifies before it pushes.
#[test]
#[should_panic(expected = "the task waits for ever")]
fn canary_a_push_after_its_notification_is_lost() {
    Model::new().check(|| {
        let idle = Arc::new(IdleSet::new(2));
        let queued = Arc::new(AtomicBool::new(false));
        let (pusher_idle, pusher_queued) = (idle.clone(), queued.clone());
        let pusher = thread::spawn(move || {
            let wakes = pusher_idle.claim_to_wake(|| None).is_some();
            pusher_queued.store(true, Ordering::Relaxed);
            wakes
        });
        let rechecks = idle.transition_to_parked(0, false) == Parking::RecheckQueues;
        let sees = rechecks && queued.load(Ordering::Relaxed);
        let wakes = pusher.join().unwrap();
        assert!(sees || wakes, "the task waits for ever");
    });
}

/// The core of the protocol: a worker marks itself parked and then checks for a task, and a
/// producer pushes a task and then checks for a parked worker. Without the fences, each may miss
/// the other, unless the worker finishes before the producer starts.
fn sleep_against_push(has_fences: bool) {
    Model::new().check(move || {
        let queued = Arc::new(AtomicBool::new(false));
        let parked = Arc::new(AtomicBool::new(false));
        let order = Arc::new(AtomicUsize::new(0));
        let producer = {
            let (queued, parked, order) = (queued.clone(), parked.clone(), order.clone());
            thread::spawn(move || {
                if !has_fences {
                    order.fetch_add(1, Ordering::Acquire);
                }
                queued.store(true, Ordering::Release);
                if has_fences {
                    fence(Ordering::SeqCst);
                }
                parked.load(Ordering::Acquire)
            })
        };
        parked.store(true, Ordering::Release);
        if has_fences {
            fence(Ordering::SeqCst);
        }
        let sees_work = queued.load(Ordering::Acquire);
        if !has_fences {
            order.fetch_add(1, Ordering::Release);
        }
        let wakes = producer.join().unwrap();
        assert!(sees_work || wakes, "the wake-up is lost");
    });
}

/// affinitypool 22.
#[test]
fn with_fences_no_wake_up_is_lost() {
    sleep_against_push(true);
}

#[test]
#[should_panic(expected = "the wake-up is lost")]
fn canary_without_fences_a_wake_up_is_lost() {
    sleep_against_push(false);
}
