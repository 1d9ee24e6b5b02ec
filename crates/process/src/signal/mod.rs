//! Signals of the operating system, as something to wait for.
//!
//! Any number of listeners, on any number of reactors, each hear of every signal of
//! their kind.
//!
//! ```no_run
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
//! # fn main() {
//! # async fn example() -> std::io::Result<()> {
//! raddle::signal::ctrl_c().await?;
//! println!("goodbye");
//! # Ok(())
//! # }
//! # }
//! ```

mod delivery;
mod pipe;
pub mod unix;

use std::io;

/// Waits for the next Ctrl-C.
///
/// One that comes before the first poll of the future is lost. From that poll on, Ctrl-C does not
/// end the process any more, for good: see [`unix::signal`].
///
/// # Errors
///
/// Returns an error if the handler cannot be installed, or if the runtime shuts down.
///
/// # Cancel safety
///
/// A Ctrl-C that comes between two futures is lost. To receive each, keep a [`unix::Signal`].
///
/// # Panics
///
/// Panics when polled if no reactor is current, as in a runtime without `enable_io`.
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
/// # Ok(())
/// # }) }
/// ```
pub async fn ctrl_c() -> io::Result<()> {
    let mut interrupts = unix::signal(unix::SignalKind::interrupt())?;
    match interrupts.recv().await {
        Some(()) => Ok(()),
        None => Err(io::Error::other(
            "the runtime has shut down; wait for Ctrl-C while it runs",
        )),
    }
}
