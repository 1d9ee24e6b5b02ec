//! Records what tasks wait for, for task dumps; `raddle-dump` prints and analyses the records.
//!
//! A leaf future records its operation, its source line and its resource when it returns `Pending`.
//! An observer of a scheduler opens a frame before each poll of a task, and reads the recorded
//! waits when the poll has returned.
//!
//! Recording needs the feature `record`. Without it every function is empty, the stored values have
//! no size, and [`located`] returns its future unchanged. With it, a leaf future costs one branch
//! until `enable` is called.

#[cfg(feature = "record")]
mod frame;
mod located;
mod record;
mod span;
mod users;

#[cfg(feature = "record")]
pub use frame::{PollFrame, current_task, enable, is_enabled, root_number, root_task};
pub use located::{Caller, located, note, poll_located, withdraw};
pub use record::{Direction, Resource, Wait};
pub use span::ResourceSpan;
#[cfg(feature = "record")]
pub use users::users;
pub use users::{
    ChannelEnd, GuardKind, Holding, ResourceUser, Role, SetMember, boxed, object_dropped, spawned,
};
