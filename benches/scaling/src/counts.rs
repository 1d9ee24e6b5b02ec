//! The counts of a run, and the figures that are computed from them.

use std::fs;
use std::io::Result;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The runs of one call of the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// All runs.
    pub runs: Vec<Run>,
}

/// One load on one number of workers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The name of the load.
    pub load: String,
    /// The number of workers.
    pub workers: usize,
    /// The seed.
    pub seed: u64,
    /// The number of rounds.
    pub rounds: u64,
    /// The number of task runs. Figures "per task" are divided by it.
    pub polls: u64,
    /// The number of times a worker parked.
    pub parks: u64,
    /// The number of parked workers that another worker or code outside woke.
    pub wakeups: u64,
    /// The number of waits that ended by their time-out.
    pub timeouts: u64,
    /// The number of waits in the driver that ended by an event.
    pub events: u64,
    /// The number of successful steals.
    pub steals: u64,
    /// The number of stolen tasks.
    pub stolen: u64,
    /// The number of attempts to steal from another worker.
    pub steal_attempts: u64,
    /// The number of fences.
    pub fences: u64,
    /// The words, by name.
    pub words: Vec<Word>,
}

/// The part of a worker's activity to which an operation belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// Which workers share the words of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// There are fewer such words than workers: all workers, or a fixed number of workers, share
    /// each word.
    Common,
    /// There is one such word for each worker, for a fixed number of workers, or for each task.
    Own,
}

/// The words of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// The name, or the line of source that creates the words.
    pub name: String,
    /// Which workers share them.
    pub scope: Scope,
    /// The number of words.
    pub made: u64,
    /// The largest number of actors that used one of the words.
    pub actors: usize,
    /// The operations in each phase, in the order of [`Phase::ALL`].
    pub phases: [Tally; 5],
}

/// Operations on words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Loads.
    pub loads: u64,
    /// Stores, read-modify-writes, and attempts to take a lock that is held.
    pub writes: u64,
    /// Acquisitions of a lock.
    pub locks: u64,
    /// Operations that would have fetched the line from another core.
    pub transfers: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.loads += other.loads;
        self.writes += other.writes;
        self.locks += other.locks;
        self.transfers += other.transfers;
    }
}

impl Word {
    /// Returns the operations in some phases.
    pub fn of(&self, phases: &[Phase]) -> Tally {
        let mut sum = Tally::default();
        for phase in phases {
            sum += self.phases[*phase as usize];
        }
        sum
    }
}

/// Defines the enum of the figures from their list.
macro_rules! figures {
    ($($(#[$doc:meta])+ $variant:ident: $name:literal, $unit:literal;)+) => {
        /// The figures that the program prints for a run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Figure {
            $($(#[$doc])+ $variant,)+
        }

        impl Figure {
            /// All figures.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name of the figure.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The unit of the figure.
            pub fn unit(self) -> &'static str {
                match self {
                    $(Self::$variant => $unit,)+
                }
            }
        }
    };
}

figures! {
    /// Loads of shared words, per task.
    CommonLoads: "loads of common words", "per task";
    /// Stores to shared words, read-modify-writes of them and their locks, per task.
    CommonWrites: "writes of common words", "per task";
    /// Acquisitions of any lock, per task.
    Locks: "locks taken", "per task";
    /// Cache lines that came from another core, per task.
    Transfers: "cache lines fetched", "per task";
    /// Attempts to steal per successful steal, if there were more successful steals than workers.
    Attempts: "steal attempts", "per successful steal";
    /// Workers that another worker or code outside woke, per task.
    Wakeups: "wake-ups of workers", "per task";
    /// Operations on any word, from a search without result to the end of the wait, per park.
    OfAPark: "operations", "per park";
    /// The operations of a park that write a shared word.
    CommonOfAPark: "writes of common words in a park", "per park";
    /// The operations of a park that take a lock.
    LocksOfAPark: "locks taken in a park", "per park";
}

impl Run {
    /// Returns a figure of the run. `None` if its divisor is too small: fewer steals than workers,
    /// or no parks.
    pub fn figure(&self, figure: Figure) -> Option<f64> {
        const IDLE: [Phase; 3] = [Phase::Search, Phase::Park, Phase::Unpark];
        let all = self.of(None, &Phase::ALL);
        let common = self.of(Some(Scope::Common), &Phase::ALL);
        let idle = self.of(None, &IDLE);
        let common_idle = self.of(Some(Scope::Common), &IDLE);
        let (count, of) = match figure {
            Figure::CommonLoads => (common.loads, self.polls),
            Figure::CommonWrites => (common.writes + common.locks, self.polls),
            Figure::Locks => (all.locks, self.polls),
            Figure::Transfers => (all.transfers, self.polls),
            Figure::Attempts => (self.steal_attempts, self.steals),
            Figure::Wakeups => (self.wakeups, self.polls),
            Figure::OfAPark => (idle.loads + idle.writes + idle.locks, self.parks),
            Figure::CommonOfAPark => (common_idle.writes + common_idle.locks, self.parks),
            Figure::LocksOfAPark => (idle.locks, self.parks),
        };
        let least = match figure {
            Figure::Attempts => self.workers as u64,
            _ => 1,
        };
        (of >= least).then(|| count as f64 / of as f64)
    }

    /// Returns the operations on all words of a scope in some phases.
    pub fn of(&self, scope: Option<Scope>, phases: &[Phase]) -> Tally {
        let mut sum = Tally::default();
        for word in &self.words {
            if scope.is_none_or(|scope| word.scope == scope) {
                sum += word.of(phases);
            }
        }
        sum
    }
}

impl Counts {
    /// Writes the file.
    pub fn write(&self, file: &Path) -> Result<()> {
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(file, serde_json::to_vec(self)?)
    }

    /// Reads a file that [`write`](Self::write) has written.
    pub fn read(file: &Path) -> Result<Self> {
        Ok(serde_json::from_slice(&fs::read(file)?)?)
    }

    /// Returns the runs of a load with a number of workers, one for each seed.
    pub fn of<'a>(&'a self, load: &'a str, workers: usize) -> impl Iterator<Item = &'a Run> {
        let runs = self.runs.iter();
        runs.filter(move |run| run.load == load && run.workers == workers)
    }

    /// Returns the names of the loads, in their order.
    pub fn loads(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for run in &self.runs {
            if !names.contains(&run.load.as_str()) {
                names.push(&run.load);
            }
        }
        names
    }

    /// Returns the numbers of workers, in their order.
    pub fn workers(&self) -> Vec<usize> {
        let mut numbers: Vec<_> = self.runs.iter().map(|run| run.workers).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}
