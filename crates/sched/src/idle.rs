//! How workers that have no task park and are woken: the idle set, the stealable set and the
//! parker.

mod parker;
mod set;
mod stealable;

pub(crate) use parker::{BlockedOn, Parker};
pub(crate) use set::{IdleSet, MAX_WORKERS, Parking};
pub(crate) use stealable::StealableSet;
