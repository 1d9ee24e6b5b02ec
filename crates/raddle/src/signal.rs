//! Signals of the operating system.
//!
//! [`ctrl_c`] waits for SIGINT once. [`unix::signal`] makes a listener for any kind, to be used in
//! a loop. They need a runtime built with [`enable_io`](crate::runtime::Builder::enable_io).
//!
//! ```no_run
//! use raddle::signal::unix::{SignalKind, signal};
//!
//! # #[raddle::main]
//! # async fn main() -> std::io::Result<()> {
//! let mut terminate = signal(SignalKind::terminate())?;
//! let mut reload = signal(SignalKind::hangup())?;
//! loop {
//!     raddle::select! {
//!         _ = terminate.recv() => break Ok(()),
//!         _ = reload.recv() => println!("reading the configuration again"),
//!     }
//! }
//! # }
//! ```
//!
//! - The first listener for a kind replaces the default action, for the rest of the program: after
//!   it, SIGINT no longer ends the process. With [`unix::restore_default_when_unused`], SIGINT ends
//!   the process whenever there is no listener.
//! - There may be any number of listeners, in any number of runtimes; each receives every signal of
//!   its kind. A listener works in whichever runtime awaits it, even after the one that made it is
//!   gone.
//! - As the system does, a listener merges signals that arrive before it has been polled: it
//!   reports that there was a signal, not how many.
//!
//! `docs/guide/shutdown.md` in the repository shows a shutdown that finishes the work in progress.

pub use raddle_process::signal::ctrl_c;
#[cfg(unix)]
pub use raddle_process::signal::unix;
#[cfg(windows)]
pub use raddle_process::signal::windows;
