//! What the monitor decides at each check, at workers that are stepped and times that the test
//! chooses. A worker that has stepped and is not stepped again is in a poll.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use crate::common::driver::Events;
use crate::common::{SelfWaking, Signal, config};
use raddle_primitives::sync::Mutex;
use raddle_sched::{Config, Handle, Handoff, Monitor, MonitorCheck, Pool, Step, Worker};

/// Workers, and the spare workers that the monitor has requested threads for.
struct Stepped {
    handle: Handle,
    workers: Vec<Worker>,
    monitor: Monitor,
    handoffs: Arc<Mutex<Vec<Handoff>>>,
    requests: Arc<AtomicUsize>,
    /// Whether the system refuses threads.
    refuses: Arc<Mutex<bool>>,
}

impl Stepped {
    fn new(workers: usize) -> Self {
        Self::with(config(workers), None)
    }

    fn with(config: Config, events: Option<&raddle_primitives::sync::Arc<Events>>) -> Self {
        let handoffs: Arc<Mutex<Vec<Handoff>>> = Arc::default();
        let requests = Arc::new(AtomicUsize::new(0));
        let refuses: Arc<Mutex<bool>> = Arc::default();
        let (theirs, counted, is_refused) = (handoffs.clone(), requests.clone(), refuses.clone());
        let config = Config {
            handoff: Some(Arc::new(move |handoff| {
                counted.fetch_add(1, SeqCst);
                match *is_refused.lock() {
                    true => drop(handoff),
                    false => theirs.lock().push(handoff),
                }
            })),
            ..config
        };
        let (handle, workers) = Pool::stepped(config, events.map(Events::driver));
        Self {
            handle,
            monitor: workers[0].monitor(),
            workers,
            handoffs,
            requests,
            refuses,
        }
    }

    fn spawn(&self, tasks: usize) {
        for _ in 0..tasks {
            drop(self.handle.spawn(async {}));
        }
    }

    /// Has a worker begin a poll.
    fn poll(&mut self, worker: usize) {
        assert_eq!(self.workers[worker].step(), Step::Ran);
    }

    fn check(&self, ms: u64) -> MonitorCheck {
        self.monitor.check(Duration::from_millis(ms))
    }

    /// Has the monitor check at these times. After each it has requested so many threads in all.
    #[track_caller]
    fn check_each(&self, times: impl IntoIterator<Item = u64>, requests: usize) {
        for ms in times {
            self.check(ms);
            assert_eq!(self.requests(), requests, "after {ms} ms");
        }
    }

    /// The number of threads that the monitor has requested.
    fn requests(&self) -> usize {
        self.requests.load(SeqCst)
    }

    /// The spare worker of the oldest request.
    fn spare(&self) -> Worker {
        let handoff = self.handoffs.lock().remove(0);
        handoff.into_worker().expect("it is not driven")
    }

    /// Has worker 0 get stuck with `tasks` behind its poll. The monitor finds that 6 ms after the
    /// start, and starts a spare worker.
    fn get_stuck(&mut self, tasks: usize) -> Worker {
        self.spawn(1 + tasks);
        self.poll(0);
        self.check(0);
        self.check(6);
        assert_eq!(self.requests(), 1);
        self.spare()
    }
}

#[test]
fn a_worker_whose_last_long_poll_returned_soon_has_more_time_for_the_next() {
    let mut stepped = Stepped::new(1);
    stepped.spawn(1);
    stepped.poll(0);
    // No task waits behind this poll, which takes 10 ms.
    stepped.check_each([0, 6], 0);
    stepped.spawn(1000);
    stepped.poll(0);
    stepped.check_each([10, 20, 34], 0);
    stepped.check_each([35], 1);
}

#[test]
fn a_worker_whose_long_poll_returned_long_ago_has_no_more_time_than_others() {
    let mut stepped = Stepped::new(1);
    stepped.spawn(1);
    stepped.poll(0);
    stepped.check_each([0, 6], 0);
    stepped.spawn(1000);
    for ms in (10..=1012).step_by(2) {
        stepped.poll(0);
        stepped.check(ms);
    }
    stepped.check_each([1015], 0);
    stepped.check_each([1018], 1);
}

/// Nothing says that the poll before it took longer than a moment.
#[test]
fn a_poll_that_ended_before_a_late_check_gives_no_more_time_to_the_next() {
    let mut stepped = Stepped::new(1);
    stepped.spawn(1);
    stepped.poll(0);
    stepped.check_each([0], 0);
    stepped.spawn(1000);
    stepped.poll(0);
    stepped.check_each([10, 15], 0);
    stepped.check_each([16], 1);
}

#[test]
fn a_worker_that_was_parked_between_two_checks_is_not_stuck() {
    let mut stepped = Stepped::new(1);
    stepped.spawn(1);
    stepped.poll(0);
    stepped.check(0);
    assert_eq!(stepped.workers[0].step(), Step::Idle);
    assert!(stepped.workers[0].begin_park().is_some());
    assert!(stepped.workers[0].resume_park().is_none());
    stepped.spawn(1);
    stepped.check_each([6, 11], 0);
    stepped.check_each([12], 1);
}

#[test]
fn a_spare_worker_takes_tasks_from_outside_if_the_worker_that_has_not_retired_is_stuck() {
    let mut stepped = Stepped::new(2);
    drop(stepped.workers.pop());
    let mut spare = stepped.get_stuck(4);
    while spare.step() == Step::Ran {}
    assert_eq!(stepped.workers[0].step(), Step::Idle);
    stepped.spawn(1);
    assert_eq!(spare.step(), Step::Ran);
}

#[test]
fn a_spare_worker_leaves_tasks_to_a_worker_that_makes_progress() {
    let mut stepped = Stepped::new(2);
    stepped.spawn(40);
    stepped.poll(1);
    let mut spare = stepped.get_stuck(10);
    let depth = |stepped: &Stepped| {
        let worker = stepped.handle.metrics().worker(1);
        worker.local_queue_depth
    };
    stepped.poll(1);
    stepped.check(7);
    let waiting = depth(&stepped);
    assert!(waiting > 0);
    while spare.step() == Step::Ran {}
    assert_eq!(depth(&stepped), waiting);
    // The same for tasks from outside.
    stepped.spawn(1);
    assert_eq!(spare.step(), Step::Idle);
}

#[test]
fn the_next_check_is_sooner_after_one_that_starts_a_spare_worker() {
    let mut stepped = Stepped::new(1);
    stepped.spawn(2);
    stepped.poll(0);
    stepped.check(0);
    let usual = stepped.check(3);
    let starts = stepped.check(6);
    assert_eq!(stepped.requests(), 1);
    assert!(starts.next < usual.next);
}

#[test]
fn a_pool_is_active_while_a_spare_worker_is() {
    let mut stepped = Stepped::new(1);
    stepped.spawn(2);
    stepped.poll(0);
    stepped.check_each([0], 0);
    stepped.check_each([6], 1);
    stepped.poll(0);
    assert_eq!(stepped.workers[0].step(), Step::Idle);
    assert!(stepped.workers[0].begin_park().is_some());
    // The first of these checks finds the poll.
    for ms in [7, 8] {
        assert!(stepped.check(ms).is_active);
    }
    stepped.handoffs.lock().clear();
    assert!(!stepped.check(9).is_active);
}

#[test]
fn no_thread_is_requested_for_a_while_after_the_system_has_refused_one() {
    let mut stepped = Stepped::new(1);
    stepped.spawn(2);
    stepped.poll(0);
    stepped.check(0);
    *stepped.refuses.lock() = true;
    stepped.check_each((6..106).step_by(5), 1);
    stepped.check_each([106], 2);
}

/// Two checks in a row find that tasks wait while the first helper runs.
#[test]
fn a_second_helper_is_started_if_the_first_does_not_suffice() {
    let mut stepped = Stepped::new(2);
    stepped.spawn(1);
    stepped.poll(1);
    let mut spare = stepped.get_stuck(40);
    for (ms, requests) in [(9, 1), (12, 2)] {
        assert_eq!(spare.step(), Step::Ran);
        stepped.check_each([ms], requests);
    }
}

#[test]
fn no_second_helper_is_started_while_the_first_is_parked() {
    let mut stepped = Stepped::new(2);
    stepped.spawn(1);
    stepped.poll(1);
    let mut spare = stepped.get_stuck(40);
    assert!(spare.begin_park().is_some());
    // The first check calls it.
    for ms in [9, 12] {
        stepped.check(ms);
        assert!(spare.is_unparked());
        assert_eq!(stepped.requests(), 1, "after {ms} ms");
    }
}

#[test]
fn there_are_no_more_helpers_than_stuck_workers() {
    let mut stepped = Stepped::new(1);
    let mut spare = stepped.get_stuck(40);
    for ms in [9, 12, 15, 18] {
        assert_eq!(spare.step(), Step::Ran);
        stepped.check(ms);
    }
    assert_eq!(stepped.requests(), 1);
}

#[test]
fn a_spare_worker_in_a_long_poll_leaves_after_it_if_another_serves_in_its_place() {
    let mut stepped = Stepped::new(1);
    let mut spare = stepped.get_stuck(40);
    assert_eq!(spare.step(), Step::Ran);
    for (ms, requests) in [(9, 1), (12, 1), (15, 2)] {
        stepped.check_each([ms], requests);
    }
    assert_eq!(spare.step(), Step::Shutdown);
}

#[test]
fn one_spare_worker_waits_in_the_driver_and_another_helps() {
    let events = Events::new();
    let mut stepped = Stepped::with(config(1), Some(&events));
    stepped.spawn(3);
    stepped.poll(0);
    stepped.check_each([0], 0);
    stepped.check_each([6], 2);
    let (mut attendant, mut helper) = (stepped.spare(), stepped.spare());
    assert_eq!(attendant.step(), Step::Idle);
    assert!(attendant.begin_park().is_some_and(|wait| wait.in_driver));
    assert_eq!(helper.step(), Step::Ran);
    let unparks = || events.with(|state| state.unparks);
    let before = unparks();
    stepped.spawn(1);
    assert_eq!(unparks(), before + 1, "the attendant is called");
}

#[test]
fn the_lack_of_spare_workers_is_reported_while_tasks_wait_once_in_ten_seconds() {
    let warnings = Arc::new(AtomicUsize::new(0));
    let counted = warnings.clone();
    let config = Config {
        max_spare_workers: 1,
        on_spares_used_up: Some(Arc::new(move |futures| {
            let [future] = futures else {
                panic!("one spare worker is in a long poll, not {futures:?}")
            };
            assert!(future.contains("Stepped::spawn"), "{future}");
            counted.fetch_add(1, SeqCst);
        })),
        ..config(1)
    };
    let mut stepped = Stepped::with(config, Some(&Events::new()));
    // An attendant and a helper were wanted, and the spare worker is both.
    let mut attendant = stepped.get_stuck(1);
    stepped.check(7);
    assert_eq!(warnings.load(SeqCst), 0, "the spare worker serves");
    assert_eq!(attendant.step(), Step::Ran);
    for ms in [9, 12, 15, 18] {
        stepped.check(ms);
    }
    assert_eq!(warnings.load(SeqCst), 0, "no task waits");
    stepped.spawn(1);
    for (ms, expected) in [(21, 1), (24, 1), (10_020, 1), (10_021, 2)] {
        stepped.check(ms);
        assert_eq!(warnings.load(SeqCst), expected, "after {ms} ms");
    }
}

/// A worker with slow polls, and a task that events wake.
struct Slow {
    stepped: Stepped,
    events: raddle_primitives::sync::Arc<Events>,
    signal: Signal,
    now: u64,
}

impl Slow {
    fn new() -> Self {
        let events = Events::new();
        let config = Config {
            event_interval: Some(1),
            ..config(1)
        };
        let mut stepped = Stepped::with(config, Some(&events));
        let signal = Signal::default();
        drop(stepped.handle.spawn(SelfWaking(Arc::default())));
        drop(stepped.handle.spawn(signal.clone()));
        while signal.polls() == 0 {
            stepped.poll(0);
        }
        stepped.check(0);
        Self {
            stepped,
            events,
            signal,
            now: 0,
        }
    }

    /// Has the monitor check every 3 ms, after `polls` polls each.
    fn run(&mut self, ms: u64, polls: usize, has_events: bool) {
        for _ in 0..ms / 3 {
            if has_events {
                self.events.raise(self.signal.waker());
            }
            for _ in 0..polls {
                self.stepped.poll(0);
            }
            self.now += 3;
            self.stepped.check(self.now);
        }
    }
}

#[test]
fn a_spare_worker_waits_in_the_driver_while_slow_polls_delay_events() {
    for (polls, has_events, requests) in [(2, false, 0), (10, true, 0), (2, true, 1)] {
        let mut slow = Slow::new();
        slow.run(30, polls, has_events);
        assert_eq!(slow.stepped.requests(), requests, "{polls} polls");
    }
}

#[test]
fn a_spare_worker_stays_in_the_driver_until_polls_are_fast() {
    let mut slow = Slow::new();
    slow.run(30, 2, true);
    let mut attendant = slow.stepped.spare();
    assert_eq!(attendant.step(), Step::Idle);
    assert!(attendant.begin_park().is_some_and(|wait| wait.in_driver));
    slow.run(300, 8, false);
    assert!(
        attendant.resume_park().is_some(),
        "it is not asked to leave"
    );
    slow.run(45, 20, false);
    assert!(
        attendant.resume_park().is_some(),
        "it is not asked to leave"
    );
    slow.run(9, 20, false);
    assert!(attendant.resume_park().is_none());
    assert_eq!(attendant.step(), Step::Shutdown);
}
