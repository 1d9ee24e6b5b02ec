#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

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
