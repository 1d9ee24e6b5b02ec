//! The macros that wait for several futures, and what their code calls.

mod join;
mod pin;
mod select;

/// For the code that the macros write, and for nobody else.
#[doc(hidden)]
pub mod support;
