//! Channels, locks and other ways to synchronize tasks.
//!
//! They need no runtime: tasks of different runtimes and threads outside any runtime can use the
//! same channel. A future here never blocks its thread.
//!
//! # Channels
//!
//! | channel | senders | receivers | a value goes to |
//! |---|---|---|---|
//! | [`oneshot`] | one, once | one | the receiver |
//! | [`mpsc`] | many | one | the receiver; bounded, or [unbounded](mpsc::unbounded_channel) |
//! | [`mpmc`] | many | many | one of the receivers; not in Tokio |
//! | [`broadcast`] | many | many | every receiver; one that is too slow loses the oldest |
//! | [`watch`] | many | many | every receiver; only the latest value is kept |
//!
//! A bounded [`mpsc`] channel makes senders wait when the receiver is slow. Use an unbounded one
//! only where something else limits how much is sent.
//!
//! With the feature `stream`, receivers of `mpsc` implement `Stream` of the crate `futures-core`,
//! as `Interval` does, and the module `stream` here has wrappers for other receivers.
//!
//! # Locks and signals
//!
//! | type | for |
//! |---|---|
//! | [`Mutex`], [`RwLock`] | data that is locked across an `.await` |
//! | [`Semaphore`] | a limit on how many tasks do something at a time |
//! | [`Notify`] | waking a task, without a value |
//! | [`Barrier`] | tasks that wait until a number of them have arrived |
//! | [`OnceCell`], [`SetOnce`] | a value that is computed, or set, once |
//!
//! A `std::sync::Mutex` is faster, and is the right choice if no guard is held across an `.await`.
//! Waiters of the locks here are served in the order in which they asked.
//!
//! # A task that owns the data
//!
//! In place of a lock, one task can own the data and answer requests, each with a [`oneshot`]:
//!
//! ```
//! use raddle::sync::{mpsc, oneshot};
//!
//! #[raddle::main]
//! async fn main() {
//!     let (requests, mut inbox) = mpsc::channel::<(u32, oneshot::Sender<u32>)>(8);
//!     raddle::spawn(async move {
//!         let mut total = 0;
//!         while let Some((number, answer)) = inbox.recv().await {
//!             total += number;
//!             // The task that asked may have given up.
//!             let _ = answer.send(total);
//!         }
//!     });
//!     let (answer, total) = oneshot::channel();
//!     requests.send((7, answer)).await.unwrap();
//!     assert_eq!(total.await, Ok(7));
//! }
//! ```
//!
//! # Cancel safety
//!
//! Dropping the future of a receiver loses no value. Dropping that of `mpsc::Sender::send` or
//! `mpmc::Sender::send` loses the message; [`reserve`](mpsc::Sender::reserve) first, and nothing is
//! lost. Dropping the future of a
//! lock, a semaphore or a barrier gives up its place in the queue.

pub use raddle_sync::*;
