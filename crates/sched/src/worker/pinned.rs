//! Workers that stay on their thread, because their tasks must: why none ever
//! leaves it stands in `docs/policies.md`, with the numbered claims that are
//! cited here.

use std::future::Future;

use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use raddle_task::JoinHandle;

use super::{Core, Worker};
use crate::handle::Handle;
use crate::policy::Policy;
use crate::shards::Shards;
use crate::task::{self, Task};

impl Core {
    /// Whether the worker stays on its thread while it has tasks.
    #[inline]
    pub(crate) fn is_pinned(&self) -> bool {
        self.shared.config.policy == Policy::Sharded
    }

    /// Whether the calling thread may run the worker.
    fn may_run_here(&self) -> bool {
        !self.is_pinned() || self.live.is_empty() || self.thread.get() == Some(thread::current_id())
    }

    /// Notes that the calling thread runs the worker (claim 1).
    ///
    /// # Panics
    ///
    /// If the worker has tasks that are bound to another thread.
    #[inline]
    pub(crate) fn bind(&self) {
        if self.is_pinned() {
            self.bind_pinned();
        }
    }

    fn bind_pinned(&self) {
        assert!(
            self.may_run_here(),
            "a worker of a sharded scheduler was used on another thread while it has tasks; keep \
             it on the thread that runs it"
        );
        self.thread.set(Some(thread::current_id()));
    }

    /// Spawns a task that stays on this worker.
    ///
    /// # Panics
    ///
    /// If the worker is not pinned.
    #[track_caller]
    pub(crate) fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        assert!(self.is_pinned(), "only a pinned worker has local tasks");
        // SAFETY: the task is adopted below, before anybody can wake it, by a
        // pinned worker that this thread runs, or cancelled here; so it is run
        // and dropped here (claims 1 to 5). The handle is not `Send` unless the output is. The
        // future borrows nothing that ends.
        let (task, handle) = unsafe { task::spawn_unchecked(&self.shared, future) };
        if self.shared.is_closed() {
            self.start(task);
        } else {
            // Not only after its first poll, as other tasks: until then it
            // would not keep the worker on its thread (claim 2).
            self.live.adopt(&task);
            self.schedule_new(Task(task));
        }
        handle
    }
}

impl Core {
    /// Which of all workers of the scheduler it is.
    pub(crate) fn number(&self) -> usize {
        self.shared.first_worker + self.index
    }

    /// A reference to the scheduler, all of it if this is the worker of a shard.
    pub(crate) fn handle(&self) -> Handle {
        match self.shards.get() {
            None => Handle::new(self.shared.clone()),
            Some(shards) => Handle::of_shards(shards.clone()),
        }
    }
}

impl Worker {
    /// Says which shards the worker's is one of.
    pub(crate) fn join(&self, shards: &Arc<Shards>) {
        let joined = self.core().shards.set(shards.clone());
        debug_assert!(joined.is_ok(), "a worker is of one scheduler");
    }

    /// Leaves a worker that is about to be dropped on another thread than its
    /// own alone, with the tasks that cannot be dropped here.
    ///
    /// # Panics
    ///
    /// If it is one; not while another panic unwinds, which would abort.
    pub(super) fn leak_if_bound_elsewhere(&mut self) {
        let Some(seat) = self.seat.take_if(|seat| !seat.may_run_here()) else {
            return;
        };
        std::mem::forget((seat, self.parked.take()));
        assert!(
            std::thread::panicking(),
            "a worker of a sharded scheduler was dropped on another thread while it has tasks, \
             and is leaked; drop it on the thread that runs it"
        );
    }
}
