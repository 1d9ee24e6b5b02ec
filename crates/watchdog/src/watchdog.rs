//! The thread that checks the other threads.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::sync::Arc as StdArc;
use std::time::{Duration, Instant};

use raddle_primitives::sync::{Arc, Condvar, Mutex, MutexGuard, Rank};
use raddle_primitives::thread;

use crate::observer::WatchdogObserver;
use crate::registry::{Finding, ObservedActivity, Registry};
use crate::report::{NoSpareWorkers, Report, ShutdownReport, SlowPoll, WaitingJobs};
use crate::slot::ActivityKind;
use crate::span;
use crate::stack::Sampler;

/// The number of checks within the threshold.
const CHECKS: u32 = 4;
/// The shortest and the longest time between two checks.
const INTERVAL_RANGE: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(250));
/// The interval at which waiting jobs are reported.
const JOBS_INTERVAL: Duration = Duration::from_secs(1);
/// The number of reports that wait while the action is busy. Further ones are dropped.
const MAX_REPORTS: usize = 1024;

type Action = Box<dyn Fn(&Report) + Send + Sync>;

/// Watches the threads of a runtime, and calls an action while something takes too long.
///
/// A separate thread checks them every quarter of the threshold, but at intervals of 1 to 250 ms.
/// Another one calls the action. Dropping the watchdog stops both.
pub struct Watchdog {
    shared: Arc<Shared>,
}

struct Shared {
    threshold: Duration,
    /// The time between two checks.
    interval: Duration,
    registry: StdArc<Registry>,
    action: Action,
    sampler: Mutex<Sampler>,
    stop: Stop,
    reports: Reports,
}

/// The reports for which the action was not called yet.
struct Reports {
    queue: Mutex<ReportQueue>,
    changed: Condvar,
}

struct ReportQueue {
    reports: VecDeque<Report>,
    is_closed: bool,
}

/// Tells the thread to stop.
struct Stop {
    is_stopped: Mutex<bool>,
    changed: Condvar,
}

impl Watchdog {
    /// Starts the threads. `action` is called once for each slow poll, once when it has returned,
    /// and for the other reports. The panic hook reports a panic in the action, which has no other
    /// effect. While 1,024 reports wait for the action, further ones are dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses a thread.
    ///
    /// # Panics
    ///
    /// Panics if `threshold` is zero.
    #[track_caller]
    pub fn start(
        threshold: Duration,
        action: impl Fn(&Report) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        assert!(
            !threshold.is_zero(),
            "the threshold of the watchdog is zero; use a longer one"
        );
        let shared = Arc::new(Shared {
            threshold,
            interval: (threshold / CHECKS).clamp(INTERVAL_RANGE.0, INTERVAL_RANGE.1),
            registry: StdArc::new(Registry::new()),
            action: Box::new(action),
            // UNRANKED: files are read under it, and no lock but that of a slot is taken.
            sampler: Mutex::new(Sampler::new()),
            stop: Stop {
                is_stopped: Mutex::ranked(Rank::leaf("watchdog stop"), false),
                changed: Condvar::new(),
            },
            reports: Reports {
                queue: Mutex::ranked(
                    Rank::leaf("watchdog reports"),
                    ReportQueue {
                        reports: VecDeque::new(),
                        is_closed: false,
                    },
                ),
                changed: Condvar::new(),
            },
        });
        let watchdog = Self { shared };
        let (watching, reporting) = (watchdog.shared.clone(), watchdog.shared.clone());
        let thread = |name: &str| thread::Builder::new().name(name.to_owned());
        // The drop of the watchdog stops a thread if the other one cannot be started.
        thread("raddle-watchdog").spawn(move || watching.watch())?;
        thread("raddle-reports").spawn(move || {
            // On this thread, because it takes long, and polls are checked meanwhile.
            reporting.sampler.lock().prepare();
            while let Some(report) = reporting.reports.next() {
                reporting.call(&report);
            }
        })?;
        Ok(watchdog)
    }

    /// Sets the text that describes what the calling thread does, such as the tracing span that it
    /// has entered, and returns the one before. [`SlowPoll::span`] is that text. `None` removes it.
    ///
    /// It belongs to the thread, and is seen by all watchdogs.
    pub fn set_span(span: Option<StdArc<str>>) -> Option<StdArc<str>> {
        span::set(span)
    }

    /// Returns the observer for the scheduler to watch.
    pub fn observer(&self) -> StdArc<dyn raddle_sched::Observer> {
        StdArc::new(WatchdogObserver(StdArc::clone(&self.shared.registry)))
    }

    /// Returns the observer for the blocking pool to watch.
    pub fn job_observer(&self) -> StdArc<dyn raddle_blocking::JobObserver> {
        StdArc::new(WatchdogObserver(StdArc::clone(&self.shared.registry)))
    }

    /// Returns all polls and blocking jobs that run now, including the fast ones, with the stacks
    /// of their threads.
    pub fn running(&self) -> Vec<SlowPoll> {
        let running = self.shared.registry.running();
        let describe = |found| self.shared.describe(found, &mut || ());
        running.iter().map(describe).collect()
    }

    /// Returns the poll of a task that runs now, with the stack of its thread.
    pub fn running_poll(&self, task: u64) -> Option<SlowPoll> {
        let running = self.shared.registry.running();
        let is_poll = |found: &&ObservedActivity| {
            let activity = found.running.activity;
            activity.kind == ActivityKind::Poll && activity.id == task
        };
        let found = running.iter().find(is_poll)?;
        Some(self.shared.describe(found, &mut || ()))
    }

    /// Calls the action with the report of a shutdown, on the calling thread.
    pub fn report_shutdown(&self, report: &ShutdownReport) {
        self.shared.call(&Report::Shutdown(report.clone()));
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // The threads are not waited for: the action may take any time.
        *self.shared.stop.is_stopped.lock() = true;
        self.shared.stop.changed.notify_all();
    }
}

/// The findings of the thread that checks.
#[derive(Default)]
struct Findings {
    /// Those that are not reported yet.
    new: VecDeque<Finding>,
    /// The slow polls that were reported and have not ended, by their numbers.
    slow: HashMap<u64, SlowPoll>,
}

impl Shared {
    /// Runs the thread that checks.
    fn watch(&self) {
        let mut findings = Findings::default();
        let mut jobs_reported: Option<Instant> = None;
        while !self.stop.wait(self.interval) {
            self.check(&mut findings.new);
            self.report(&mut findings);
            let mut meanwhile = Meanwhile::new(self, &mut findings.new);
            if self.registry.take_lack_of_spares() {
                let report = self.no_spare_workers(&mut || meanwhile.check());
                self.reports.push(Report::NoSpareWorkers(report));
            }
            let now = Instant::now();
            let is_slow = |since: Instant| now.duration_since(since) >= self.threshold;
            let is_due = jobs_reported.is_none_or(|at| now.duration_since(at) >= JOBS_INTERVAL);
            let jobs = is_due
                .then(|| self.registry.waiting_jobs(is_slow))
                .flatten();
            if let Some((count, oldest)) = jobs {
                jobs_reported = Some(now);
                self.reports.push(Report::WaitingJobs(WaitingJobs {
                    count,
                    longest: now.duration_since(oldest.since),
                    location: oldest.location,
                }));
            }
        }
        // Polls that have ended since the last check.
        self.check(&mut findings.new);
        findings
            .new
            .retain(|found| matches!(found, Finding::Ended(..)));
        self.report(&mut findings);
        self.reports.close();
    }

    fn check(&self, found: &mut VecDeque<Finding>) {
        self.registry
            .check(self.threshold, &mut |new| found.push_back(new));
    }

    /// Reports the findings.
    fn report(&self, findings: &mut Findings) {
        while let Some(found) = findings.new.pop_front() {
            match found {
                Finding::Slow(found) => {
                    let mut meanwhile = Meanwhile::new(self, &mut findings.new);
                    let poll = self.describe(&found, &mut || meanwhile.check());
                    if let Some(number) = poll.number {
                        findings.slow.insert(number, poll.clone());
                    }
                    self.reports.push(Report::SlowPoll(poll));
                }
                Finding::Ended(number, elapsed) => {
                    if let Some(poll) = findings.slow.remove(&number) {
                        self.reports.push(Report::SlowPollEnded(SlowPoll {
                            elapsed,
                            has_ended: true,
                            ..poll
                        }));
                    }
                }
            }
        }
    }

    fn call(&self, report: &Report) {
        raddle_primitives::contain(|| (self.action)(report));
    }

    /// Describes the polls that keep workers from other tasks.
    fn no_spare_workers(&self, meanwhile: &mut dyn FnMut()) -> NoSpareWorkers {
        let running = self.registry.running().into_iter();
        let polls = running.filter(|found| {
            // The root polls of a pool are on other threads.
            found.running.activity.kind == ActivityKind::Poll && !found.running.may_block
        });
        NoSpareWorkers {
            polls: polls
                .map(|found| self.describe(&found, meanwhile))
                .collect(),
        }
    }

    fn describe(&self, found: &ObservedActivity, meanwhile: &mut dyn FnMut()) -> SlowPoll {
        let running = found.running;
        // The latest time at which it certainly runs: it may end while its stack is taken.
        let now = Instant::now();
        let is_running = found.slot.is_running(running.sequence);
        let seen = if is_running { now } else { found.seen };
        let span = found.slot.span();
        let mut sampler = self.sampler(meanwhile);
        let stack = sampler.sample(&found.slot, running.sequence, meanwhile);
        drop(sampler);
        let activity = running.activity;
        SlowPoll {
            number: found.number,
            kind: activity.kind,
            id: activity.id,
            name: self.registry.name_of(activity.id),
            // Otherwise it may be that of another activity.
            span: span.filter(|_| found.slot.is_running(running.sequence)),
            location: activity.location,
            worker: activity.worker,
            thread: found.slot.thread_name(),
            elapsed: found.times.until(seen),
            has_ended: false,
            stack,
        }
    }

    /// Waits for the sampler.
    fn sampler(&self, meanwhile: &mut dyn FnMut()) -> MutexGuard<'_, Sampler> {
        loop {
            if let Some(sampler) = self.sampler.try_lock() {
                return sampler;
            }
            std::thread::sleep(INTERVAL_RANGE.0);
            meanwhile();
        }
    }
}

/// Checks that are made while the thread that checks waits for a stack.
struct Meanwhile<'a> {
    shared: &'a Shared,
    found: &'a mut VecDeque<Finding>,
    last: Instant,
}

impl<'a> Meanwhile<'a> {
    fn new(shared: &'a Shared, found: &'a mut VecDeque<Finding>) -> Self {
        Self {
            shared,
            found,
            last: Instant::now(),
        }
    }

    /// Checks if it is time.
    fn check(&mut self) {
        if self.last.elapsed() >= self.shared.interval {
            self.last = Instant::now();
            self.shared.check(self.found);
        }
    }
}

impl Reports {
    fn push(&self, report: Report) {
        let mut queue = self.queue.lock();
        if queue.reports.len() < MAX_REPORTS {
            queue.reports.push_back(report);
        }
        drop(queue);
        self.changed.notify_one();
    }

    /// Ends the thread that calls the action, after the reports that wait.
    fn close(&self) {
        self.queue.lock().is_closed = true;
        self.changed.notify_one();
    }

    /// Waits for the next report. Returns `None` after the last one.
    fn next(&self) -> Option<Report> {
        let mut queue = self.queue.lock();
        loop {
            if let Some(report) = queue.reports.pop_front() {
                return Some(report);
            }
            if queue.is_closed {
                return None;
            }
            queue = self.changed.wait(queue);
        }
    }
}

impl Stop {
    /// Waits for `interval`. Returns whether the thread has to stop.
    fn wait(&self, interval: Duration) -> bool {
        let is_stopped = self.is_stopped.lock();
        if *is_stopped {
            return true;
        }
        let (is_stopped, _) = self.changed.wait_timeout(is_stopped, interval);
        *is_stopped
    }
}

impl fmt::Debug for Watchdog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watchdog")
            .field("threshold", &self.shared.threshold)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
