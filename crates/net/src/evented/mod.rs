//! Code shared by all sockets, on top of a registered source.

mod stream;

use std::future::poll_fn;
use std::io;

use mio::event::Source;
use raddle_reactor::{Evented, Handle, Interest, Ready};
use socket2::SockRef;

pub(crate) use self::stream::ByteStream;

/// What a receive of a datagram waits for: a datagram, or an error that the receive returns, such
/// as that of a refused datagram.
pub(crate) const RECEIVED: Interest = Interest::READABLE.add(Interest::ERROR);

/// Whether the selector reports an error of a socket together with "write closed", as epoll does.
const ERRORS_CLOSE: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// Registers a socket for connections or streams with `handle`'s reactor for reading and writing.
pub(crate) fn watch<E: Source>(source: E, handle: &Handle) -> io::Result<Evented<E>> {
    let interest = Interest::READABLE | Interest::WRITABLE;
    // A read ends early at the mark of out-of-band data. Only the event of that data shows that the
    // socket was not drained.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let interest = interest | Interest::PRIORITY;
    watch_for(source, interest, handle)
}

/// Registers the stream of a connection that a listener has accepted. The peer has probably sent
/// bytes already.
pub(crate) fn watch_accepted<E: Source>(stream: E, handle: &Handle) -> io::Result<Evented<E>> {
    Ok(watch(stream, handle)?.assuming(Ready::READABLE | Ready::WRITABLE))
}

/// Registers a stream that is being connected, and waits for the end of the attempt.
pub(crate) async fn watch_connecting<E: Source>(
    stream: E,
    handle: &Handle,
) -> io::Result<Evented<E>>
where
    for<'a> SockRef<'a>: From<&'a E>,
{
    let stream = watch(stream, handle)?;
    // The event "writable" shows that the attempt has ended, and the socket's error shows its
    // result.
    poll_fn(|cx| stream.poll_write_ready(cx)).await?;
    match SockRef::from(&*stream).take_error()? {
        Some(error) => Err(error),
        None => Ok(stream),
    }
}

/// Registers a socket for datagrams. It has no out-of-band data, and an event that says so, as a
/// message in the error queue may, would count as data.
pub(crate) fn watch_datagrams<E: Source>(source: E, handle: &Handle) -> io::Result<Evented<E>> {
    watch_for(source, Interest::READABLE | Interest::WRITABLE, handle)
}

fn watch_for<E: Source>(source: E, interest: Interest, handle: &Handle) -> io::Result<Evented<E>> {
    let evented = Evented::new(source, interest, handle)?;
    if ERRORS_CLOSE {
        // A socket that is closed hangs up. One that only has an error can be written to.
        evented.registration().let_errors_pass();
    }
    Ok(evented)
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
