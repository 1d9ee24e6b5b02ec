//! Which worker runs a task that is due: `docs/policies.md`.

/// How a scheduler gives its tasks to its workers.
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
    /// A worker runs what was spawned and woken on it, the latest first, and
    /// takes from others when it has nothing.
    #[default]
    WorkStealing,
    /// All workers take from one queue, in the order in which tasks became
    /// due.
    Shared,
    /// A task stays on the worker that it was spawned on, whose tasks run in
    /// the order in which they became due. Each worker has a driver of its own.
    /// Tasks need not be `Send`.
    Sharded,
}

/// Where a worker keeps the tasks that it spawns and wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// In its next-task slot, the former content of which goes to its queue.
    Slot,
    /// In its queue, and in its backlog when that is full.
    Queue,
    /// In the injection queue.
    Common,
}

impl Order {
    /// How many tasks a worker without any takes from the injection queue at
    /// most. What it took for later would be out of order among the others'.
    pub(crate) fn batch(self) -> usize {
        match self {
            Self::Slot | Self::Queue => usize::MAX,
            Self::Common => 1,
        }
    }

    /// How many tasks a worker with some takes from the injection queue at most,
    /// each time that it has taken `interval` steps: as many as there were steps,
    /// so that what comes from outside in numbers has its half of the polls. A
    /// queue in order takes one: in its backlog others may be before them.
    pub(crate) fn batch_of_turn(self, interval: u32) -> usize {
        match self {
            Self::Slot => interval as usize,
            Self::Queue | Self::Common => 1,
        }
    }
}

impl From<Policy> for Order {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::WorkStealing => Self::Slot,
            Policy::Shared => Self::Common,
            Policy::Sharded => Self::Queue,
        }
    }
}
