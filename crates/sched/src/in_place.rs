//! Blocking inside a task: `docs/block-in-place.md`.

use crate::context::{self, Left};
use crate::worker::Core;
use crate::worker::seat::Vacated;

/// Calls a function that may block, on this thread, also inside a task.
///
/// On a worker of a [`Pool`](crate::Pool) the other tasks go on meanwhile:
/// [`Config::relief`](crate::Config::relief) gets another thread to drive the
/// worker. If `f` returns before that thread has come, the calling one keeps the
/// worker; otherwise it ends the poll without. Without another thread the tasks
/// of the worker wait, unless other workers steal them.
///
/// What else the task does at the same time, in `join!` for instance, waits.
///
/// Inside `f` the scheduler is the current one, so that it can spawn; it may
/// block on futures; and the budget of the poll is not counted. Inside `f` or
/// the future of [`Handle::block_on`](crate::Handle::block_on), on a thread that
/// drives no tasks, and on workers that are stepped, `f` is just called.
///
/// # Panics
///
/// If `f` does; and on a thread that is inside
/// [`CurrentThread::block_on`](crate::CurrentThread::block_on), where nobody else
/// could drive the tasks; and on a worker of
/// [`Policy::Sharded`](crate::Policy::Sharded), whose tasks stay on their thread.
#[track_caller]
pub fn block_in_place<F, R>(f: F) -> R
where
    F: FnOnce() -> R,
{
    assert!(
        !context::drives_current_thread(),
        "block_in_place needs the multi-thread runtime, for here nobody else could run the other \
         tasks; use spawn_blocking"
    );
    assert!(
        !context::worker().is_some_and(Core::is_pinned),
        "block_in_place needs workers whose tasks may go to another thread, and those of \
         Policy::Sharded may not; use spawn_blocking"
    );
    let absence = Absence::begin();
    if let Some(worker) = &absence.worker {
        worker.advertise();
    }
    raddle_coop::unlimited(f)
}

/// Ends in its drop, also when the function panics.
struct Absence<'a> {
    /// The worker, if others may have it meanwhile.
    worker: Option<Vacated<'a>>,
    /// There until the drop.
    left: Option<Left>,
}

impl Absence<'_> {
    fn begin() -> Self {
        let worker = context::post();
        let left = context::leave();
        Self {
            worker: worker.and_then(|worker| worker.vacate()),
            left: Some(left),
        }
    }
}

impl Drop for Absence<'_> {
    fn drop(&mut self) {
        let is_displaced = self.worker.take().is_some_and(|worker| !worker.withdraw());
        if let Some(left) = self.left.take() {
            left.come_back(is_displaced);
        }
    }
}
