//! The counting build: std's primitives, each of which counts the operations on
//! it. `docs/scaling.md` says what for.
//!
//! An operation is counted under the name of its word (see
//! [`named`](crate::named)) and for an *actor*: the worker or thread that does
//! it, which [`act_as`] sets. What was counted since the last [`settle`] is put
//! down under the *phase* that `settle` names, so that a caller may decide after
//! the fact what the operations were part of.

mod arc;
mod atomic;
mod ledger;
mod tag;

pub use arc::Arc;
pub use atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence};
pub use ledger::{Entry, Kind, Operations, act_as, event, report, reset, settle};
pub(crate) use tag::Tag;
pub use tag::Tagged;

/// The maximum number of actors; their numbers are below this.
pub const MAX_ACTORS: usize = 320;

/// The number of phases; their numbers are below this.
pub const PHASES: usize = 8;

/// The actor of a thread that has called [`act_as`] never.
pub const OUTSIDE: usize = 0;
