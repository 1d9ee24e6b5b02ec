//! The monitor and the spare workers of a run: polls that do not return, threads that the seed
//! starts late or not at all, and what has to hold meanwhile.

use std::sync::Arc;

use raddle_primitives::sync::Mutex;
use raddle_sched::{Handoff, Policy, StartHandoff};

use super::{Duration, Event, MAX_DRIVES_UNTIL_PARKED, Micros, Run, World, task};

/// The longest time from one check to the next while a worker runs.
const MAX_CHECK_INTERVAL: Micros = 3_000;
/// The longest time that the system takes to start a thread.
const MAX_THREAD_START: Micros = 8_000;
/// For how long no thread is requested after the system has refused one.
const RETRY: Micros = 100_000;
/// For how long a ready task may wait behind polls that do not return, in addition to the time to
/// start a thread.
const MAX_WAIT: Micros = 10_000;
/// The same while workers make progress by polls that take up to 25 ms.
const MAX_WAIT_BEHIND_PROGRESS: Micros = 32_000;
/// How long a poll takes that is not progress.
const MIN_STUCK: usize = 40_000;
const MAX_STUCK: usize = 100_000;
/// No further poll begins to be stuck when a stall has taken this long.
const MAX_STALL: Micros = 300_000;
/// When the last spare worker has left after the polls have returned.
const MAX_STAY: Micros = 75_000;
/// The longest poll that counts as short.
const MAX_SHORT_POLL: usize = 200;
/// How many drives are made to have all workers run a task.
const MAX_DRIVES_UNTIL_ALL_RUN: usize = 60;

/// The requests for threads that drive spare workers.
#[derive(Clone)]
pub(super) struct Requests {
    world: World,
    /// With the time at which the thread starts.
    waiting: Arc<Mutex<Vec<(Micros, Handoff)>>>,
}

impl Requests {
    pub(super) fn new(world: &World) -> Self {
        Self {
            world: world.clone(),
            waiting: Arc::default(),
        }
    }

    /// The function that the scheduler calls. Sometimes the system refuses the thread.
    pub(super) fn start_handoff(&self) -> StartHandoff {
        let this = self.clone();
        Arc::new(move |handoff: Handoff| {
            let worker = handoff.worker();
            let is_refused = this.world.one_in(8);
            let start = this.world.with(|state| {
                if is_refused {
                    state.note(Event::Refuse, worker);
                    state.served_since = state.now + RETRY + MAX_CHECK_INTERVAL;
                    return None;
                }
                state.note(Event::Request, worker);
                Some(state.now + state.rng.below(MAX_THREAD_START as usize) as Micros)
            });
            match start {
                Some(start) => this.waiting.lock().push((start, handoff)),
                None => drop(handoff),
            }
        })
    }

    /// Takes a request whose thread starts at `now` at the latest.
    fn take_due(&self, now: Micros) -> Option<Handoff> {
        let mut waiting = self.waiting.lock();
        let index = waiting.iter().position(|(start, _)| *start <= now)?;
        Some(waiting.swap_remove(index).1)
    }

    /// Takes any request.
    fn take_any(&self) -> Option<Handoff> {
        let count = self.waiting.lock().len();
        let index = (count > 0).then(|| self.world.below(count))?;
        Some(self.waiting.lock().swap_remove(index).1)
    }

    fn next_start(&self) -> Option<Micros> {
        self.waiting.lock().iter().map(|(start, _)| *start).min()
    }

    fn is_empty(&self) -> bool {
        self.waiting.lock().is_empty()
    }
}

/// What the seed decides of the spare workers of a run.
pub(super) struct Limits {
    max_spares: usize,
    /// Whether some polls that take long still count as progress.
    pub(super) has_progress: bool,
}

impl Limits {
    pub(super) fn new(world: &World, max_spares: usize) -> Self {
        Self {
            max_spares,
            has_progress: world.one_in(2),
        }
    }

    fn max_wait(&self) -> Micros {
        let max_wait = match self.has_progress {
            true => MAX_WAIT_BEHIND_PROGRESS,
            false => MAX_WAIT,
        };
        max_wait + MAX_THREAD_START
    }
}

impl Run {
    /// Has the monitor check the workers.
    pub(super) fn check(&mut self) {
        let Some(monitor) = &self.monitor else { return };
        let now = self.now();
        self.world.with(|state| state.note(Event::MonitorCheck, 0));
        let check = monitor.check(Duration::from_micros(now));
        // A thread knows when the poll of a worker that was parked has begun. Here it checks sooner.
        let next = (check.next.as_micros() as Micros).min(MAX_CHECK_INTERVAL);
        self.next_check = now + next;
        let (active, max) = (self.active_spares(), self.limits.max_spares);
        self.world.with(|state| {
            state.check(active <= max, || {
                format!("{active} spare workers are active, of at most {max}")
            });
        });
    }

    fn active_spares(&self) -> usize {
        self.handle.metrics().spare_workers()
    }

    /// Does something with a spare worker at an unusual time, or has the monitor check.
    pub(super) fn do_with_spare(&mut self) {
        match self.world.below(4) {
            0 | 1 => {
                if let Some(handoff) = self.requests.take_any() {
                    self.start_spare(handoff);
                }
            }
            2 => {
                // The thread was started, and ended before it ran the worker.
                if let Some(handoff) = self.requests.take_any() {
                    self.world
                        .with(|state| state.note(Event::DropHandoff, handoff.worker()));
                    drop(handoff);
                }
            }
            _ => self.check(),
        }
    }

    /// A thread begins to drive a spare worker.
    fn start_spare(&mut self, handoff: Handoff) {
        let worker = handoff.worker();
        self.world
            .with(|state| state.note(Event::StartSpare, worker));
        if let Some(spare) = handoff.into_worker() {
            self.workers[worker].begin(spare);
        }
    }

    fn start_due_spares(&mut self) {
        while let Some(handoff) = self.requests.take_due(self.now()) {
            self.start_spare(handoff);
        }
    }

    /// Some workers get into polls that do not return for a long time: often all of them, while
    /// tasks wait in their slots and queues, and other tasks, events and timers become ready. Spare
    /// workers may get stuck, too.
    pub(super) fn stall(&mut self) {
        if self.monitor.is_none() || self.alive() == 0 {
            return;
        }
        if self.world.one_in(2) {
            self.drive_until_all_have_run();
        }
        self.world.with(|state| state.note(Event::Stall, 0));
        let is_for_all = !self.world.one_in(3);
        for worker in 0..self.workers.len() {
            if self.workers[worker].has_run() && (is_for_all || self.world.one_in(2)) {
                self.get_stuck(worker);
            }
        }
        let begin = self.now();
        self.world.with(|state| {
            state.served_since = state.served_since.max(begin);
        });
        // A thread knows when these polls have begun.
        self.check();
        loop {
            self.start_due_spares();
            if self.world.one_in(3) {
                task::act(&self.world);
            }
            self.drive_stalled(begin);
            let can_serve = self.can_serve();
            let limit = self.limits.max_wait();
            self.world.with(|state| {
                if !can_serve {
                    state.served_since = state.served_since.max(state.now);
                }
                state.check_waits(limit);
            });
            let now = self.now();
            let end = self.workers.iter().filter_map(|it| it.returns_at()).max();
            if end.is_none() || self.has_failed() {
                break;
            }
            let at_random = now + 1 + self.world.below(4_000) as Micros;
            self.advance_to_next(at_random);
            let now = self.now();
            for worker in 0..self.workers.len() {
                if self.workers[worker].return_by(now) {
                    self.world.with(|state| {
                        state.note(Event::Return, worker);
                        // It may be the only worker that serves, and take what the monitor has
                        // found.
                        state.served_since = state.served_since.max(now);
                    });
                }
            }
        }
        if !self.has_failed() && self.world.one_in(2) {
            self.check_shrinks();
        }
    }

    /// Drives the workers that are not stuck until they are parked. Spare workers may get stuck.
    fn drive_stalled(&mut self, begin: Micros) {
        let may_get_stuck = self.now() < begin + MAX_STALL;
        for _ in 0..MAX_DRIVES_UNTIL_PARKED {
            let due = self.due();
            let Some(index) = self.world.with(|state| state.rng.pick(&due)) else {
                return;
            };
            let worker = due[index];
            self.drive(worker);
            self.check_awake();
            if self.has_failed() {
                return;
            }
            let is_spare = self.workers[worker].is_spare;
            if may_get_stuck && is_spare && self.workers[worker].has_run() && self.world.one_in(6) {
                self.get_stuck(worker);
            }
        }
        self.world
            .with(|state| state.fail(|| "the workers do not park".to_owned()));
    }

    fn get_stuck(&mut self, worker: usize) {
        let time = match self.limits.has_progress && self.world.one_in(2) {
            true => 3_000 + self.world.below(MIN_STUCK),
            false => MIN_STUCK + self.world.below(MAX_STUCK - MIN_STUCK),
        };
        let until = self.now() + time as Micros;
        self.world.with(|state| {
            state.note(Event::GetStuck, worker);
            state.served_since = state.served_since.max(state.now);
        });
        self.workers[worker].get_stuck(until);
    }

    /// Whether a worker serves, or one can be started.
    fn can_serve(&self) -> bool {
        let serves = |stepped: &super::SteppedWorker| stepped.is_alive() && !stepped.is_stuck();
        self.workers.iter().any(serves)
            || !self.requests.is_empty()
            || self.active_spares() < self.limits.max_spares
    }

    /// Lets time pass until something can happen, but not beyond `limit`.
    fn advance_to_next(&mut self, limit: Micros) {
        let deadlines = self
            .workers
            .iter()
            .filter_map(|it| it.deadline(&self.world));
        let returns = self.workers.iter().filter_map(|it| it.returns_at());
        let next = deadlines.chain(returns).chain(self.requests.next_start());
        let next = next.chain([self.next_check, limit]).min().unwrap_or(limit);
        let time = next.saturating_sub(self.now());
        self.advance(time);
    }

    /// Has each worker run a task, if that can be done.
    fn drive_until_all_have_run(&mut self) {
        for _ in 0..MAX_DRIVES_UNTIL_ALL_RUN {
            let mut due = self.due();
            due.retain(|worker| !self.workers[*worker].has_run());
            match self.world.with(|state| state.rng.pick(&due)) {
                Some(index) => self.drive(due[index]),
                None if self.all_have_run() => return,
                None => task::act(&self.world),
            }
        }
    }

    fn all_have_run(&self) -> bool {
        let mut workers = self
            .workers
            .iter()
            .filter(|it| !it.is_spare && it.is_alive());
        workers.all(|stepped| stepped.has_run())
    }

    /// No poll takes long any more: all spare workers leave.
    fn check_shrinks(&mut self) {
        let limit = self.now() + MAX_STAY;
        while self.now() < limit && !self.has_failed() {
            self.start_due_spares();
            self.drive_until_parked();
            self.advance_to_next(limit);
        }
        self.drive_until_parked();
        let active = self.active_spares();
        self.world.with(|state| {
            state.check(active == 0, || {
                format!("{active} spare workers do not leave")
            });
        });
    }

    /// Many short polls: no spare worker is started.
    pub(super) fn flow(&mut self) {
        let has_all = self.workers.iter().all(|it| it.is_spare || it.is_alive());
        if self.monitor.is_none() || !has_all {
            return;
        }
        self.world.with(|state| state.note(Event::Flow, 0));
        self.check_shrinks();
        let starts = self.handle.metrics().spare_starts();
        let poll = 1 + self.world.below(MAX_SHORT_POLL) as Micros;
        for _ in 0..self.world.below(100) {
            if self.world.one_in(2) {
                task::act(&self.world);
            }
            for worker in self.due() {
                self.drive(worker);
            }
            self.check_awake();
            if self.has_failed() {
                return;
            }
            self.advance(poll);
        }
        let started = self.handle.metrics().spare_starts() - starts;
        self.world.with(|state| {
            state.check(started == 0, || {
                format!("{started} spare workers were started while all polls were short")
            });
        });
    }

    /// The workers were dropped. Spare workers leave by themselves, or are dropped as well.
    pub(super) fn end_spares(&mut self) {
        let is_dropped = self.world.one_in(2);
        for worker in 0..self.workers.len() {
            self.workers[worker].return_by(Micros::MAX);
        }
        for _ in 0..MAX_DRIVES_UNTIL_PARKED {
            let is_any_left = self.workers.iter().any(super::SteppedWorker::is_alive);
            if !is_any_left && self.requests.is_empty() {
                break;
            }
            let worker = self.world.below(self.workers.len());
            match self.world.below(6) {
                0 if is_dropped => self.drop_worker(worker),
                1 => task::act(&self.world),
                2 => self.do_with_spare(),
                _ => self.drive(worker),
            }
        }
        let left = self.workers.iter().position(super::SteppedWorker::is_alive);
        self.world.with(|state| {
            state.check(left.is_none(), || {
                format!("the spare worker {left:?} does not leave when the scheduler has ended")
            });
        });
        for worker in 0..self.workers.len() {
            self.drop_worker(worker);
        }
        while let Some(handoff) = self.requests.take_any() {
            drop(handoff);
        }
        self.world.with(|state| state.has_spares = false);
        self.monitor = None;
    }

    /// Whether workers never take tasks from each other.
    pub(super) fn is_sharded(&self) -> bool {
        self.world.with(|state| state.policy == Policy::Sharded)
    }
}
