//! The end of a scheduler: every task is dropped, once, by its worker, or else
//! by the last one.
//!
//! `docs/scheduler.md`, shutdown, has the steps and why a task cannot
//! outlive the shared state.

use std::time::{Duration, Instant};

use raddle_primitives::sync::Arc;
use raddle_primitives::thread;

use crate::handle::Handle;
use crate::task::Task;
use crate::worker::finish::Waited;
use crate::worker::seat::Seat;
use crate::worker::shared::{Retired, Shared};

/// What a thread does next that has retired a worker, or has finished the poll of a displaced
/// thread.
#[must_use]
enum Duty {
    Nothing,
    /// All workers are retired, and displaced threads are in polls yet: to
    /// [release](release_displaced) them, then to retire the workers again.
    ReleaseDisplaced(Vec<Seat>),
    /// Nothing runs any more.
    Finish(Vec<Seat>),
}

impl Retired {
    /// What is to be done now. While the workers are with a thread that releases,
    /// no other finds them all retired. Once they are, the number of displaced
    /// threads only falls.
    fn take_duty(&mut self, workers: usize) -> Duty {
        if self.workers.len() < workers {
            Duty::Nothing
        } else if self.handed_off == 0 {
            Duty::Finish(std::mem::take(&mut self.workers))
        } else if !std::mem::replace(&mut self.has_released, true) {
            Duty::ReleaseDisplaced(std::mem::take(&mut self.workers))
        } else {
            Duty::Nothing
        }
    }
}

/// Takes a worker out of service. The last to go ends the scheduler, or has the
/// displaced threads do so.
pub(crate) fn retire(seat: Seat) {
    seat.detach();
    let shared = seat.shared_arc().clone();
    if !shared.is_closed() {
        seat.abandon();
        finish_after(&shared, |retired| retired.workers.push(seat));
        // CHECK: the end, since the first look. The workers that have ended by it did
        // not find this one among those that went before.
        if shared.is_closed() {
            cancel_left_behind(&shared);
        }
        return;
    }
    let mut seats = vec![seat];
    if shared.take_earlier(&mut seats) {
        cancel_waiting(&seats);
    }
    finish_after(&shared, |retired| retired.workers.append(&mut seats));
}

/// Drops the waiting tasks of the workers that were retired before the
/// scheduler was closed: the workers that are left may all be in polls.
pub(crate) fn cancel_left_behind(shared: &Arc<Shared>) {
    let mut seats = Vec::new();
    if shared.take_earlier(&mut seats) {
        cancel_waiting(&seats);
        finish_after(shared, |retired| retired.workers.append(&mut seats));
    }
}

/// Retires the workers that wait, in vacancies, for a thread to drive them. There may be no such
/// thread, and a displaced thread that waits for the driver waits for the shutdown.
pub(crate) fn retire_vacant(shared: &Shared) {
    for remote in &shared.remotes {
        let vacancy = remote.vacancy.lock().take();
        if let Some(seat) = vacancy.and_then(|vacancy| vacancy.take()) {
            retire(seat);
        }
    }
}

/// Waits until every task has been dropped, at most for `timeout`, and meanwhile retires workers
/// that wait for a thread. Whether all have been dropped.
pub(crate) fn wait(shared: &Shared, timeout: Option<Duration>) -> bool {
    let start = Instant::now();
    let left = || timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
    loop {
        match shared.finish.wait(left) {
            Waited::Finished => return true,
            Waited::Vacancy => retire_vacant(shared),
            Waited::TimedOut => return false,
        }
    }
}

/// Says that a displaced thread is out of its poll. The last to go ends the
/// scheduler.
pub(crate) fn stand_down(seat: Seat) {
    let shared = seat.shared_arc().clone();
    // The memory of the worker, which is another thread's.
    drop(seat);
    finish_after(&shared, |retired| retired.handed_off -= 1);
}

/// Drops the tasks that no poll needs to return for, before others go: a poll
/// that another is in may wait for just that, for a sender that one of these
/// tasks has.
fn cancel_waiting(cores: &[Seat]) {
    let Some(first) = cores.first() else { return };
    let handle = Handle::of_worker(first);
    let _current = handle.enter();
    let _worker = first.enter();
    abort_all(cores);
    cancel_queued(cores);
}

impl Shared {
    /// Adds the workers that were retired before, since no other thread may be left to drop
    /// their tasks. False, and nothing has changed, if there is no
    /// worker left to wait for but those of the caller.
    fn take_earlier(&self, seats: &mut Vec<Seat>) -> bool {
        let mut retired = self.retired.lock();
        let others_run = retired.workers.len() + seats.len() < self.remotes.len();
        if others_run {
            seats.append(&mut retired.workers);
        }
        others_run
    }

    fn change_ended(&self, change: impl FnOnce(&mut Retired)) -> Duty {
        let mut retired = self.retired.lock();
        change(&mut retired);
        retired.take_duty(self.remotes.len())
    }
}

fn finish_after(shared: &Arc<Shared>, change: impl FnOnce(&mut Retired)) {
    let mut duty = shared.change_ended(change);
    if let Duty::ReleaseDisplaced(mut seats) = duty {
        release_displaced(shared, &seats);
        duty = shared.change_ended(|retired| retired.workers.append(&mut seats));
    }
    if let Duty::Finish(seats) = duty {
        finish(shared, seats);
    }
}

/// Ends what displaced threads may wait for: all tasks but theirs, and the
/// driver, in which no worker waits any more.
fn release_displaced(shared: &Arc<Shared>, cores: &[Seat]) {
    shared.close();
    cancel_waiting(cores);
    // No worker looks into the queue from here on: who wakes a task that was not
    // found there cancels it.
    shared.injection.close();
    cancel_waiting(cores);
    shared.shut_down_driver();
}

fn finish(shared: &Arc<Shared>, mut cores: Vec<Seat>) {
    let announce = Announce(shared);
    shared.close();
    // The drops of futures find their scheduler as their polls did; all of it, if
    // this is the end of one shard.
    let handle = Handle::of_worker(&cores[0]);
    let current = handle.enter();
    // In the order of their indices, which owners' numbers follow.
    cores.sort_by_key(|core| core.index());
    // Tasks that are woken by the drops of others go to this worker's queue.
    let worker = cores[0].enter();
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
    shared.shut_down_driver();
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

/// Announces that the scheduler has shut down when it is dropped, also if the driver's shutdown
/// panics: a thread may be waiting for it.
struct Announce<'a>(&'a Shared);

impl Drop for Announce<'_> {
    fn drop(&mut self) {
        self.0.finish.announce();
    }
}
