//! Layers of Raddle against reference models.
//!
//! Each module does to its layer what [`Choices`] choose, and after each step compares it with a
//! model that is simple enough to be right. The choices are bytes: proptest makes them in
//! `tests/property.rs`, libFuzzer in `fuzz`. The inputs that libFuzzer found worth keeping are in
//! `fuzz/corpus`, and the tests run them too.

mod choices;
pub mod queue;
#[cfg(unix)]
pub mod reactor;
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
