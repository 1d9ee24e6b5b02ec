//! A channel from many senders to one receiver.
//!
//! [`channel`] makes a channel of limited capacity. Its senders wait for room, so that a slow
//! receiver slows its senders down. [`unbounded_channel`] makes a channel without a limit. Messages
//! arrive in the order in which they were sent.
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
//! When all senders are dropped, the receiver gets the remaining messages and then `None`. The
//! receiver can also [`close`](Receiver::close) the channel: new sends fail, but messages that were
//! sent before, or for which a sender has a permit, still arrive. Dropping the receiver drops the
//! messages too.
//!
//! # Memory
//!
//! Messages are in blocks of 32. A channel has one block from the start, and keeps one more as a
//! spare, so an idle channel takes memory for 32 messages. On a 64-bit target a new unbounded
//! channel takes these bytes:
//!
//! | message | here | Tokio 1.54 |
//! |---|---|---|
//! | `u8` | 424 | 576 |
//! | a box of any size | 680 | 800 |
//! | 64 bytes | 2472 | 2592 |
//! | 1 KiB | 33192 | 33312 |
//!
//! Where many channels with large messages are idle, send boxes:
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
//! use raddle::sync::mpsc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (sender, mut receiver) = mpsc::unbounded_channel::<Box<[u8; 1024]>>();
//! sender.send(Box::new([7; 1024]))?;
//! assert_eq!(receiver.try_recv()?[0], 7);
//! # Ok(())
//! # }
//! ```
//!
//! # Examples
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
//! use raddle::sync::mpsc;
//!
//! # fn main() { raddle::run(async {
//! let (sender, mut receiver) = mpsc::channel(10);
//! let threads: Vec<_> = (0..3)
//!     .map(|number| {
//!         let sender = sender.clone();
//!         std::thread::spawn(move || sender.blocking_send(number))
//!     })
//!     .collect();
//! drop(sender);
//!
//! let mut sum = 0;
//! while let Some(number) = receiver.recv().await {
//!     sum += number;
//! }
//! assert_eq!(sum, 3);
//! # threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
//! # }) }
//! ```

mod block;
mod bounded;
mod chan;
mod ends;
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
