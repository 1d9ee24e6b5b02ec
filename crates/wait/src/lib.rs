#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "record")]
mod frame;
mod located;
mod span;
mod users;
mod wait;

#[cfg(feature = "record")]
pub use frame::{PollFrame, current_task, enable, is_enabled, root_number, root_task};
pub use located::{Caller, located, note, poll_located};
pub use span::ResourceSpan;
#[cfg(feature = "record")]
pub use users::users;
pub use users::{ChannelEnd, ResourceUser, Role, acquired, released};
pub use wait::{Direction, Resource, Wait};
