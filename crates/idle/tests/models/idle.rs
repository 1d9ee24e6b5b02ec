//! Models of the idle protocol without queues: workers that search, run tasks and park; the tasks
//! are a count. A lost wake-up leaves all workers parked, which loom reports as a deadlock.

use raddle_idle::{Duty, IdleSet, Parking};
use raddle_primitives::model::Model;
use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use raddle_primitives::sync::{Arc, Condvar, Mutex};
use raddle_primitives::thread::{self, JoinHandle};

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
            idle: IdleSet::new(workers, false),
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
        let idle = Arc::new(IdleSet::new(2, false));
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
        let idle = Arc::new(IdleSet::new(2, false));
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

/// A worker that is elected while it parks finds work and cancels its parking: it has the worker
/// elected that parked before it. All interleavings are explored.
#[test]
fn a_worker_that_cancels_its_parking_passes_the_monitor_role_on() {
    Model::new().check(|| {
        let idle = Arc::new(IdleSet::new(3, true));
        let _ = idle.transition_to_parked(1, false);
        let elector = {
            let idle = idle.clone();
            thread::spawn(move || {
                idle.lacks_monitor()
                    .then(|| idle.elect_monitor(None))
                    .flatten()
            })
        };
        let _ = idle.transition_to_parked(0, false);
        idle.cancel_parking(0);
        let elected = match idle.was_monitor(0) {
            true => idle.elect_monitor(None),
            false => None,
        };
        let elected = [elected, elector.join().unwrap()];
        assert!(
            elected.contains(&Some(1)),
            "no worker is unparked to monitor"
        );
        assert_eq!(idle.duty(1, || None), Duty::Monitor);
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
            let idle = Arc::new(IdleSet::new(4, false));
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
            let idle = Arc::new(IdleSet::new(4, false));
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
            let idle = Arc::new(IdleSet::new(4, false));
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
        let idle = Arc::new(IdleSet::new(2, false));
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

/// The monitor is woken after the others, and the worker in the driver last.
#[test]
fn the_monitor_and_then_the_worker_in_the_driver_are_woken_last() {
    Model::new().check(|| {
        let idle = IdleSet::new(4, true);
        for worker in 0..3 {
            let _ = idle.transition_to_parked(worker, false);
        }
        assert_eq!(idle.duty(0, || None), Duty::Monitor);
        for expected in [2, 0, 1] {
            assert_eq!(idle.claim_to_wake(|| Some(1)), Some(expected));
            assert!(idle.transition_to_running(expected) && idle.end_search(expected));
        }
        assert_eq!(idle.claim_to_wake(|| None), None);
    });
}

/// Ends a park as `Parked::finish` in raddle-sched does, and returns the worker that has to be
/// unparked as the monitor.
fn finish_park(idle: &IdleSet, worker: usize) -> Option<usize> {
    let is_claimed = idle.transition_to_running(worker);
    match (!is_claimed || idle.was_monitor(worker)) && idle.lacks_monitor() {
        true => idle.elect_monitor(None),
        false => None,
    }
}

/// A worker begins to run while the monitor goes on standby because it saw no running worker: it
/// remains the monitor, or the running worker has it elected again. All interleavings are explored.
#[test]
fn the_monitor_that_goes_on_standby_is_elected_again_for_a_worker_that_begins_to_run() {
    for other in [1, 2] {
        Model::new().check(move || {
            let idle = Arc::new(IdleSet::new(3, true));
            let _ = idle.transition_to_parked(0, false);
            assert_eq!(idle.duty(0, || None), Duty::Monitor);
            let _ = idle.transition_to_parked(1, false);
            let _ = idle.transition_to_parked(2, false);
            let monitor = {
                let idle = idle.clone();
                thread::spawn(move || idle.duty(0, || None))
            };
            let elected = finish_park(&idle, other);
            let is_monitor = monitor.join().unwrap() == Duty::Monitor;
            assert!(is_monitor || elected.is_some(), "no worker is the monitor");
        });
    }
}

/// A worker takes the role of the monitor in the driver, on standby, while that worker or another
/// one begins to run: it becomes the active monitor, or the running worker has one elected. All
/// interleavings are explored.
#[test]
fn a_worker_that_takes_the_role_of_the_monitor_in_the_driver_monitors_a_worker_that_begins_to_run()
{
    for (parking, starting) in [(1, 0), (1, 2), (2, 0), (2, 1)] {
        Model::new().check(move || {
            let idle = Arc::new(IdleSet::new(3, true));
            let _ = idle.transition_to_parked(0, false);
            assert_eq!(idle.duty(0, || None), Duty::Monitor);
            let _ = idle.transition_to_parked(3 - parking, false);
            let taker = {
                let idle = idle.clone();
                thread::spawn(move || {
                    let _ = idle.transition_to_parked(parking, false);
                    idle.duty(parking, || Some(0))
                })
            };
            let elected = finish_park(&idle, starting);
            let is_monitored = match taker.join().unwrap() {
                Duty::Monitor => true,
                // It relies on worker 0, in the driver.
                Duty::Sleep if starting != 0 => idle.was_monitor(0),
                _ => false,
            };
            assert!(
                is_monitored || elected.is_some(),
                "no worker is the monitor"
            );
        });
    }
}

/// An idle set and an alarm. Worker 0 is the monitor and waits for the alarm.
struct WithAlarm {
    idle: IdleSet,
    is_set: Mutex<bool>,
    /// Whether a worker that parks clears the alarm before it puts the monitor on standby.
    clears_before: bool,
}

impl WithAlarm {
    /// Worker 1 is parked, too; the others run.
    fn new(workers: usize, clears_before: bool) -> Arc<Self> {
        let idle = IdleSet::new(workers, true);
        let _ = idle.transition_to_parked(0, false);
        assert_eq!(idle.duty(0, || None), Duty::Monitor);
        let _ = idle.transition_to_parked(1, false);
        Arc::new(Self {
            idle,
            is_set: Mutex::new(true),
            clears_before,
        })
    }

    fn set(&self) {
        *self.is_set.lock() = true;
    }

    fn clear(&self) {
        *self.is_set.lock() = false;
    }

    fn elect(&self, elected: Option<usize>) {
        if let Some(elected) = elected {
            assert_eq!(elected, 0);
            self.set();
        }
    }

    /// Parks a worker as `Parked::begin` does.
    fn park(&self, worker: usize) {
        let _ = self.idle.transition_to_parked(worker, false);
        let is_done = match self.clears_before {
            true => self.idle.put_monitor_on_standby(|| self.clear()),
            false => {
                let is_done = self.idle.put_monitor_on_standby(|| ());
                self.clear();
                is_done
            }
        };
        if !is_done {
            self.set();
        }
        while self.idle.duty(worker, || None) == Duty::Elect {
            self.elect(self.idle.elect_monitor(None));
        }
    }

    /// Worker 1 begins to run while the others park.
    fn check(workers: usize, clears_before: bool) {
        let this = Self::new(workers, clears_before);
        let runner = {
            let this = this.clone();
            thread::spawn(move || this.elect(finish_park(&this.idle, 1)))
        };
        let others = (3..workers).map(|worker| {
            let this = this.clone();
            thread::spawn(move || this.park(worker))
        });
        let others: Vec<_> = others.collect();
        this.park(2);
        for thread in others {
            thread.join().unwrap();
        }
        runner.join().unwrap();
        assert!(*this.is_set.lock(), "no worker is the monitor");
    }
}

/// The last running worker parks and clears the alarm of the monitor, while another worker begins
/// to run and relies on the alarm or sets it again. All interleavings are explored.
#[test]
fn the_alarm_is_set_after_a_worker_begins_to_run_while_the_last_one_parks() {
    Model::new().check(|| WithAlarm::check(3, true));
}

#[test]
fn the_alarm_is_set_after_a_worker_begins_to_run_while_two_park() {
    Model::new()
        .preemptions(3)
        .check(|| WithAlarm::check(4, true));
}

#[test]
#[should_panic(expected = "no worker is the monitor")]
fn canary_an_alarm_that_is_cleared_after_the_role_changes_is_lost() {
    Model::new().check(|| WithAlarm::check(3, false));
}

/// A worker that parks clears the alarm late: meanwhile another worker has become the monitor, and
/// the alarm was set for that one.
fn clear_late(sets_again: bool) {
    Model::new().preemptions(3).check(move || {
        let this = WithAlarm::new(3, true);
        let others = {
            let this = this.clone();
            thread::spawn(move || {
                // The monitor returns by itself, has worker 1 elected, and parks again.
                let _ = this.idle.transition_to_running(0);
                if this.idle.elect_monitor(None) != Some(1) {
                    return false;
                }
                let _ = this.idle.transition_to_parked(0, false);
                if this.idle.duty(1, || None) != Duty::Standby {
                    return false;
                }
                // Worker 1 waits for the alarm now.
                let _ = this.idle.transition_to_running(0);
                let is_elected = this.idle.elect_monitor(None) == Some(1);
                if is_elected {
                    this.set();
                }
                is_elected
            })
        };
        let _ = this.idle.transition_to_parked(2, false);
        if !this.idle.put_monitor_on_standby(|| this.clear()) && sets_again {
            this.set();
        }
        while this.idle.duty(2, || None) == Duty::Elect {
            if this.idle.elect_monitor(None).is_some() {
                this.set();
            }
        }
        let is_needed = others.join().unwrap();
        assert!(
            !is_needed || *this.is_set.lock(),
            "no worker is the monitor"
        );
    });
}

#[test]
fn an_alarm_that_is_cleared_late_is_set_again() {
    clear_late(true);
}

#[test]
#[should_panic(expected = "no worker is the monitor")]
fn canary_an_alarm_that_is_cleared_late_and_not_set_again_is_lost() {
    clear_late(false);
}

/// A worker puts the monitor on standby and is claimed before it asks for its duty, while another
/// claimed worker relies on the monitor: the first worker has the monitor elected when it runs.
#[test]
fn a_worker_that_is_claimed_after_it_put_the_monitor_on_standby_leaves_a_monitor() {
    Model::new().preemptions(3).check(|| {
        let idle = Arc::new(IdleSet::new(4, true));
        // Worker 0 is the monitor, and worker 3 is in the driver.
        let _ = idle.transition_to_parked(0, false);
        assert_eq!(idle.duty(0, || None), Duty::Monitor);
        let _ = idle.transition_to_parked(1, false);
        let _ = idle.transition_to_parked(3, false);
        let elect = |idle: &IdleSet| {
            let lacks = idle.lacks_monitor();
            lacks
                .then(|| idle.elect_monitor(Some(3)))
                .flatten()
                .is_some()
        };
        let pusher = {
            let idle = idle.clone();
            thread::spawn(move || {
                // Worker 1 is claimed, and would put a task into its next-task slot.
                let is_claimed = idle.claim_to_wake(|| Some(3)) == Some(1);
                if is_claimed {
                    let _ = idle.transition_to_running(1) && idle.end_search(1);
                    return elect(&idle) || idle.claim_to_wake(|| Some(3)) != Some(2);
                }
                true
            })
        };
        let _ = idle.transition_to_parked(2, false);
        let mut elects = !idle.put_monitor_on_standby(|| ());
        loop {
            match idle.duty(2, || None) {
                Duty::Elect => elects |= idle.elect_monitor(Some(3)).is_some(),
                Duty::Search => {
                    let _is_claimed = idle.transition_to_running(2);
                    elects |= elect(&idle);
                    break;
                }
                _ => break,
            }
        }
        let is_other_case = pusher.join().unwrap();
        assert!(
            is_other_case || elects || !idle.lacks_monitor(),
            "no worker is the monitor"
        );
    });
}

/// A worker parks and relies on the monitor, which returns by itself or is claimed at the same
/// time. One of the two sees the other. All interleavings are explored.
#[test]
fn the_monitor_returns_against_a_worker_that_parks() {
    for (worker, is_claimed) in [(1, false), (2, false), (1, true), (2, true)] {
        Model::new().check(move || {
            let idle = Arc::new(IdleSet::new(4, true));
            let _ = idle.transition_to_parked(0, false);
            assert_eq!(idle.duty(0, || None), Duty::Monitor);
            let monitor_returns = {
                let idle = idle.clone();
                thread::spawn(move || {
                    if is_claimed {
                        assert!(idle.claim_to_wake(|| None).is_some());
                        if idle.is_parked(0) {
                            // The worker that parks was claimed.
                            return None;
                        }
                    }
                    finish_park(&idle, 0)
                })
            };
            let _ = idle.transition_to_parked(worker, false);
            let duty = idle.duty(worker, || None);
            let elected = monitor_returns.join().unwrap();
            let is_parked = idle.is_parked(worker);
            assert!(
                !is_parked || duty == Duty::Monitor || elected == Some(worker),
                "no worker is the monitor"
            );
        });
    }
}

/// A worker that is claimed while it asks for its duty does not remain the monitor. All
/// interleavings are explored.
#[test]
fn a_claim_against_a_worker_that_asks_for_its_duty() {
    Model::new().check(|| {
        let idle = Arc::new(IdleSet::new(2, true));
        let _ = idle.transition_to_parked(0, false);
        let pusher = {
            let idle = idle.clone();
            thread::spawn(move || idle.claim_to_wake(|| None))
        };
        let duty = idle.duty(0, || None);
        assert_eq!(pusher.join().unwrap(), Some(0));
        assert!(matches!(duty, Duty::Monitor | Duty::Search));
        assert_eq!(idle.duty(0, || None), Duty::Search);
        assert!(
            idle.transition_to_running(0),
            "a claimed worker is a searcher"
        );
        assert!(!idle.lacks_monitor(), "no worker is parked");
    });
}

/// Like `a_worker_that_parks_sees_the_push_or_is_woken`, but the pusher notifies before it pushes.
#[test]
#[should_panic(expected = "the task waits for ever")]
fn canary_a_push_after_its_notification_is_lost() {
    Model::new().check(|| {
        let idle = Arc::new(IdleSet::new(2, false));
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
