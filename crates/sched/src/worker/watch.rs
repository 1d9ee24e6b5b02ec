//! Keeping watch: a parked worker looks after those that run, and takes what
//! waits behind a poll that does not return. `docs/scheduler.md`, the watch.

use std::time::{Duration, Instant};

use super::Core;
use crate::metrics::Pace;
use crate::shared::Remote;

/// How long a watcher sleeps before its first look.
const FIRST_LOOK: Duration = Duration::from_millis(1);
/// How long it sleeps at most: two looks see that a worker does not get on, and
/// what it leaves undone is to be served within 10 ms.
const LONGEST_LOOK: Duration = Duration::from_millis(4);
/// How many polls between two looks make it worth while to look again though
/// everybody is parked: to appoint a watcher anew costs a wake-up.
const LIVELY: u64 = 8;

/// What a watcher remembers of the others.
pub(super) struct Watch {
    sights: Box<[Sight]>,
    interval: Duration,
    /// When it looked last.
    looked: Option<Instant>,
    /// Whether the others ran many tasks between the last two looks.
    lingers: bool,
}

/// What was last seen of one worker.
#[derive(Clone, Copy, Default)]
struct Sight {
    progress: u64,
    parks: u64,
    /// Whether it ran, and had not got on since the look before.
    stuck: bool,
    /// Whether it had run all the time since then, and its polls were long: its
    /// past, of which it takes note every so many polls, may not know yet.
    slow: bool,
}

impl Watch {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            sights: vec![Sight::default(); workers].into(),
            interval: FIRST_LOOK,
            looked: None,
            lingers: false,
        }
    }

    /// How long to sleep until the next look.
    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// Whether to go on watching when everybody is parked.
    pub(super) fn lingers(&self) -> bool {
        self.lingers
    }

    /// Starts a watch with short intervals.
    pub(super) fn begin(&mut self) {
        self.interval = FIRST_LOOK;
        self.lingers = false;
    }

    /// Whether a worker that was stuck at the last look still is.
    fn still_stuck(&self, remotes: &[Remote]) -> bool {
        self.sights
            .iter()
            .zip(remotes)
            .any(|(sight, remote)| sight.stuck && sight.progress == progress(remote))
    }

    /// Looks at every worker but `own`, and gives those that are stuck to
    /// `rescue`, which says whether it took anything.
    fn look(&mut self, own: usize, remotes: &[Remote], mut rescue: impl FnMut(&Remote) -> bool) {
        let time = Instant::now();
        let passed = self.looked.replace(time).map(|before| time - before);
        let mut rescued = false;
        let mut moved = 0;
        for (index, (sight, remote)) in self.sights.iter_mut().zip(remotes).enumerate() {
            let now = progress(remote);
            let polls = now.wrapping_sub(sight.progress);
            let parks = remote.counters.parks.get();
            let runs = index != own && !remote.parker.is_parked();
            sight.stuck = runs && polls == 0;
            sight.slow = runs
                && sight.parks == parks
                && passed.is_some_and(|passed| Pace::is_long(passed, polls));
            moved += polls;
            sight.progress = now;
            sight.parks = parks;
            rescued |= sight.stuck && rescue(remote);
        }
        self.lingers = moved >= LIVELY;
        self.interval = match rescued {
            true => FIRST_LOOK,
            false => (self.interval * 2).min(LONGEST_LOOK),
        };
    }
}

/// A hint: what is taken on the strength of it is taken by a read-modify-write.
fn progress(remote: &Remote) -> u64 {
    remote.counters.polls.get()
}

impl Core {
    /// Looks after the other workers. Whether there is something to run now.
    pub(super) fn keep_watch(&self) -> bool {
        self.watch
            .borrow_mut()
            .look(self.index, &self.shared.remotes, |stuck| {
                let task = stuck.slot.take();
                let rescued = task.is_some();
                if let Some(task) = task {
                    self.counters.stole(1);
                    let _ = self.push_needs_notify(task);
                }
                rescued
            });
        !self.queue.is_empty() || !self.shared.injection.is_empty() || self.is_help_wanted()
    }

    /// Whether there is something in the queue of a worker that is stuck, or is
    /// slow, or has more than it gets through.
    fn is_help_wanted(&self) -> bool {
        let watch = self.watch.borrow();
        let mut sights = watch.sights.iter().zip(&self.shared.remotes).enumerate();
        sights.any(|(worker, (sight, remote))| {
            !remote.stealer.is_empty() && (sight.stuck || sight.slow || !self.trusts(worker))
        })
    }

    /// Whether a watcher should wait in the driver, because the worker that
    /// came out of it does not get on, or is trusted to be back soon though it
    /// has become slow. As long as all do, it leaves the driver to that one: if
    /// an event woke the watcher, another would have to be woken to keep watch.
    pub(super) fn watches_over_stuck(&self) -> bool {
        let watch = self.watch.borrow();
        let mut sights = watch.sights.iter().enumerate();
        watch.still_stuck(&self.shared.remotes)
            || sights.any(|(worker, sight)| sight.slow && self.trusts(worker))
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
