//! The thread that checks the other threads.

use std::fmt;
use std::io;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use raddle_primitives::sync::{Arc, Condvar, Mutex, Rank};
use raddle_primitives::thread;

use crate::observer::WatchdogObserver;
use crate::registry::{ObservedActivity, Registry};
use crate::report::{NoSpareWorkers, Report, ShutdownReport, SlowPoll, WaitingJobs};
use crate::slot::{ActivityKind, ActivitySlot};
use crate::stack::Sampler;

/// The number of checks within the threshold.
const CHECKS: u32 = 4;
/// The shortest and the longest time between two checks.
const INTERVAL_RANGE: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(250));
/// The time that a thread has to take the sample of its stack. It takes microseconds, unless the
/// thread gets no processor, blocks the signal or is in a system call that no signal ends.
const SAMPLE_LIMIT: Duration = Duration::from_millis(500);
/// The interval at which waiting jobs are reported.
const JOBS_INTERVAL: Duration = Duration::from_secs(1);

/// Held during a sample: the process has one signal handler, which answers one request at a time.
#[allow(
    clippy::disallowed_types,
    reason = "no model has a watchdog, and the locks of models have no constant value"
)]
// UNRANKED: files are read under it, and no lock but that of a slot is taken.
static SAMPLING: std::sync::Mutex<()> = std::sync::Mutex::new(());

type Action = Box<dyn Fn(&Report) + Send + Sync>;

/// Watches the threads of a runtime, and calls an action while something takes too long.
///
/// A separate thread checks them every quarter of the threshold, but at intervals of 1 to 250 ms.
/// Dropping the watchdog stops it.
pub struct Watchdog {
    shared: Arc<Shared>,
}

struct Shared {
    threshold: Duration,
    registry: std::sync::Arc<Registry>,
    action: Action,
    sampler: Mutex<Sampler>,
    stop: Stop,
}

/// Tells the thread to stop.
struct Stop {
    is_stopped: Mutex<bool>,
    changed: Condvar,
}

impl Watchdog {
    /// Starts the thread. It calls `action` once for each slow poll and for the other reports, and
    /// checks no polls meanwhile. The panic hook reports a panic in the action, which has no other
    /// effect.
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
            registry: std::sync::Arc::new(Registry::new()),
            action: Box::new(action),
            // UNRANKED: files are read under it, and no lock but that of a slot is taken.
            sampler: Mutex::new(Sampler::new()),
            stop: Stop {
                is_stopped: Mutex::ranked(Rank::leaf("watchdog stop"), false),
                changed: Condvar::new(),
            },
        });
        let watching = Arc::clone(&shared);
        thread::Builder::new()
            .name("raddle-watchdog".to_owned())
            .spawn(move || watching.watch())?;
        Ok(Self { shared })
    }

    /// Returns the observer for the scheduler to watch.
    pub fn observer(&self) -> std::sync::Arc<dyn raddle_sched::Observer> {
        std::sync::Arc::new(WatchdogObserver(std::sync::Arc::clone(
            &self.shared.registry,
        )))
    }

    /// Returns the observer for the blocking pool to watch.
    pub fn job_observer(&self) -> std::sync::Arc<dyn raddle_blocking::JobObserver> {
        std::sync::Arc::new(WatchdogObserver(std::sync::Arc::clone(
            &self.shared.registry,
        )))
    }

    /// Returns all polls and blocking jobs that run now, including the fast ones, with the stacks
    /// of their threads.
    pub fn running(&self) -> Vec<SlowPoll> {
        let now = Instant::now();
        let running = self.shared.registry.running(now);
        running
            .iter()
            .map(|found| self.shared.describe(found))
            .collect()
    }

    /// Calls the action with the report of a shutdown, on the calling thread.
    pub fn report_shutdown(&self, report: &ShutdownReport) {
        self.shared.call(&Report::Shutdown(report.clone()));
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // The thread is not waited for: the action may take any time.
        *self.shared.stop.is_stopped.lock() = true;
        self.shared.stop.changed.notify_all();
    }
}

impl Shared {
    /// Runs the thread of the watchdog.
    fn watch(&self) {
        let interval = (self.threshold / CHECKS).clamp(INTERVAL_RANGE.0, INTERVAL_RANGE.1);
        let mut jobs_reported: Option<Instant> = None;
        self.sampler.lock().prepare();
        while !self.stop.wait(interval) {
            let now = Instant::now();
            let is_slow = |since: Instant| now.duration_since(since) >= self.threshold;
            for found in self.registry.slow_polls(now, is_slow) {
                let poll = self.describe(&found);
                self.call(&Report::SlowPoll(poll));
            }
            if self.registry.take_lack_of_spares() {
                self.call(&Report::NoSpareWorkers(self.no_spare_workers(now)));
            }
            let is_due = jobs_reported.is_none_or(|at| now.duration_since(at) >= JOBS_INTERVAL);
            let jobs = is_due
                .then(|| self.registry.waiting_jobs(is_slow))
                .flatten();
            if let Some((count, oldest)) = jobs {
                jobs_reported = Some(now);
                self.call(&Report::WaitingJobs(WaitingJobs {
                    count,
                    longest: now.duration_since(oldest.since),
                    location: oldest.location,
                }));
            }
        }
    }

    fn call(&self, report: &Report) {
        raddle_primitives::contain(|| (self.action)(report));
    }

    /// Describes the polls that keep workers from other tasks.
    fn no_spare_workers(&self, now: Instant) -> NoSpareWorkers {
        let running = self.registry.running(now).into_iter();
        let polls = running.filter(|found| {
            // The root polls of a pool are on other threads.
            found.running.activity.kind == ActivityKind::Poll && !found.running.may_block
        });
        NoSpareWorkers {
            polls: polls.map(|found| self.describe(&found)).collect(),
        }
    }

    fn describe(&self, found: &ObservedActivity) -> SlowPoll {
        let running = found.running;
        let stack = self.stack(&found.slot, running.sequence);
        let activity = running.activity;
        SlowPoll {
            kind: activity.kind,
            id: activity.id,
            name: self.registry.name_of(activity.id),
            location: activity.location,
            worker: activity.worker,
            thread: found.slot.thread_name(),
            elapsed: found.since.elapsed(),
            stack,
        }
    }

    /// Returns the stack of a thread while it runs the activity with this sequence.
    fn stack(&self, slot: &ActivitySlot, sequence: usize) -> Option<crate::StackTrace> {
        let mut sampler = self.sampler.lock();
        // The watchdogs of other runtimes take their samples after one another.
        let _alone = SAMPLING.lock().unwrap_or_else(PoisonError::into_inner);
        let pending = slot.request(&sampler, sequence)?;
        let trace = sampler.wait(pending, SAMPLE_LIMIT)?;
        // Otherwise the stack may be that of another activity.
        slot.is_running(sequence).then_some(trace)
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
