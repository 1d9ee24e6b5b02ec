//! Models of the idle protocol alone: workers that search, run and park over a
//! count of tasks. A wake-up that is lost leaves everybody parked, which the
//! model reports as a deadlock.
#![cfg(raddle_loom)]

#[allow(dead_code)]
#[path = "../src/idle.rs"]
mod idle;

use idle::{Duty, Idle, Parking};
use raddle_std::model::Model;
use raddle_std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use raddle_std::sync::{Arc, Condvar, Mutex};
use raddle_std::thread::{self, JoinHandle};

/// The token of one worker's parker.
#[derive(Default)]
struct Token {
    set: Mutex<bool>,
    changed: Condvar,
}

impl Token {
    fn set(&self) {
        *self.set.lock() = true;
        self.changed.notify_one();
    }

    fn wait(&self) {
        let mut set = self.set.lock();
        while !*set {
            set = self.changed.wait(set);
        }
        *set = false;
    }
}

struct Workers {
    idle: Idle,
    /// The tasks that are queued: read without a lock, like a queue's length.
    queued: AtomicUsize,
    /// The tasks that have not run.
    left: AtomicUsize,
    tokens: Vec<Token>,
}

impl Workers {
    fn new(workers: usize, tasks: usize) -> Arc<Self> {
        Arc::new(Self {
            idle: Idle::new(workers, false),
            queued: AtomicUsize::new(0),
            left: AtomicUsize::new(tasks),
            tokens: (0..workers).map(|_| Token::default()).collect(),
        })
    }

    fn push(&self) {
        self.queued.fetch_add(1, Ordering::Release);
        self.notify();
    }

    fn notify(&self) {
        if let Some(worker) = self.idle.worker_to_wake(|_| false) {
            self.tokens[worker].set();
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
            self.tokens.iter().for_each(Token::set);
        }
    }

    /// What `Worker::run` does, without the queues.
    fn work(&self, worker: usize) {
        let mut searching = false;
        while !self.is_done() {
            searching = searching || self.idle.begin_search();
            if searching && self.take() {
                if self.idle.end_search() && self.queued.load(Ordering::Acquire) > 0 {
                    self.notify();
                }
                searching = false;
                self.run();
                continue;
            }
            if self.idle.park(worker, searching) == Parking::LookAgain
                && (self.queued.load(Ordering::Acquire) > 0 || self.is_done())
            {
                let _ = self.idle.unpark_to_search(worker);
                searching = true;
                thread::yield_now();
                continue;
            }
            self.tokens[worker].wait();
            searching = self.idle.unpark(worker);
        }
    }

    fn start(this: &Arc<Self>) -> Vec<JoinHandle<()>> {
        (0..this.tokens.len())
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

/// tokio 1788: a spawn from outside against the last worker going to sleep.
#[test]
fn a_push_against_the_last_worker_going_to_sleep() {
    model(None, 1, 1);
}

#[test]
fn two_pushes_against_one_worker() {
    model(None, 1, 2);
}

/// The second worker is kept from searching by the throttle, and may be the
/// only one awake when it parks.
#[test]
fn a_push_against_two_workers() {
    model(Some(3), 2, 1);
}

/// tokio 4383: a second push while the searcher is at the edge of running what
/// it found, or of parking.
#[test]
fn two_pushes_against_two_workers() {
    model(Some(3), 2, 2);
}

/// A worker that is woken by itself takes itself off the list, while another
/// takes it off to wake it (tokio 8372): the counts come out even.
#[test]
fn a_worker_is_taken_off_the_list_once() {
    Model::new().check(|| {
        let idle = Arc::new(Idle::new(2, false));
        assert_eq!(idle.park(0, false), Parking::LookAgain);
        let notifier = {
            let idle = idle.clone();
            thread::spawn(move || idle.worker_to_wake(|_| false))
        };
        let woken = idle.unpark(0);
        assert_eq!(notifier.join().unwrap(), woken.then_some(0));
        if woken {
            assert!(idle.end_search());
        }
        assert!(idle.worker_to_wake(|_| false).is_none());
        assert_eq!(idle.park(0, false), Parking::LookAgain);
        assert_eq!(idle.worker_to_wake(|_| false), Some(0));
        assert!(idle.end_search());
    });
}

/// A worker that is appointed to keep watch while it is about to park, and leaves
/// the list because there is work, says so: the one that parked before it is
/// appointed instead, whichever comes first.
#[test]
fn the_watch_is_handed_on_by_a_worker_that_does_not_park() {
    Model::new().check(|| {
        let idle = Arc::new(Idle::new(4, true));
        let _ = idle.park(0, false);
        let minder = {
            let idle = idle.clone();
            thread::spawn(move || idle.lacks_watch().then(|| idle.appoint_watcher()).flatten())
        };
        let _ = idle.park(1, false);
        let appointed = match idle.unpark_to_search(1) {
            true => idle.appoint_watcher(),
            false => None,
        };
        match minder.join().unwrap() {
            Some(1) => assert_eq!(appointed, Some(0)),
            minded => assert_eq!((minded, appointed), (Some(0), None)),
        }
    });
}

/// A push by another thread, which answers whether it woke somebody.
fn push(idle: &Arc<Idle>, queued: &Arc<AtomicBool>) -> JoinHandle<bool> {
    let (idle, queued) = (idle.clone(), queued.clone());
    thread::spawn(move || {
        queued.store(true, Ordering::Relaxed);
        idle.worker_to_wake(|_| false).is_some()
    })
}

/// The fences of a push and of a worker that parks, without the rest: the worker
/// sees the task, or the pusher sees the worker. Complete.
#[test]
fn a_push_is_seen_by_who_parks_or_wakes_it() {
    for searches in [false, true] {
        Model::new().check(move || {
            let idle = Arc::new(Idle::new(2, false));
            let queued = Arc::new(AtomicBool::new(false));
            let searching = searches && idle.begin_search();
            let pusher = push(&idle, &queued);
            let looks = idle.park(0, searching) == Parking::LookAgain;
            let sees = looks && queued.load(Ordering::Relaxed);
            let wakes = pusher.join().unwrap();
            assert!(sees || wakes, "the task waits for ever");
        });
    }
}

/// The fence of a search that ends: the pusher that counted on the searcher is
/// seen by it, or wakes the worker that is parked (tokio 4383). Complete.
#[test]
fn a_push_is_seen_by_who_ends_the_last_search_or_wakes_another() {
    Model::new().check(|| {
        let idle = Arc::new(Idle::new(2, false));
        let queued = Arc::new(AtomicBool::new(false));
        let _ = idle.park(1, false);
        assert!(idle.begin_search());
        let pusher = push(&idle, &queued);
        let sees = idle.end_search() && queued.load(Ordering::Relaxed);
        let wakes = pusher.join().unwrap();
        assert!(sees || wakes, "nobody is woken for the task");
    });
}

/// Two searchers that end at the same time: one of them is the last, and looks
/// for what a pusher left to both. Complete.
#[test]
fn one_of_two_searchers_is_the_last() {
    Model::new().check(|| {
        let idle = Arc::new(Idle::new(4, false));
        let queued = Arc::new(AtomicBool::new(false));
        let _ = idle.park(3, false);
        assert!(idle.begin_search() && idle.begin_search());
        let pusher = push(&idle, &queued);
        let other = {
            let (idle, queued) = (idle.clone(), queued.clone());
            thread::spawn(move || idle.end_search() && queued.load(Ordering::Relaxed))
        };
        let sees = idle.end_search() && queued.load(Ordering::Relaxed);
        let other_sees = other.join().unwrap();
        let wakes = pusher.join().unwrap();
        assert!(sees || other_sees || wakes, "nobody is woken for the task");
    });
}

/// Of two pushers one wakes a worker, which searches for both. Complete.
#[test]
fn two_pushes_wake_one_worker() {
    Model::new().check(|| {
        let idle = Arc::new(Idle::new(2, false));
        let _ = idle.park(0, false);
        let _ = idle.park(1, false);
        let other = {
            let idle = idle.clone();
            thread::spawn(move || idle.worker_to_wake(|_| false))
        };
        let one = idle.worker_to_wake(|_| false);
        let other = other.join().unwrap();
        assert!(one.is_some() != other.is_some(), "both, or nobody");
        let woken = one.or(other).unwrap();
        // That worker is off the list, and hands over when it has found work.
        assert!(!idle.is_listed(woken) && idle.is_listed(1 - woken));
        assert!(idle.unpark(woken) && idle.end_search());
        assert_eq!(idle.worker_to_wake(|_| false), Some(1 - woken));
    });
}

/// A worker begins to run while the watcher, who saw nobody run, gives up the
/// watch: it keeps it, or the other has it taken again. Complete.
#[test]
fn the_watch_is_given_up_against_a_worker_that_begins_to_run() {
    Model::new().check(|| {
        let idle = Arc::new(Idle::new(2, true));
        let _ = idle.park(0, false);
        assert_eq!(idle.duty(0, false), Duty::Watch);
        let _ = idle.park(1, false);
        let watcher = {
            let idle = idle.clone();
            thread::spawn(move || idle.duty(0, false))
        };
        // What `Worker::after_park` does when nobody has woken the worker.
        assert!(!idle.unpark(1));
        let appointed = match idle.lacks_watch() {
            true => idle.appoint_watcher(),
            false => None,
        };
        let kept = watcher.join().unwrap() == Duty::Watch;
        assert!(kept || appointed == Some(0), "nobody keeps watch");
    });
}

/// A worker that is woken while it asks what to do does not keep the watch: it
/// leaves, or is found off the list. Complete.
#[test]
fn a_watcher_is_woken_against_its_duty() {
    Model::new().check(|| {
        let idle = Arc::new(Idle::new(2, true));
        let _ = idle.park(0, false);
        let pusher = {
            let idle = idle.clone();
            thread::spawn(move || idle.worker_to_wake(|_| false))
        };
        let duty = idle.duty(0, false);
        assert_eq!(pusher.join().unwrap(), Some(0));
        assert!(matches!(duty, Duty::Watch | Duty::Leave));
        assert_eq!(idle.duty(0, false), Duty::Leave);
        assert!(idle.unpark(0), "the waker has counted it as searching");
        assert!(!idle.lacks_watch(), "nobody is parked");
    });
}

/// As `a_push_is_seen_by_who_parks_or_wakes_it`, by a pusher that notifies before it
/// pushes.
#[test]
#[should_panic(expected = "the task waits for ever")]
fn canary_a_push_after_its_notification_is_lost() {
    Model::new().check(|| {
        let idle = Arc::new(Idle::new(2, false));
        let queued = Arc::new(AtomicBool::new(false));
        let (its, theirs) = (idle.clone(), queued.clone());
        let pusher = thread::spawn(move || {
            let wakes = its.worker_to_wake(|_| false).is_some();
            theirs.store(true, Ordering::Relaxed);
            wakes
        });
        let looks = idle.park(0, false) == Parking::LookAgain;
        let sees = looks && queued.load(Ordering::Relaxed);
        let wakes = pusher.join().unwrap();
        assert!(sees || wakes, "the task waits for ever");
    });
}

/// One worker that says it sleeps and then looks, one producer that pushes and
/// then looks: the heart of the protocol. Without fences, each may miss the other, unless
/// the worker is done before the producer begins.
fn sleep_against_push(fenced: bool) {
    Model::new().check(move || {
        let queued = Arc::new(AtomicBool::new(false));
        let parked = Arc::new(AtomicBool::new(false));
        let turn = Arc::new(AtomicUsize::new(0));
        let producer = {
            let (queued, parked, turn) = (queued.clone(), parked.clone(), turn.clone());
            thread::spawn(move || {
                if !fenced {
                    turn.fetch_add(1, Ordering::Acquire);
                }
                queued.store(true, Ordering::Release);
                if fenced {
                    fence(Ordering::SeqCst);
                }
                parked.load(Ordering::Acquire)
            })
        };
        parked.store(true, Ordering::Release);
        if fenced {
            fence(Ordering::SeqCst);
        }
        let sees_work = queued.load(Ordering::Acquire);
        if !fenced {
            turn.fetch_add(1, Ordering::Release);
        }
        let wakes = producer.join().unwrap();
        assert!(sees_work || wakes, "the wake-up is lost");
    });
}

/// affinitypool 22.
#[test]
fn fences_keep_the_wake_up() {
    sleep_against_push(true);
}

#[test]
#[should_panic(expected = "the wake-up is lost")]
fn canary_without_fences_a_wake_up_is_lost() {
    sleep_against_push(false);
}
