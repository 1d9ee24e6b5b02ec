//! A thread pool for blocking work that grows on demand and shrinks when idle.
//!
//! Work that blocks its thread (a file read, a name look-up, a long computation) must not run where
//! futures are polled. A [`Pool`] runs such jobs on separate threads: it starts a thread when no
//! thread is free for a job, up to a limit, and a thread that has been idle for a while exits.
//!
//! The pool knows nothing of tasks or futures. A job is anything that implements [`Job`]; closures
//! do.
//!
//! ```
//! use std::sync::mpsc;
//!
//! type Closure = Box<dyn FnOnce() + Send>;
//!
//! let mut pool = raddle_blocking::Pool::<Closure>::new(raddle_blocking::Config::default());
//! let (sender, receiver) = mpsc::channel();
//! pool.handle()
//!     .submit(Box::new(move || sender.send(6 * 7).unwrap()))
//!     .unwrap();
//! assert_eq!(receiver.recv().unwrap(), 42);
//! assert!(pool.shutdown(None));
//! ```
//!
//! # Promises
//!
//! - A job that [`submit`](Handle::submit) has accepted is run, or dropped by the shutdown; it is
//!   never forgotten.
//! - When the operating system refuses a thread, the job waits for one of the existing threads; if
//!   there is none, the caller gets the job back with the system's reason.
//! - A panic in a job ends only that job, not its thread or the pool. The payload is dropped: a job
//!   that reports its panics must catch them itself.
//! - No job is run or dropped, and no hook called, under a lock of the pool.

#![forbid(unsafe_code)]

mod config;
mod error;
mod job;
mod observer;
mod pool;
mod shared;
mod thread;

pub use crate::config::{AroundThread, Config};
pub use crate::error::SubmitError;
pub use crate::job::Job;
pub use crate::observer::{JobMeta, JobObserver};
pub use crate::pool::{Handle, Pool};

#[cfg(all(test, not(raddle_loom)))]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
