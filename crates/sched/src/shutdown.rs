//! The end of a scheduler: every task is dropped, once, by its worker, or else
//! by the last one.
//!
//! `docs/idle-protocol.md`, shutdown, has the steps and why a task cannot
//! outlive the shared state.

use raddle_std::sync::Arc;
use raddle_std::thread;

use crate::context;
use crate::shared::Shared;
use crate::task::Task;
use crate::worker::seat::Seat;

/// Who has seen the end of a scheduler, and who has yet to.
pub(crate) struct Ended {
    workers: Vec<Seat>,
    /// How many threads are in polls that their workers have left.
    pub(crate) displaced: usize,
}

impl Ended {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            workers: Vec::with_capacity(workers),
            displaced: 0,
        }
    }

    /// Whether one more worker of so many is all there is to wait for.
    fn lacks_one(&self, workers: usize) -> bool {
        self.workers.len() + 1 == workers && self.displaced == 0
    }

    /// All the workers, once all have been handed in and nobody is in a poll.
    fn take(&mut self, workers: usize) -> Option<Vec<Seat>> {
        (self.workers.len() == workers && self.displaced == 0)
            .then(|| std::mem::take(&mut self.workers))
    }
}

/// Takes a worker out of service. The last to go ends the scheduler.
pub(crate) fn hand_in(seat: Seat) {
    let shared = seat.shared_arc().clone();
    let mut seats = vec![seat];
    if !shared.is_closed() {
        seats[0].abandon();
    } else if shared.take_earlier(&mut seats) {
        cancel_waiting(&seats);
    }
    finish_after(&shared, |ended| ended.workers.append(&mut seats));
}

/// Says that a displaced thread is out of its poll. The last to go ends the
/// scheduler.
pub(crate) fn stand_down(seat: Seat) {
    let shared = seat.shared_arc().clone();
    // The memory of the worker, which is another thread's.
    drop(seat);
    finish_after(&shared, |ended| ended.displaced -= 1);
}

/// Drops the tasks that no poll needs to return for, before others go: a poll
/// that another is in may wait for just that, for a sender that one of these
/// tasks has.
fn cancel_waiting(cores: &[Seat]) {
    let handle = cores[0].handle();
    let _current = handle.enter();
    let _worker = context::enter_worker(&cores[0]);
    abort_all(cores);
    cancel_queued(cores);
}

impl Shared {
    /// Adds the workers that were handed in before, whose tasks may have
    /// nobody else to drop them. False, and nothing has changed, if there is
    /// only one worker left to wait for, the caller's.
    fn take_earlier(&self, seats: &mut Vec<Seat>) -> bool {
        let mut ended = self.ended.lock();
        let others_run = !ended.lacks_one(self.remotes.len());
        if others_run {
            seats.append(&mut ended.workers);
        }
        others_run
    }
}

fn finish_after(shared: &Arc<Shared>, change: impl FnOnce(&mut Ended)) {
    let all = {
        let mut ended = shared.ended.lock();
        change(&mut ended);
        ended.take(shared.remotes.len())
    };
    if let Some(seats) = all {
        finish(shared, seats);
    }
}

fn finish(shared: &Arc<Shared>, mut cores: Vec<Seat>) {
    let announce = Announce(shared);
    shared.close();
    // The drops of futures find their scheduler as their polls did; all of it, if
    // this is the end of one shard.
    let handle = cores[0].handle();
    let current = handle.enter();
    // In the order of their indices, which owners' numbers follow.
    cores.sort_by_key(|core| core.index());
    // Tasks that are woken by the drops of others go to this worker's queue.
    let worker = context::enter_worker(&cores[0]);
    abort_all(&cores);
    loop {
        cancel_queued(&cores);
        if cores.iter().all(|core| core.live.is_empty()) {
            break;
        }
        // A foreign thread has notified a task and is about to push it.
        thread::yield_now();
    }
    shared.injection.close();
    cancel_queued(&cores);
    debug_assert!(
        cores.iter().all(|core| core.live.is_empty()),
        "a task came into a live list that had ended"
    );
    drop(worker);
    drop(current);
    drop(cores);
    let driver = shared.driver.lock().take();
    if let Some(mut driver) = driver {
        driver.shutdown();
    }
    drop(announce);
}

/// Aborts the tasks of workers; those that were idle are queued.
fn abort_all(cores: &[Seat]) {
    for core in cores {
        core.live.abort_all(|task| core.shared().inject(Task(task)));
    }
}

/// The first worker cancels and counts: this thread has them all. What is in the
/// queues of those that are in polls is cancelled too.
fn cancel_queued(cores: &[Seat]) {
    let next = || {
        let mut own = cores.iter();
        own.find_map(|core| core.take_any())
            .or_else(|| cores[0].take_from_others())
    };
    while let Some(task) = next() {
        cores[0].cancel(task);
    }
}

/// Says that the scheduler has ended, also if the driver's end panics: somebody
/// may be waiting for it.
struct Announce<'a>(&'a Shared);

impl Drop for Announce<'_> {
    fn drop(&mut self) {
        self.0.announce_finish();
    }
}
