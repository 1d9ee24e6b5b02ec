//! Compares layers of Raddle with reference models.
//!
//! Each module performs on its layer the operations that [`Choices`] choose, and after each step
//! compares the layer with a model that is simple enough to be right. The choices are made from
//! bytes, by proptest in `tests/property` and by libFuzzer in `fuzz`. `fuzz/corpus` holds the
//! inputs that libFuzzer kept; the tests run them too.

mod choices;
#[cfg(doctest)]
mod guide;
pub mod queue;
#[cfg(unix)]
pub mod reactor;
pub mod task;
pub mod timer;

pub use choices::Choices;

/// Performs operations on a layer until the choices end, and panics if the layer differs from its
/// model.
pub type Machine = fn(&mut Choices<'_>);

/// The machines, by the names of their fuzz targets.
pub const MACHINES: &[(&str, Machine)] = &[
    ("task", task::run),
    ("queue", queue::run),
    ("timer", timer::run),
    #[cfg(unix)]
    ("reactor", reactor::run),
];
