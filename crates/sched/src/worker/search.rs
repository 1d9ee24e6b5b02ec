//! How a worker without work takes some from the others.

use super::Core;
use crate::task::Task;

impl Core {
    /// Looks for work in the other workers' queues.
    pub(super) fn search(&self) -> Option<Task> {
        if !self.searching.get() {
            if !self.shared.idle.transition_to_searching(self.index) {
                return None;
            }
            self.searching.set(true);
        }
        self.shared.stealable.remove(self.index);
        let start = self.next_random() as usize % self.shared.remotes.len();
        self.shared
            .stealable
            .find_from(start, |victim| self.steal_from(victim))
            .or_else(|| self.take_injected(self.order.batch()))
    }

    /// Steals half of the queue of another worker, which leaves the stealable set if there
    /// is nothing in it.
    fn steal_from(&self, victim: usize) -> Option<Task> {
        let stealer = &self.shared.remotes[victim].stealer;
        match stealer.steal_into(&self.queue, |n| n.div_ceil(2)) {
            Some(stolen) => {
                self.counters.stole(1 + stolen.moved);
                if stolen.moved > 0 {
                    // The end of the search has the fence.
                    self.shared.stealable.insert(self.index);
                }
                Some(stolen.first)
            }
            None => {
                // Another stealer may be at work there, and leave something.
                if stealer.is_empty() {
                    let stealable = &self.shared.stealable;
                    stealable.remove_if(victim, || stealer.is_empty());
                }
                None
            }
        }
    }

    /// A task of another worker, at the end: from wherever it waits for a poll to
    /// return.
    pub(crate) fn take_from_others(&self) -> Option<Task> {
        let others = self.shared.remotes.iter().enumerate();
        others
            .filter(|&(victim, _)| victim != self.index)
            .find_map(|(_, other)| other.slot.take().or_else(|| other.stealer.steal()))
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
}
