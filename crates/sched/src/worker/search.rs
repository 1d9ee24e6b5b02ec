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
        let workers = self.shared.remotes.len();
        let start = self.next_random() as usize % workers;
        (start..start + workers)
            .map(|place| place % workers)
            .filter(|&victim| victim != self.index)
            .find_map(|victim| {
                self.shared.remotes[victim]
                    .stealer
                    .steal_into(&self.queue, |n| n.div_ceil(2))
                    .map(|stolen| {
                        self.counters.stole(1 + stolen.moved);
                        stolen.first
                    })
            })
            .or_else(|| self.take_injected(self.order.batch()))
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
