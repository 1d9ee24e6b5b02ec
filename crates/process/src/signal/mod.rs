//! Signals of the operating system, as events that a task can await.
//!
//! There may be any number of listeners on any number of reactors; each receives every signal of
//! its kind, in whichever runtime it is awaited.

#[cfg(unix)]
#[allow(unsafe_code, reason = "system calls")]
mod default_action;
#[cfg(unix)]
pub(crate) mod delivery;
#[cfg(unix)]
mod pipe;
#[cfg(unix)]
pub mod unix;
#[cfg(windows)]
pub mod windows;

use std::future::Future;
use std::io;

use raddle_leaf::misuse::io_at_caller;

#[cfg(unix)]
pub use self::delivery::{Attached, attach};

/// Waits for the next Ctrl-C.
///
/// A Ctrl-C before the first poll of the future is lost. From that poll on, Ctrl-C no longer ends
/// the process. On Unix that is permanent, unless the program calls
/// `unix::restore_default_when_unused`: then a second Ctrl-C ends a process that takes too long to
/// shut down. On Windows it lasts as long as a listener exists.
///
/// # Errors
///
/// Returns an error if the handler cannot be installed, or if the runtime has shut down before the
/// first poll. A wait that has begun continues when its runtime shuts down, like that of a
/// `unix::Signal`.
///
/// # Cancel safety
///
/// A Ctrl-C that comes between two futures is lost. To receive all of them, keep a `unix::Signal`
/// or a `windows::CtrlC`.
///
/// # Panics
///
/// Panics on Unix when polled if no reactor is current, as in a runtime without `enable_io`.
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::signal;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// signal::ctrl_c().await?;
/// println!("goodbye");
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn ctrl_c() -> impl Future<Output = io::Result<()>> {
    io_at_caller(async {
        #[cfg(unix)]
        let mut interrupts = {
            raddle_reactor::Handle::check_current()?;
            unix::signal(unix::SignalKind::interrupt())?
        };
        #[cfg(windows)]
        let mut interrupts = windows::ctrl_c()?;
        match interrupts.recv().await {
            Some(()) => Ok(()),
            None => Err(io::Error::other(
                "the process was forked during the wait; call `ctrl_c` in the forked process",
            )),
        }
    })
}
