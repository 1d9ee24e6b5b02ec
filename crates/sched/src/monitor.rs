//! The monitor: it finds workers that are in polls that do not return, gives their tasks to parked
//! workers, and has spare workers serve when no worker is parked. `docs/scheduler.md`, the monitor.
//!
//! Nothing depends on when it checks them: a task that it misses waits for the next check or for its
//! worker. It reads counts that the workers write for other reasons, so they pay nothing for it.

mod sleep;
pub(crate) mod spares;
pub(crate) mod thread;

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use raddle_primitives::contain;
use raddle_primitives::sync::{Arc, Mutex, Rank};

use crate::events::MonitorAction;
use crate::worker::retirement::Retirement;
use crate::worker::shard::{Delay, Peer, Shard};

/// The time from one check to the next while a worker runs. A poll is found to be long at most 9 ms
/// after it began: this time, and [`LONG`] rounded up to checks.
const INTERVAL: Duration = Duration::from_millis(3);
/// The time to the first check, and from a check that found something to the next.
const FIRST_INTERVAL: Duration = Duration::from_millis(1);
/// The time from one check to the next while all workers are parked. The time of a poll that begins
/// in between is known from the busy time of its worker.
const PARKED_INTERVAL: Duration = Duration::from_millis(8);
/// A poll that has taken this long may not return: a spare worker takes its worker's tasks.
const LONG: Duration = Duration::from_micros(5_500);
/// If the last long poll of a worker took at most this time, its polls count as progress until they
/// take longer. Before that, a spare worker takes none of its tasks.
const PROGRESS: Duration = Duration::from_millis(25);
/// How long a worker counts as one that makes progress by long polls.
const MEMORY: Duration = Duration::from_secs(1);
/// The highest number of polls that a worker has begun since it was parked, for its busy time to
/// say when its current poll may have begun. If it is the first, that is known.
const FEW_POLLS: u64 = 8;
/// A worker whose polls take longer than this on average delays the driver's events so much that a
/// spare worker waits in the driver in its place, if events come.
const SLOW: Duration = Duration::from_micros(500);
/// A spare worker stays in the driver while all polls take longer than this on average.
const FAST: Duration = Duration::from_micros(250);
/// How long a spare worker stays after the last check that found it useful.
const STAY: Duration = Duration::from_millis(50);
/// The time to the next attempt if the system refuses a thread.
const RETRY: Duration = Duration::from_millis(100);
/// The time from one warning that there are no more spare workers to the next.
const WARNING_INTERVAL: Duration = Duration::from_secs(10);

/// What a pool needs to be monitored.
pub(crate) struct MonitorState {
    observations: Mutex<Observations>,
    /// The thread that checks the shard, if one does.
    thread: OnceLock<&'static thread::MonitorThread>,
}

/// What the monitor remembers of the workers of a pool.
#[derive(Default)]
struct Observations {
    /// The workers, and then the spare ones that were made.
    peers: Vec<Observation>,
    last_check: Duration,
    /// The sum of `late_events` of all workers.
    late_events: u64,
    /// When spare workers may leave.
    needed_until: Duration,
    /// How many checks in a row have found work that waits while all spare workers run.
    backlogged: u32,
    /// When the next spare worker may start, after the system has refused a thread.
    next_start: Duration,
    next_warning: Duration,
}

/// What the monitor remembers of a worker.
struct Observation {
    /// At the last check: the number of polls, the total busy time, and whether it was parked.
    polls: u64,
    busy: Duration,
    was_parked: bool,
    /// The number of parks then.
    parks: u64,
    /// When the current poll began, or later.
    since: Duration,
    /// Whether it was found long.
    was_long: bool,
    /// Until when polls up to [`PROGRESS`] count as progress.
    progress_until: Duration,
}

/// What the monitor sees of a worker at a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    is_running: bool,
    /// Whether it is a worker that has retired early.
    has_retired: bool,
    /// For how long it has been in the current poll, at least. Zero if it is parked.
    age: Duration,
    /// Whether its tasks wait for a poll that does not return.
    is_stuck: bool,
    /// Whether a poll has begun since the last check.
    has_moved: bool,
    /// How many polls have begun since the last check, if it has run all the time.
    polls: Option<u64>,
}

impl Default for MonitorState {
    fn default() -> Self {
        Self {
            observations: Mutex::ranked(Rank::leaf("monitor"), Observations::default()),
            thread: OnceLock::new(),
        }
    }
}

impl MonitorState {
    /// Wakes the thread if it sleeps.
    #[inline]
    pub(crate) fn wake_thread(&self) {
        if let Some(thread) = self.thread.get() {
            thread.wake_if_asleep();
        }
    }
}

/// Of a worker that was not seen before. It may not have begun to run, so it counts as one that was
/// parked: otherwise its first poll would seem to have taken since the start of the monitor.
impl Default for Observation {
    fn default() -> Self {
        Self {
            polls: 0,
            busy: Duration::ZERO,
            was_parked: true,
            parks: 0,
            since: Duration::ZERO,
            was_long: false,
            progress_until: Duration::ZERO,
        }
    }
}

impl Observation {
    /// Takes note of a worker. Its busy time counts if it `has_clock`: a worker that is stepped has
    /// no such time.
    fn update(&mut self, peer: &Peer, is_driven: bool, has_clock: bool, now: Duration) -> Seen {
        let is_running = is_driven && !peer.parker.is_parked();
        let (polls, busy) = (peer.counters.polls.get(), peer.counters.clock.busy());
        let begun = polls.wrapping_sub(self.polls);
        let was_parked = std::mem::replace(&mut self.was_parked, !is_running);
        let parks = peer.counters.parks.get();
        let has_parked = std::mem::replace(&mut self.parks, parks) != parks;
        if begun > 0 || was_parked || has_parked || !is_running {
            if self.was_long && begun > 0 {
                self.progress_until = match now.saturating_sub(self.since) <= PROGRESS {
                    true => now + MEMORY,
                    false => Duration::ZERO,
                };
            }
            let is_since_park = was_parked && is_running && (1..=FEW_POLLS).contains(&begun);
            let taken = match is_since_park && has_clock {
                true => busy.saturating_sub(self.busy),
                false => Duration::ZERO,
            };
            // Several short polls are no long one: that is found at the next check.
            let taken = if begun > 1 {
                taken.min(LONG - INTERVAL)
            } else {
                taken
            };
            self.since = now.saturating_sub(taken);
        }
        (self.polls, self.busy) = (polls, busy);
        let age = match is_running {
            true => now.saturating_sub(self.since),
            false => Duration::ZERO,
        };
        self.was_long = age >= LONG;
        let stuck_after = match now < self.progress_until {
            true => PROGRESS,
            false => LONG,
        };
        Seen {
            is_running,
            has_retired: false,
            age,
            is_stuck: age >= stuck_after,
            has_moved: begun > 0,
            polls: (is_running && !was_parked && !has_parked).then_some(begun),
        }
    }
}

impl Seen {
    fn is_long(&self) -> bool {
        self.age >= LONG
    }

    /// Whether it is in the poll of the last check, or in a long one.
    fn is_unmoved(&self) -> bool {
        self.polls == Some(0) || self.is_long()
    }

    /// Whether its polls since the last check, `elapsed` ago, have taken `time` on average.
    fn is_slower(&self, time: Duration, elapsed: Duration) -> bool {
        let polls = self.polls.and_then(|polls| u32::try_from(polls).ok());
        polls.is_some_and(|polls| time * polls <= elapsed)
    }
}

/// What a check finds. The thread acts on it without a lock.
#[derive(Default)]
struct Findings {
    /// Workers that have tasks which parked workers can take.
    to_help: Vec<usize>,
    /// Whether a task is in the injection queue while a worker is parked.
    has_injected: bool,
    /// Whether no worker waits in the driver while all are parked.
    has_free_driver: bool,
    /// The worker because of which events wait for the driver.
    lacks_driver: Option<usize>,
    /// Spare workers to call, and to ask to leave.
    to_call: Vec<usize>,
    to_dismiss: Vec<usize>,
    /// The number of spare workers to start, and whether one of them is the attendant.
    starts: usize,
    lacks_attendant: bool,
    /// The spare workers in long polls, if the lack of others is to be reported.
    lack: Option<Vec<usize>>,
    /// The first worker in a long poll, because of which it starts spare workers or warns.
    stuck: usize,
}

/// The monitor of a pool that the caller steps. The monitor of another pool is a thread.
///
/// ```
/// use std::time::Duration;
///
/// use raddle_sched::{Config, Pool, Step};
///
/// let (handle, mut workers) = Pool::stepped(Config { workers: 2, ..Config::default() }, None);
/// let _entered = handle.enter();
/// let monitor = workers[0].monitor();
/// // Worker 0 spawns a task in a poll, and is not stepped any more. Worker 1 is parked.
/// handle.spawn(async { drop(raddle_sched::spawn(async {})) });
/// assert_eq!(workers[0].step(), Step::Ran);
/// assert!(workers[1].begin_park().is_some());
/// for ms in [3, 6] {
///     monitor.check(Duration::from_millis(ms));
/// }
/// assert!(workers[1].is_unparked());
/// assert_eq!(workers[1].resume_park(), None);
/// assert_eq!(workers[1].step(), Step::Ran);
/// ```
#[derive(Clone)]
pub struct Monitor(pub(crate) Arc<Retirement>);

/// The result of [`Monitor::check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MonitorCheck {
    /// The time to the next check.
    pub next: Duration,
    /// Whether a worker runs, or has run since the last check.
    pub is_active: bool,
}

impl Monitor {
    /// Checks the workers at the time `now`, which never decreases, and helps those that are
    /// stuck: those that run and have begun no poll for some milliseconds. It may call
    /// [`Config::handoff`](crate::Config::handoff) to start a spare worker.
    pub fn check(&self, now: Duration) -> MonitorCheck {
        let shard = &self.0.shard;
        let Some(state) = shard.monitor.as_ref().filter(|_| !shard.is_closed()) else {
            return MonitorCheck {
                next: PARKED_INTERVAL,
                is_active: false,
            };
        };
        let mut observations = state.observations.lock();
        let has_clock = state.thread.get().is_some();
        let (findings, check) = observations.check(shard, has_clock, now);
        drop(observations);
        let has_failed = findings.act(&self.0);
        if has_failed {
            state.observations.lock().next_start = now + RETRY;
        }
        check
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").finish_non_exhaustive()
    }
}

impl Observations {
    fn check(&mut self, shard: &Shard, has_clock: bool, now: Duration) -> (Findings, MonitorCheck) {
        let mut findings = Findings::default();
        let made = shard.all_peers().count();
        self.peers.resize_with(made, Observation::default);
        let workers = shard.peers.iter().enumerate();
        let workers = workers.map(|(worker, peer)| (peer, shard.idle.is_present(worker)));
        let spares = shard
            .spares
            .iter()
            .map(|spare| (&spare.peer, spare.is_driven()));
        let peers = self.peers.iter_mut().zip(workers.chain(spares)).enumerate();
        let seen: Vec<_> = peers
            .map(|(number, (observation, (peer, is_driven)))| {
                let mut seen = observation.update(peer, is_driven, has_clock, now);
                seen.has_retired = number < shard.peers.len() && !is_driven;
                let is_stuck = seen.is_stuck || seen.has_retired;
                peer.set_delay(match (is_stuck, seen.is_unmoved()) {
                    (true, _) => Delay::Stuck,
                    (false, true) => Delay::Unmoved,
                    (false, false) => Delay::None,
                });
                seen
            })
            .collect();
        let elapsed = now.saturating_sub(std::mem::replace(&mut self.last_check, now));
        if shard.idle.is_any_parked() {
            find_work_for_parked(shard, &seen, &mut findings);
            // The attendant has left while all workers were parked outside the driver.
            findings.has_free_driver = !shard.driver.is_empty() && !shard.idle.is_any_running();
        }
        if shard.spares.max() > 0 {
            self.plan_spares(shard, now, elapsed, &seen, &mut findings);
        }
        let is_running = seen.iter().any(|seen| seen.is_running);
        let is_amiss = findings.starts > 0 || !findings.to_help.is_empty();
        let check = MonitorCheck {
            next: match (is_amiss, is_running) {
                (true, _) => FIRST_INTERVAL,
                (false, true) => INTERVAL,
                (false, false) => PARKED_INTERVAL,
            },
            is_active: is_running
                || seen.iter().any(|seen| seen.has_moved)
                || shard.spares.active() > 0,
        };
        (findings, check)
    }

    /// Decides which spare workers serve. One, the attendant, waits in the driver and runs what its
    /// events and timers wake. Others help: they take the tasks of stuck workers.
    fn plan_spares(
        &mut self,
        shard: &Shard,
        now: Duration,
        elapsed: Duration,
        seen: &[Seen],
        findings: &mut Findings,
    ) {
        let spares = &shard.spares;
        let (workers, seen_spares) = seen.split_at(shard.peers.len());
        let workers = workers.iter().filter(|seen| !seen.has_retired);
        let workers = Vec::from_iter(workers);
        let late_events = shard
            .peers
            .iter()
            .map(|peer| peer.counters.late_events.get());
        let late_events = late_events.sum();
        let has_late_events = std::mem::replace(&mut self.late_events, late_events) != late_events;
        let are_slow = |time| workers.iter().all(|seen| seen.is_slower(time, elapsed));
        let is_driver_needed = shard.has_driver() && workers.iter().all(|seen| seen.is_long())
            || has_late_events && are_slow(SLOW);
        if is_driver_needed || now < self.needed_until && are_slow(FAST) {
            self.needed_until = now + STAY;
        }
        let stuck = workers.iter().filter(|seen| seen.is_stuck).count();
        let work_waits = shard
            .all_peers()
            .any(|peer| peer.is_delayed(Delay::Stuck) && peer.has_queued())
            || stuck == workers.len() && !shard.injection.is_empty();

        let serving = |&number: &usize| {
            let spare = spares.get(number);
            spare.is_active() && !spare.is_leaving()
        };
        let serving = (0..seen_spares.len()).filter(serving);
        let (mut in_long_polls, mut helpers): (Vec<_>, Vec<_>) =
            serving.partition(|&number| seen_spares[number].is_long());
        let mut starts = 0;

        let mut attendant = None;
        if now < self.needed_until {
            let former = helpers
                .iter()
                .position(|number| spares.attendant() == Some(*number));
            attendant = (!helpers.is_empty()).then(|| helpers.remove(former.unwrap_or(0)));
            findings.lacks_attendant = attendant.is_none();
            starts += usize::from(attendant.is_none());
        }
        // Until its thread has come, the workers poll the driver.
        spares.set_attendant(attendant.filter(|&number| spares.get(number).is_driven()));

        let all_run = helpers.iter().all(|&number| seen_spares[number].is_running);
        self.backlogged = if work_waits && all_run {
            self.backlogged + 1
        } else {
            0
        };
        if helpers.len() < stuck && self.backlogged > u32::from(!helpers.is_empty()) {
            self.backlogged = 0;
            starts += 1;
        }
        findings
            .to_dismiss
            .extend(helpers.drain(stuck.min(helpers.len())..));

        let reserve = spares.max() - spares.active();
        if let (Some(sharing), true) = (&shard.sharing, reserve == spares.max()) {
            sharing.end();
        }
        if now >= self.next_start {
            findings.starts = starts.min(reserve);
        }
        let serves_none = attendant.is_none() && helpers.is_empty();
        if findings.starts > 0 || serves_none {
            // Others serve in their place, or none need to: they leave when their polls return.
            findings.to_dismiss.append(&mut in_long_polls);
        }
        findings.stuck = seen.iter().position(Seen::is_long).unwrap_or(0);
        let lacks_spare = starts > 0 && reserve == 0 && serves_none;
        if lacks_spare && work_waits && now >= self.next_warning {
            self.next_warning = now + WARNING_INTERVAL;
            let long = (0..seen_spares.len()).filter(|&number| seen_spares[number].is_long());
            findings.lack = Some(long.collect());
        }
        // Without a helper, the attendant does both.
        let helps_alone = helpers.is_empty() && starts > findings.starts;
        if let Some(attendant) = attendant {
            spares.get(attendant).set_helper(helps_alone);
        }
        for &number in &helpers {
            spares.get(number).set_helper(true);
        }
        if work_waits {
            findings.to_call.append(&mut helpers);
        }
        findings
            .to_call
            .extend(attendant.filter(|_| work_waits && helps_alone || !shard.driver.is_empty()));
        findings
            .to_call
            .retain(|&number| !seen_spares[number].is_running);
    }
}

/// What parked workers can do.
fn find_work_for_parked(shard: &Shard, seen: &[Seen], findings: &mut Findings) {
    findings.has_injected = !shard.injection.is_empty();
    for (worker, (peer, seen)) in shard.all_peers().zip(seen).enumerate() {
        // The last push to the queue may have notified no worker.
        if !peer.stealer.is_empty() || seen.is_unmoved() && !peer.slot.is_empty() {
            findings.to_help.push(worker);
        }
        if seen.is_unmoved() && !shard.driver.is_empty() {
            findings.lacks_driver.get_or_insert(worker);
        }
    }
}

impl Findings {
    /// Returns whether a spare worker could not be started.
    fn act(self, retirement: &Arc<Retirement>) -> bool {
        let shard = &retirement.shard;
        for worker in self.to_help {
            let peer = shard.peer(worker);
            let action = match peer.stealer.is_empty() {
                true => MonitorAction::TookNextTask,
                false => MonitorAction::HelpedWorker,
            };
            shard.stealable.insert(worker);
            shard.notify();
            shard.notify_of_action(worker, action);
        }
        if self.has_injected || self.has_free_driver {
            shard.notify();
        }
        if let Some(worker) = self.lacks_driver {
            // The worker that is woken parks in the driver.
            if shard.notify() {
                shard.notify_of_action(worker, MonitorAction::TookDriver);
            }
        }
        for spare in self.to_call {
            shard.call_spare(spare);
        }
        for spare in self.to_dismiss {
            shard.spares.get(spare).ask_to_leave();
            shard.unpark(shard.peers.len() + spare);
        }
        if let Some(spares) = self.lack {
            shard.spares.count_shortage();
            shard.notify_of_action(self.stuck, MonitorAction::LacksSpare);
            if let Some(report) = &shard.config.on_spares_used_up {
                let polled = spares.iter().map(|&it| shard.spares.get(it).polled());
                let polled = Vec::from_iter(polled);
                contain(|| report(&polled));
            }
        }
        (0..self.starts).any(|start| {
            shard.notify_of_action(self.stuck, MonitorAction::StartedSpare);
            !start_spare(retirement, self.lacks_attendant && start == 0)
        })
    }
}

/// Has a thread drive a spare worker. Returns whether the thread was not refused at once.
fn start_spare(retirement: &Arc<Retirement>, is_attendant: bool) -> bool {
    let shard = &retirement.shard;
    let Some(start) = shard
        .config
        .handoff
        .as_ref()
        .filter(|_| shard.share_queues())
    else {
        return true;
    };
    let Some(handoff) = Retirement::take_spare(retirement) else {
        return true;
    };
    let number = handoff.worker() - shard.peers.len();
    let spare = shard.spares.get(number);
    spare.set_helper(!is_attendant);
    // A panic of the user's function, which drops the handoff, must not end the monitor.
    contain(|| start(handoff));
    spare.is_active()
}

impl Shard {
    /// Notifies the observer of what the monitor does because of a worker.
    fn notify_of_action(&self, stuck: usize, action: MonitorAction) {
        let stuck = self.first_worker + stuck;
        self.config
            .notify(|observer| observer.monitor_acted(stuck, action));
    }
}
