//! A reactor on mio: registrations, their readiness and the wakers of the tasks that wait for it.
//! The thread that drives a [`Reactor`] owns it: a worker that has nothing to do, or a thread of
//! its own. Other threads have a [`Handle`], register sources with it and get a [`Registration`],
//! which a socket type polls. Nothing here knows tasks: sources are mio's, made from sockets of std
//! ([`Evented::from_std`]) or other descriptors (`Fd`), and waiters are wakers.
//!
//! How it works inside, and which thread may access what, is described in `docs/reactor.md`.
//!
//! # Example
//!
//! A read that waits, driven by hand:
//!
//! ```
//! use std::io::{Read, Write};
//! use std::pin::pin;
//! use std::task::{Context, Poll, Waker};
//!
//! use raddle_reactor::{Interest, Reactor};
//!
//! let mut reactor = Reactor::new()?;
//! let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
//! let peer = std::net::TcpStream::connect(listener.local_addr()?)?;
//! let (stream, _) = listener.accept()?;
//! stream.set_nonblocking(true)?;
//! let mut stream = mio::net::TcpStream::from_std(stream);
//! let registration = reactor.handle().register(&mut stream, Interest::READABLE)?;
//!
//! let mut buffer = [0; 16];
//! let mut read = pin!(registration.async_io(Interest::READABLE, || {
//!     (&stream).read(&mut buffer)
//! }));
//! let mut cx = Context::from_waker(Waker::noop());
//! assert!(read.as_mut().poll(&mut cx).is_pending());
//!
//! (&peer).write_all(b"hello")?;
//! while reactor.turn(None, usize::MAX)? == 0 {}
//! let Poll::Ready(read) = read.as_mut().poll(&mut cx) else {
//!     panic!("the event was dispatched");
//! };
//! assert_eq!(read?, 5);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Limits
//!
//! At most 2^28 - 1 sources at a time, and 2^18 - 1 on targets of 32 bits. There, an event of a
//! descriptor that a duplicate keeps registered after its source was dropped can reach a source
//! that is registered 2^14 registrations later; on targets of 64 bits that takes 2^36. A process
//! that forks must make a new reactor in the child.

#![deny(unsafe_code)]

mod context;
mod error;
mod evented;
#[cfg(unix)]
mod fd;
mod handle;
mod interest;
mod metrics;
mod reactor;
mod readiness;
mod ready;
mod registration;
mod state;
mod std_socket;
mod table;
#[cfg_attr(
    any(target_os = "linux", target_os = "android"),
    path = "wait_timer/timerfd.rs"
)]
#[cfg_attr(
    not(any(target_os = "linux", target_os = "android")),
    path = "wait_timer/none.rs"
)]
#[allow(unsafe_code, reason = "std and mio have no timers of the system")]
mod wait_timer;
mod waiters;

pub use error::is_shut_down;
pub use evented::{Evented, budgeted, poll_budgeted};
#[cfg(unix)]
pub use fd::Fd;
pub use handle::Handle;
pub use interest::Interest;
pub use metrics::Metrics;
/// The crate on which the reactor is built: sources implement its trait
/// [`Source`](mio::event::Source).
pub use mio;
pub use raddle_primitives::WakerBatch;
pub use reactor::{Reactor, TimeoutClock};
pub use readiness::{Clearing, Readiness, ReadyEvent, Snapshot};
pub use ready::Ready;
pub use registration::Registration;
pub use state::{Collected, IoState, WaitReady};
pub use std_socket::StdSocket;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
