//! A channel for a single value, from one sender to one receiver.
//!
//! Sending does not wait. The receiver is a future. A channel is one allocation. A send costs one
//! read-modify-write; receiving a value that was sent before costs none.
//!
//! | future | dropped before it was ready |
//! |---|---|
//! | [`Receiver`] | drops the value with it; awaited by `&mut`, nothing is lost |
//! | [`Sender::closed`] | nothing is lost |
//!
//! # Examples
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
//! use raddle::sync::oneshot;
//!
//! # fn main() {
//! let (sender, receiver) = oneshot::channel();
//! let thread = std::thread::spawn(|| sender.send("hello"));
//! assert_eq!(receiver.blocking_recv(), Ok("hello"));
//! # thread.join().unwrap().unwrap();
//! # }
//! ```

pub mod error;
mod receiver;
mod sender;
mod shared;
mod state;

pub use receiver::Receiver;
pub use sender::Sender;

use shared::Handle;

/// Makes a channel for one value.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::oneshot;
///
/// # fn main() { raddle::run(async {
/// let (sender, receiver) = oneshot::channel();
/// raddle::spawn(async move { sender.send(7) });
/// assert_eq!(receiver.await, Ok(7));
/// # }) }
/// ```
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = Handle::pair();
    (Sender::new(sender), Receiver::new(receiver))
}
