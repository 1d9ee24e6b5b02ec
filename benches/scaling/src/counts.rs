//! The counts of a run, and the figures that are computed from them.

use raddle_primitives::counting::{Entry, Operations};

/// One load on one number of workers.
#[derive(Debug, Default)]
pub struct Run {
    /// The number of workers.
    pub workers: usize,
    /// The number of task runs. Figures "per task" are divided by it.
    pub polls: u64,
    /// The number of times a worker parked.
    pub parks: u64,
    /// The number of parked workers that another worker or code outside woke.
    pub wakeups: u64,
    /// The number of successful steals.
    pub steals: u64,
    /// The number of attempts to steal from another worker.
    pub steal_attempts: u64,
    /// The words, by name.
    pub words: Vec<Entry>,
}

/// The part of a worker's activity to which an operation belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A step that ran a task.
    Task = 0,
    /// A step that found no task.
    Search = 1,
    /// The beginning of a park.
    Park = 2,
    /// The end of a wait.
    Unpark = 3,
    /// Code outside the workers.
    Outside = 4,
}

impl Phase {
    /// All phases.
    pub const ALL: [Self; 5] = [
        Self::Task,
        Self::Search,
        Self::Park,
        Self::Unpark,
        Self::Outside,
    ];
}

/// A figure that is computed from the counts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Loads of words that all workers, or a fixed number of them, share, per task.
    CommonLoads,
    /// Stores to shared words, read-modify-writes of them and their locks, per task.
    CommonWrites,
    /// Acquisitions of any lock, per task.
    Locks,
    /// Cache lines that came from another core, per task.
    Transfers,
    /// Attempts to steal per successful steal, if there were more successful steals than workers.
    Attempts,
    /// Workers that another worker or code outside woke, per task.
    Wakeups,
    /// Operations on any word, from a search without result to the end of the wait, per park.
    OfAPark,
    /// Locks that are taken in a park.
    LocksOfAPark,
}

/// Returns the operations on a word in some phases.
pub fn operations(word: &Entry, phases: &[Phase]) -> Operations {
    let mut sum = Operations::default();
    for phase in phases {
        sum += word.phases[*phase as usize];
    }
    sum
}

impl Run {
    /// Returns a figure of the run. `None` if its divisor is too small: fewer steals than workers,
    /// or no parks.
    pub fn figure(&self, figure: Figure) -> Option<f64> {
        let all = self.sum(&Phase::ALL, |_| true);
        let common = self.sum(&Phase::ALL, |word| self.is_common(word));
        let idle = self.sum(&[Phase::Search, Phase::Park, Phase::Unpark], |_| true);
        let (count, of, least) = match figure {
            Figure::CommonLoads => (common.loads, self.polls, 1),
            Figure::CommonWrites => (common.writes(), self.polls, 1),
            Figure::Locks => (all.locks, self.polls, 1),
            Figure::Transfers => (all.transfers, self.polls, 1),
            Figure::Attempts => (self.steal_attempts, self.steals, self.workers as u64),
            Figure::Wakeups => (self.wakeups, self.polls, 1),
            Figure::OfAPark => (idle.loads + idle.writes(), self.parks, 1),
            Figure::LocksOfAPark => (idle.locks, self.parks, 1),
        };
        (of >= least).then(|| count as f64 / of as f64)
    }

    /// Whether all workers, or a fixed number of workers, share each word of the name: there are
    /// fewer such words than workers.
    pub fn is_common(&self, word: &Entry) -> bool {
        (word.made as usize) < self.workers
    }

    fn sum(&self, phases: &[Phase], is_counted: impl Fn(&Entry) -> bool) -> Operations {
        let mut sum = Operations::default();
        for word in self.words.iter().filter(|word| is_counted(word)) {
            sum += operations(word, phases);
        }
        sum
    }
}
