//! The counting build: std's primitives, each of which counts the operations on it.
//! `docs/scaling.md` describes its use.
//!
//! An operation is counted under the name of its word (see [`named`](crate::named)) and for an
//! *actor*: the worker or thread that performs it, which [`act_as`] sets. [`settle`] assigns the
//! counts since its last call to a *phase*, so a caller may decide afterwards what the operations
//! were part of.

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

/// The actor of a thread that has never called [`act_as`].
pub const OUTSIDE: usize = 0;
