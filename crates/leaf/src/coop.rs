//! The budget of one poll. A task whose resources are always ready would never yield its worker.
//!
//! The executor gives each poll a [`budget`] of 128 units, and each resource takes one unit for
//! each operation that it completes. A resource that finds the budget used up wakes its task and
//! returns `Pending`. Outside `budget`, and inside [`unconstrained`], there is no limit. A task
//! that calls the `block_on` of another executor is not stuck either: a poll that is refused 128
//! times gets a fresh budget. The budget does not interrupt a poll that computes or blocks.

mod budget;
mod consume;
mod cooperative;
mod unconstrained;

pub use budget::{
    RestoreOnPending, budget, budget_of, has_budget_remaining, is_limited, poll_charged,
    poll_proceed, try_proceed, unlimited, with_waker,
};
pub use consume::{consume_budget, poll_consume_budget};
pub use cooperative::{Coop, cooperative};
pub use unconstrained::{Unconstrained, unconstrained};
