//! Standard output.

use std::io;

use super::output::Output;

/// The standard output of the process.
///
/// Comes from [`stdout`].
pub type Stdout = Output<io::Stdout>;

/// Makes a writer of the standard output of the process.
///
/// A write completes when its bytes are copied, at most 2 MiB at a time. They are written in the
/// background, before the bytes of the next write to the same `Stdout`. An accepted write is made
/// even if the writer is dropped or the runtime shuts down, as long as the process lives. Only a
/// flush waits for it, so flush before the process exits.
///
/// A write of more than 2 MiB of UTF-8 takes only whole characters, because a Windows console
/// refuses parts of a character.
///
/// Two `Stdout`, or one and `std::io::stdout`, may write at the same time: each write is made as a
/// whole, in an unspecified order.
///
/// # Errors
///
/// If a write fails, the next write or flush returns the error. If the system has no thread for it,
/// or after the runtime's shutdown, the write or flush itself fails and accepts no bytes; it can be
/// retried.
///
/// # Panics
///
/// The methods of `AsyncWriteExt` panic if the thread is not in a runtime; the poll functions
/// return the same text as an error.
///
/// # Cancel safety
///
/// As forevery writer: `write` and `flush` are cancel safe, `write_all` is not.
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::AsyncWriteExt;
///
/// # fn main() { async fn example() -> std::io::Result<()> {
/// let mut stdout = raddle::io::stdout();
/// stdout.write_all(b"good morning\n").await?;
/// stdout.flush().await?;
/// # Ok(()) } }
/// ```
pub fn stdout() -> Stdout {
    Output::new(io::stdout)
}
