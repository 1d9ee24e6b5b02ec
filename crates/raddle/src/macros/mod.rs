//! The macros that wait for several futures, and what their code calls.

#[cfg(feature = "macros")]
mod join;
mod pin;
#[cfg(feature = "macros")]
mod select;

/// For the code that the macros write only.
#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod support;
