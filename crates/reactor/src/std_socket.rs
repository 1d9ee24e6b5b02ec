//! Sockets of std as sources.

use std::io;

use mio::event::Source;

use crate::{Evented, Handle, Interest};

/// A socket of std that [`Evented::from_std`] registers: `TcpListener`, `TcpStream`, `UdpSocket`,
/// and on Unix `UnixListener`, `UnixStream` and `UnixDatagram`.
///
/// It becomes mio's type for the same socket, which has the same operations, since on Windows only
/// those tell the selector that an operation would block. On Unix, `Fd` keeps the socket's own
/// type.
pub trait StdSocket: sealed::Sealed {
    /// The type of mio.
    type Source: Source;

    /// Sets the socket to non-blocking mode, and turns it into a source.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses the mode.
    fn into_source(self) -> io::Result<Self::Source>;
}

mod sealed {
    /// Other crates do not implement the trait, so that methods can be added.
    pub trait Sealed {}
}

macro_rules! std_sockets {
    ($($(#[$cfg:meta])* $std:ty => $mio:ty),* $(,)?) => {
        $(
            $(#[$cfg])*
            impl sealed::Sealed for $std {}

            $(#[$cfg])*
            impl StdSocket for $std {
                type Source = $mio;

                fn into_source(self) -> io::Result<$mio> {
                    self.set_nonblocking(true)?;
                    Ok(<$mio>::from_std(self))
                }
            }
        )*
    };
}

std_sockets! {
    std::net::TcpListener => mio::net::TcpListener,
    std::net::TcpStream => mio::net::TcpStream,
    std::net::UdpSocket => mio::net::UdpSocket,
    #[cfg(unix)]
    std::os::unix::net::UnixListener => mio::net::UnixListener,
    #[cfg(unix)]
    std::os::unix::net::UnixStream => mio::net::UnixStream,
    #[cfg(unix)]
    std::os::unix::net::UnixDatagram => mio::net::UnixDatagram,
}

impl<E: Source> Evented<E> {
    /// Sets a socket of std to non-blocking mode, and registers it with `handle`'s reactor for
    /// `interest`.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses the mode, and the same errors as
    /// [`Handle::register`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::task::{Context, Poll, Waker};
    ///
    /// use raddle_reactor::{Evented, Interest, Reactor};
    ///
    /// let mut reactor = Reactor::new()?;
    /// let socket = std::net::UdpSocket::bind("127.0.0.1:0")?;
    /// let socket = Evented::from_std(socket, Interest::READABLE, &reactor.handle())?;
    /// let peer = std::net::UdpSocket::bind("127.0.0.1:0")?;
    /// peer.send_to(b"ping", socket.local_addr()?)?;
    ///
    /// let mut cx = Context::from_waker(Waker::noop());
    /// let length = loop {
    ///     match socket.poll_read_io(&mut cx, |socket| socket.recv(&mut [0; 8]))? {
    ///         Poll::Ready(length) => break length,
    ///         Poll::Pending => reactor.turn(None, usize::MAX)?,
    ///     };
    /// };
    /// assert_eq!(length, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn from_std<S>(socket: S, interest: Interest, handle: &Handle) -> io::Result<Self>
    where
        S: StdSocket<Source = E>,
    {
        Self::new(socket.into_source()?, interest, handle)
    }
}
