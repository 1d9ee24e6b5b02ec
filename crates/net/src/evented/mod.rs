//! Code shared by all sockets, on top of a registered source.

mod stream;

use std::io;

use mio::event::Source;
use raddle_reactor::{Evented, Handle, Interest};
use socket2::SockRef;

pub(crate) use self::stream::ByteStream;

/// Registers a socket with `handle`'s reactor for reading and writing.
pub(crate) fn watch<E: Source>(source: E, handle: &Handle) -> io::Result<Evented<E>> {
    let interest = Interest::READABLE | Interest::WRITABLE;
    // A read ends early at the mark of out-of-band data. Only the event of that data shows that the
    // socket was not drained.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let interest = interest | Interest::PRIORITY;
    Evented::new(source, interest, handle)
}

fn would_block<R>(result: &io::Result<R>) -> bool {
    matches!(result, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
}

/// Panics in debug builds, on systems that report it, if a socket from the user is in blocking
/// mode, which would block a thread of the runtime.
#[track_caller]
pub(crate) fn debug_assert_nonblocking<S>(socket: &S)
where
    for<'a> SockRef<'a>: From<&'a S>,
{
    #[cfg(unix)]
    debug_assert!(
        SockRef::from(socket).nonblocking().unwrap_or(true),
        "the socket is in blocking mode; call set_nonblocking(true) before handing it over"
    );
    let _ = socket;
}
