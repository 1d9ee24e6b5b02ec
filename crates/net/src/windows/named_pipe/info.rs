//! Properties of a pipe.

use std::io;

use mio::windows::NamedPipe;
use windows_sys::Win32::System::Pipes::{PIPE_SERVER_END, PIPE_TYPE_MESSAGE};

use crate::sys::named_pipe;

/// Whether a pipe keeps the boundaries between writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PipeMode {
    /// A stream of bytes: a read may return parts of several writes.
    Byte,
    /// Each write is a message: a read returns bytes of only one message. If the buffer was too
    /// small for a message, the next reads return the rest.
    Message,
}

/// An end of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PipeEnd {
    /// The client's end: a [`NamedPipeClient`](super::NamedPipeClient).
    Client,
    /// The server's end: a [`NamedPipeServer`](super::NamedPipeServer).
    Server,
}

/// The properties of a pipe: the result of `info`.
///
/// # Examples
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::windows::named_pipe::ServerOptions;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let server = ServerOptions::new().max_instances(5).create(r"\\.\pipe\orders")?;
/// assert_eq!(server.info()?.max_instances, 5);
/// # Ok(()) }) }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PipeInfo {
    /// Whether the pipe keeps the boundaries between writes.
    pub mode: PipeMode,
    /// The end that the information is about.
    pub end: PipeEnd,
    /// The maximum number of instances of the pipe at a time; 255 means no limit.
    pub max_instances: u32,
    /// Size in bytes of the buffer for what the server writes.
    pub out_buffer_size: u32,
    /// Size in bytes of the buffer for what the client writes.
    pub in_buffer_size: u32,
}

impl PipeInfo {
    pub(super) fn of(pipe: &NamedPipe) -> io::Result<PipeInfo> {
        let info = named_pipe::info(pipe)?;
        Ok(PipeInfo {
            mode: match info.flags & PIPE_TYPE_MESSAGE {
                0 => PipeMode::Byte,
                _ => PipeMode::Message,
            },
            end: match info.flags & PIPE_SERVER_END {
                0 => PipeEnd::Client,
                _ => PipeEnd::Server,
            },
            max_instances: info.max_instances,
            out_buffer_size: info.out_buffer_size,
            in_buffer_size: info.in_buffer_size,
        })
    }
}
