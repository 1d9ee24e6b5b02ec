//! Standard error output.

use std::io;

use super::output::Output;

/// The standard error output of the process.
///
/// Comes from [`stderr`].
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncWriteExt, Stderr, stderr};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut errors: Stderr = stderr();
/// errors.write_all(b"hello\n").await?;
/// errors.flush().await?;
/// # Ok(())
/// # }) }
/// ```
pub type Stderr = Output<io::Stderr>;

/// Makes a writer of the standard error output of the process.
///
/// A write is complete when its bytes are copied, 2 MiB at most at a time; they
/// are written afterwards, and before the bytes of the next write to the same
/// `Stderr`. Nothing that was written is lost: a write that has been taken is done
/// even if the writer is dropped or the runtime shut down, as long as the
/// process lives. Only a flush says that it is done, so flush before the
/// process exits.
///
/// A write of more than 2 MiB of UTF-8 takes whole characters only: a console of Windows refuses
/// parts of one.
///
/// Two `Stderr`, or one and `std::io::stderr`, may write at the same time: each write
/// is whole, and which one is first is not said.
///
/// # Errors
///
/// If a write fails, the next write or flush returns the error. Where the system has no thread for
/// it, and after the runtime's shutdown, nothing is taken, and the write or flush itself is the
/// error; it can be tried again.
///
/// # Panics
///
/// Writing and flushing panic if the thread is in no runtime.
///
/// # Cancel safety
///
/// As for every writer: `write` and `flush` are cancel safe, `write_all` is
/// not.
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::AsyncWriteExt;
///
/// # fn main() {
/// # async fn example() -> std::io::Result<()> {
/// let mut stderr = raddle::io::stderr();
/// stderr.write_all(b"good morning\n").await?;
/// stderr.flush().await?;
/// # Ok(())
/// # }
/// # }
/// ```
pub fn stderr() -> Stderr {
    Output::new(io::stderr)
}
