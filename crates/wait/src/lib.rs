#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "record")]
mod frame;
mod located;
mod span;
mod wait;

#[cfg(feature = "record")]
pub use frame::{Frame, current_task, enable, is_enabled};
pub use located::{Caller, located, note};
pub use span::ResourceSpan;
pub use wait::{Direction, Resource, Wait};
