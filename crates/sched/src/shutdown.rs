//! The end of a scheduler: every task is dropped, once, by the last worker.
//!
//! `docs/idle-protocol.md`, shutdown, has the steps and why a task cannot
//! outlive the shared state.

use raddle_std::sync::Arc;
use raddle_std::thread;
use raddle_task::Outcome;

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

    /// All the workers, once all have been handed in and nobody is in a poll.
    fn take(&mut self, workers: usize) -> Option<Vec<Seat>> {
        (self.workers.len() == workers && self.displaced == 0)
            .then(|| std::mem::take(&mut self.workers))
    }
}

/// Takes a worker out of service. The last to go ends the scheduler.
pub(crate) fn hand_in(seat: Seat) {
    let shared = seat.shared_arc().clone();
    if !shared.is_closed() {
        seat.abandon();
    }
    finish_after(&shared, |ended| ended.workers.push(seat));
}

/// Says that a displaced thread is out of its poll. The last to go ends the
/// scheduler.
pub(crate) fn stand_down(seat: Seat) {
    let shared = seat.shared_arc().clone();
    // The memory of the worker, which is another thread's.
    drop(seat);
    finish_after(&shared, |ended| ended.displaced -= 1);
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
    for core in &cores {
        core.live.abort_all(|task| shared.inject(Task(task)));
    }
    loop {
        while let Some(task) = next_task(shared, &cores) {
            cancel(task, &cores);
        }
        for core in &cores {
            core.collect_completed();
        }
        if cores.iter().all(|core| core.live.is_empty()) {
            break;
        }
        // A foreign thread has notified a task and is about to push it.
        thread::yield_now();
    }
    shared.injection.close();
    while let Some(task) = next_task(shared, &cores) {
        cancel(task, &cores);
    }
    drop(worker);
    drop(current);
    drop(cores);
    let driver = shared.driver.lock().take();
    if let Some(mut driver) = driver {
        driver.shutdown();
    }
    drop(announce);
}

/// Says that the scheduler has ended, also if the driver's end panics: somebody
/// may be waiting for it.
struct Announce<'a>(&'a Shared);

impl Drop for Announce<'_> {
    fn drop(&mut self) {
        self.0.announce_finish();
    }
}

fn next_task(shared: &Shared, cores: &[Seat]) -> Option<Task> {
    cores
        .iter()
        .find_map(|core| core.take_slot().or_else(|| core.pop()))
        .or_else(|| shared.injection.pop())
}

/// The first worker counts: this thread has them all.
fn cancel(task: Task, cores: &[Seat]) {
    let counters = &cores[0].counters;
    match cores[0].shared().config.task_hooks.cancel(task.0) {
        Outcome::Idle => {}
        Outcome::Complete => counters.completed.add(1),
        Outcome::Again(_) => unreachable!("a cancelled task has no future left to run"),
        Outcome::CompleteElsewhere(completed) => {
            counters.completed.add(1);
            counters.completed_elsewhere.add(1);
            let owner = completed.owner().get() as usize - 1;
            cores[owner].live.retire(completed);
        }
    }
}
