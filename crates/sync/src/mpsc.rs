//! A channel from many senders to one receiver.
//!
//! [`channel`] makes one of limited capacity, in which senders wait for room: by that a slow
//! receiver slows its senders down. [`unbounded_channel`] makes one without limit.
//! Messages arrive in the order in which they were sent.
//!
//! | future | dropped before it was ready |
//! |---|---|
//! | [`Receiver::recv`], [`recv_many`](Receiver::recv_many) | nothing is received, nothing is lost |
//! | [`Sender::send`] | the message is not sent, and dropped; its turn is lost |
//! | [`Sender::reserve`], [`reserve_many`](Sender::reserve_many), [`reserve_owned`](Sender::reserve_owned) | no room is taken; the turn is lost |
//! | [`Sender::closed`] | nothing is lost |
//!
//! # Closing
//!
//! When all senders are dropped, the receiver has what is left and then `None`. The receiver can
//! [`close`](Receiver::close) the channel itself: senders are refused, but what they have sent, or
//! have a permit to send, still arrives. A receiver that is dropped drops the messages too.
//!
//! # Examples
//!
//! ```
//! # #[cfg(not(raddle_loom))]
//! # futures_lite::future::block_on(async {
//! use raddle_sync::mpsc;
//!
//! let (sender, mut receiver) = mpsc::channel(10);
//! let threads: Vec<_> = (0..3)
//!     .map(|number| {
//!         let sender = sender.clone();
//!         std::thread::spawn(move || sender.blocking_send(number))
//!     })
//!     .collect();
//! drop(sender);
//! let mut sum = 0;
//! while let Some(number) = receiver.recv().await {
//!     sum += number;
//! }
//! assert_eq!(sum, 3);
//! # threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
//! # });
//! ```

mod block;
mod bounded;
mod chan;
pub mod error;
mod head;
mod list;
mod position;
mod rx;
mod unbounded;

#[cfg(all(test, not(raddle_loom)))]
mod tests;

pub use bounded::{OwnedPermit, Permit, PermitIterator, Receiver, Sender, WeakSender, channel};
pub use unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};
