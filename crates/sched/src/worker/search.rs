//! How a worker without tasks searches the queues and slots of the others.

use std::time::{Duration, Instant};

use raddle_primitives::hint;

use super::queues::Queues;
use super::shard::Delay;
use crate::config::policy::Policy;
use crate::task::Task;

/// How long a searcher waits before it takes a task from another worker's slot.
const SLOT_WAIT: Duration = Duration::from_micros(3);

/// Searching.
impl Queues {
    /// Looks for work in the other workers' queues, the injection queue and one other slot.
    pub(crate) fn search(&self) -> Option<Task> {
        if self.is_spare {
            return self.search_as_spare();
        }
        if !self.searching.get() {
            if !self.shard.idle.transition_to_searching(self.index) {
                return None;
            }
            self.searching.set(true);
            self.notify_observer(|observer, worker| observer.search_started(worker));
        }
        self.shard.stealable.remove(self.index);
        let start = self.next_random() as usize % self.shard.peers.len();
        self.shard
            .stealable
            .find_from(start, |victim| self.steal_from(victim))
            .or_else(|| self.take_injected(self.policy.batch()))
            .or_else(|| self.steal_from_slot())
    }

    /// Takes tasks of the workers that the monitor has found stuck, if it is to help. The workers
    /// that make progress keep theirs: otherwise a spare worker would only add a thread that
    /// computes.
    #[cold]
    fn search_as_spare(&self) -> Option<Task> {
        if !self.shard.spare_of(self.index).is_helper() {
            return None;
        }
        let stuck = self.shard.all_peers().enumerate();
        let mut stuck =
            stuck.filter(|(worker, peer)| *worker != self.index && peer.is_delayed(Delay::Stuck));
        stuck.find_map(|(worker, _)| self.steal_from(worker))
    }

    /// Whether a spare worker may take from the injection queue: it was called for a task there, it
    /// helps and no worker makes progress, or the tasks that its events wake are there.
    #[cold]
    pub(super) fn may_take_injected(&self) -> bool {
        let spare = self.shard.spare_of(self.index);
        spare.take_call()
            || self.policy == Policy::Shared
            || spare.is_helper() && self.shard.is_stuck()
    }

    /// Takes the task out of the next-task slot of one other worker, chosen at random, if that
    /// worker begins no poll within `SLOT_WAIT`. So two tasks that wake each other stay on their
    /// worker, and a task that was woken by a long poll runs beside it. Go's `runqgrab` waits in
    /// the same way.
    fn steal_from_slot(&self) -> Option<Task> {
        let workers = self.shard.peers.len();
        if !self.is_free_running.get() || workers < 2 {
            return None;
        }
        let others = self.next_random() as usize % (workers - 1);
        let victim = (self.index + 1 + others) % workers;
        let peer = &self.shard.peers[victim];
        if peer.slot.is_empty() {
            return None;
        }
        let polls = peer.counters.polls.get();
        let begin = Instant::now();
        while begin.elapsed() < SLOT_WAIT {
            if peer.slot.is_empty() || peer.counters.polls.get() != polls {
                return None;
            }
            // No other worker is woken for a task from outside while this one searches.
            if !self.shard.injection.is_empty() {
                return self.take_injected(self.policy.batch());
            }
            hint::spin_loop();
        }
        self.take_slot_of(victim)
    }

    fn take_slot_of(&self, victim: usize) -> Option<Task> {
        let task = self.shard.peer(victim).slot.take()?;
        self.note_stolen(victim, 1);
        Some(task)
    }

    /// Takes the tasks of a worker that has begun no poll between two ticks of this one, as the
    /// system may have interrupted its thread: under load no worker runs out of tasks and searches,
    /// so these tasks would wait while younger ones run. Then watches the next worker.
    pub(super) fn take_from_interrupted(&self) {
        let peers = &self.shard.peers;
        if peers.len() == 1 {
            return;
        }
        let (victim, polls) = self.watched.get();
        let has_moved = peers[victim].counters.polls.get() != polls;
        if victim != self.index && !has_moved && !peers[victim].stealer.is_empty() {
            self.take_queue_of(victim);
        }
        let mut next = (victim + 1) % peers.len();
        if next == self.index {
            next = (next + 1) % peers.len();
        }
        self.watched.set((next, peers[next].counters.polls.get()));
    }

    /// Moves the tasks in the queue of another worker behind those of this one, but leaves half of
    /// the room to events.
    #[cold]
    fn take_queue_of(&self, victim: usize) {
        let stealer = &self.shard.peer(victim).stealer;
        let count = stealer.len().min(self.run_queue.room() / 2);
        let mut taken = 0;
        for task in (0..count).map_while(|_| stealer.steal()) {
            taken += 1;
            if self.push_needs_notify(task) {
                self.notify_of_push();
            }
        }
        if taken > 0 {
            self.note_stolen(victim, taken);
        }
    }

    /// A number for the choice of a victim (Marsaglia's xorshift).
    fn next_random(&self) -> u32 {
        let mut random = self.random.get();
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        self.random.set(random);
        random
    }

    /// Steals half of the queue of another worker, which leaves the stealable set if there is
    /// nothing in it. If the queue gives nothing, takes the task of the slot, if the worker has
    /// begun no poll between two checks of the monitor.
    fn steal_from(&self, victim: usize) -> Option<Task> {
        let shard = &self.shard;
        let peer = shard.peer(victim);
        let stealer = &peer.stealer;
        let Some(stolen) = stealer.steal_into(&self.run_queue, |n| n.div_ceil(2)) else {
            // Otherwise another stealer may be active there, and leave tasks in the queue. A spare
            // worker does not count as searching, and so removes no worker.
            if !self.is_spare && stealer.is_empty() {
                shard.stealable.remove_if(victim, || stealer.is_empty());
            }
            return peer
                .is_delayed(Delay::Unmoved)
                .then(|| self.take_slot_of(victim))?;
        };
        if stolen.moved > 0 {
            self.notify_of_moved();
        }
        self.note_stolen(victim, 1 + stolen.moved);
        Some(stolen.first)
    }

    /// Counts tasks that were stolen from another worker.
    fn note_stolen(&self, victim: usize, count: usize) {
        self.counters.count_steal(count);
        let victim = self.shard.first_worker + victim;
        self.notify_observer(|observer, worker| observer.tasks_stolen(worker, victim, count));
    }

    /// Leaves the search to another worker if there is anything more to find.
    #[cold]
    pub(super) fn end_search(&self) {
        if self.shard.idle.end_search(self.index) && self.shard.has_work() {
            self.shard.notify();
        }
    }
}
