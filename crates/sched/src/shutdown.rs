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
use crate::worker::Core;

/// Takes a worker out of service. The last one of its scheduler ends it.
pub(crate) fn hand_in(core: Core) {
    let shared = core.shared_arc().clone();
    if !shared.is_closed() {
        core.abandon();
    }
    let cores = {
        let mut ended = shared.ended.lock();
        ended.push(core);
        if ended.len() < shared.remotes.len() {
            return;
        }
        std::mem::take(&mut *ended)
    };
    finish(&shared, cores);
}

fn finish(shared: &Arc<Shared>, mut cores: Vec<Core>) {
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

fn next_task(shared: &Shared, cores: &[Core]) -> Option<Task> {
    cores
        .iter()
        .find_map(|core| core.take_slot().or_else(|| core.pop()))
        .or_else(|| shared.injection.pop())
}

/// The first worker counts: this thread has them all.
fn cancel(task: Task, cores: &[Core]) {
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
