//! Which worker runs a task that is ready: `docs/policies.md`.

/// Which worker of a scheduler runs a task.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::runtime::Policy;
///
/// /// For `Builder::scheduler`, from a command line.
/// fn policy(name: &str) -> Option<Policy> {
///     match name {
///         "work-stealing" => Some(Policy::WorkStealing),
///         "shared" => Some(Policy::Shared),
///         "sharded" => Some(Policy::Sharded),
///         _ => None,
///     }
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// A worker runs the tasks that are spawned and woken on it, the latest one first, and steals
    /// from other workers when it has none.
    #[default]
    WorkStealing,
    /// All workers take tasks from one queue, first in, first out.
    Shared,
    /// A task stays on the worker on which it was spawned, and each worker runs its tasks first in,
    /// first out. Each worker has its own driver. Tasks need not be `Send`.
    Sharded,
}

impl Policy {
    /// The highest number of tasks that an idle worker takes from the injection queue at once. If
    /// all tasks are in that queue it takes one: others that it kept for later would be overtaken.
    pub(crate) fn batch(self) -> usize {
        match self {
            Self::WorkStealing | Self::Sharded => usize::MAX,
            Self::Shared => 1,
        }
    }

    /// The highest number of tasks that a busy worker takes from the injection queue after
    /// `interval` steps. With a slot it is `interval`, so that tasks from outside get up to half of
    /// the polls. A worker that keeps its tasks in order takes one, since older tasks may be in its
    /// backlog.
    pub(crate) fn batch_of_tick(self, interval: u32) -> usize {
        match self {
            Self::WorkStealing => interval as usize,
            Self::Shared | Self::Sharded => 1,
        }
    }
}
