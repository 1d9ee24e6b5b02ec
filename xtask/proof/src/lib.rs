//! Layers of Raddle against reference models.
//! Each module does to its layer what [`Choices`] choose, and
//! after each step compares it with a model that is simple enough to be right.
//! The choices come from a seed ([`seeded`]) in `tests/property.rs`, or from a
//! fuzzer, in `fuzz`; what the fuzzer found worth keeping is in `fuzz/corpus`, and
//! is run by the tests too.

mod choices;
pub mod queue;
#[cfg(unix)]
pub mod reactor;
pub mod seeded;
pub mod task;
pub mod timer;

pub use choices::Choices;

/// Does something to a layer for as long as there are choices, and panics if it
/// is not as its model says.
pub type Machine = fn(&mut Choices<'_>);

/// The machines, by the names of their fuzz targets.
pub const MACHINES: &[(&str, Machine)] = &[
    ("task", task::run),
    ("queue", queue::run),
    ("timer", timer::run),
    #[cfg(unix)]
    ("reactor", reactor::run),
];
