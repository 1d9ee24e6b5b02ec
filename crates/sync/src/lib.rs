#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod blocking;
pub mod broadcast;
mod notify;
mod once_cell;
#[allow(unsafe_code, reason = "the value is written once and shared then")]
mod once_slot;
mod sequence;
mod set_once;
mod wait_list;
mod wakers;
pub mod watch;

pub use notify::Notify;
pub use once_cell::{OnceCell, SetError};
pub use set_once::{SetOnce, SetOnceError};

/// Futures that have a name.
pub mod futures {
    pub use crate::notify::{Notified, OwnedNotified};
}
