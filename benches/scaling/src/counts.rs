//! What was counted.

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
    /// How many rounds it took.
    pub rounds: u64,
    /// How many times a task was run. What is "per task" is per this.
    pub polls: u64,
    /// How many times a worker parked.
    pub parks: u64,
    /// How many parked workers were woken by another worker or from outside.
    pub wakeups: u64,
    /// How many waits ended by their time.
    pub timeouts: u64,
    /// How many waits in the driver ended by an event.
    pub events: u64,
    /// How many steals brought something.
    pub steals: u64,
    /// How many tasks they brought.
    pub stolen: u64,
    /// How many times a worker tried to steal from another.
    pub steal_attempts: u64,
    /// How many fences there were.
    pub fences: u64,
    /// The words, by name.
    pub words: Vec<Word>,
}

/// What a step of a worker came to, to which its operations belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// A step that ran a task.
    Task = 0,
    /// A step that found none.
    Search = 1,
    /// A park that begins.
    Park = 2,
    /// A wait that has ended.
    Unpark = 3,
    /// What the program does from outside the workers.
    Outside = 4,
}

impl Phase {
    /// All of them.
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
    /// There are fewer of them than workers: all workers share each, or a fixed
    /// number of workers does.
    Common,
    /// There is one for each worker, or a fixed number; or one for each task.
    Own,
}

/// The words of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// The name, or the place in the source where they are made.
    pub name: String,
    /// Which workers share them.
    pub scope: Scope,
    /// How many there are.
    pub made: u64,
    /// How many actors used the one that most have used.
    pub actors: usize,
    /// The operations in each phase, in the order of [`Phase::ALL`].
    pub phases: [Tally; 5],
}

/// Operations on words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Loads.
    pub loads: u64,
    /// Stores and read-modify-writes, and attempts to take a lock that is held.
    pub writes: u64,
    /// Acquisitions of a lock.
    pub locks: u64,
    /// Those operations that would have fetched the line from another core.
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
    /// The operations in some phases.
    pub fn of(&self, phases: &[Phase]) -> Tally {
        let mut sum = Tally::default();
        for phase in phases {
            sum += self.phases[*phase as usize];
        }
        sum
    }
}

/// Makes the enum of the figures from their list.
macro_rules! figures {
    ($($(#[$doc:meta])+ $variant:ident: $name:literal, $unit:literal;)+) => {
        /// The figures that the program prints of a run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Figure {
            $($(#[$doc])+ $variant,)+
        }

        impl Figure {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// What it is.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Of what it is a share.
            pub fn unit(self) -> &'static str {
                match self {
                    $(Self::$variant => $unit,)+
                }
            }
        }
    };
}

figures! {
    /// Loads of common words, per task.
    CommonLoads: "loads of common words", "per task";
    /// Stores to common words, read-modify-writes and locks of them, per task.
    CommonWrites: "writes of common words", "per task";
    /// Acquisitions of any lock, per task.
    Locks: "locks taken", "per task";
    /// Cache lines that came from another core, per task.
    Transfers: "cache lines fetched", "per task";
    /// Attempts to steal, per successful one, if there are more of those than workers.
    Attempts: "steal attempts", "per successful steal";
    /// Workers that were woken by another worker or from outside, per task.
    Wakeups: "wake-ups of workers", "per task";
    /// Operations on any word from the search that found nothing to the end of the
    /// wait, per park.
    OfAPark: "operations", "per park";
    /// The operations of a park that write a common word.
    CommonOfAPark: "writes of common words in a park", "per park";
    /// The operations of a park that take a lock.
    LocksOfAPark: "locks taken in a park", "per park";
}

impl Run {
    /// A figure of the run. None if it is a share of what happened too seldom: steals
    /// fewer than workers, or no parks.
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

    /// The operations on all words of a scope in some phases.
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

    /// The runs of a load on a number of workers, one for each seed.
    pub fn of<'a>(&'a self, load: &'a str, workers: usize) -> impl Iterator<Item = &'a Run> {
        let runs = self.runs.iter();
        runs.filter(move |run| run.load == load && run.workers == workers)
    }

    /// The names of the loads, in their order.
    pub fn loads(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for run in &self.runs {
            if !names.contains(&run.load.as_str()) {
                names.push(&run.load);
            }
        }
        names
    }

    /// The numbers of workers, in their order.
    pub fn workers(&self) -> Vec<usize> {
        let mut numbers: Vec<_> = self.runs.iter().map(|run| run.workers).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}
