//! Pipes, and named pipes (FIFOs) of the file system.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
//! use raddle::io::{AsyncReadExt, AsyncWriteExt};
//! use raddle::net::unix::pipe;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
//! let (mut sender, mut receiver) = pipe::pipe()?;
//! sender.write_all(b"hello").await?;
//! // The end of the pipe.
//! drop(sender);
//! let mut text = String::new();
//! receiver.read_to_string(&mut text).await?;
//! assert_eq!(text, "hello");
//! # Ok(()) }) }
//! ```

mod ends;
mod open;
mod receiver;
mod sender;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;

pub use open::OpenOptions;
pub use receiver::Receiver;
pub use sender::Sender;

use crate::sys::access_mode;

/// Makes a pipe: the receiver reads what the sender writes.
///
/// # Errors
///
/// Returns an error if the process or the system has no descriptor left, or if the reactor has shut
/// down.
///
/// # Panics
///
/// Panics if no reactor is current, as in a runtime without `enable_io`.
#[track_caller]
pub fn pipe() -> io::Result<(Sender, Receiver)> {
    let (sender, receiver) = mio::unix::pipe::new()?;
    Ok((Sender::new(sender)?, Receiver::new(receiver)?))
}

/// Checks that a descriptor is a pipe that is open for `access` (or both), and puts it in
/// non-blocking mode.
fn adopt(fd: OwnedFd, access: libc::c_int) -> io::Result<OwnedFd> {
    let file = std::fs::File::from(fd);
    if !file.metadata()?.file_type().is_fifo() {
        return Err(invalid("not a pipe; open one, or use AsyncFd"));
    }
    let mode = access_mode(&file)?;
    if mode != libc::O_RDWR && mode != access {
        return Err(invalid(
            "the pipe was opened for the other direction; use its other end",
        ));
    }
    set_nonblocking(&file, true)?;
    Ok(file.into())
}

fn invalid(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// Works for files and sockets, since both use the same flag.
fn set_nonblocking(fd: &impl AsFd, nonblocking: bool) -> io::Result<()> {
    socket2::SockRef::from(fd).set_nonblocking(nonblocking)
}
