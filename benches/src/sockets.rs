//! What a benchmark of sockets needs from a runtime.

use std::future::Future;
use std::io::Result;
use std::net::{self, SocketAddr};

use async_io::Async;
use futures_lite::{AsyncReadExt as _, AsyncWriteExt as _};
use hyper_util::rt::TokioIo;
use raddle::io::{AsyncReadExt as _, AsyncWriteExt as _};
use raddle_hyper::RaddleIo;
use smol_hyper::rt::FuturesIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::executors::{Executor, Raddle, Smol, Tokio};

/// A runtime with sockets. It makes them from sockets of std, on one of its workers.
pub trait Sockets: Executor + 'static {
    /// Accepts connections.
    type Listener: Send + Sync + 'static;

    /// A connection.
    type Stream: Send + 'static;

    /// A connection in the adapter for hyper.
    type Hyper: hyper::rt::Read + hyper::rt::Write + Send + Unpin + 'static;

    /// A socket for datagrams.
    type Datagrams: Send + Sync + 'static;

    /// Takes over a nonblocking socket.
    fn listener(socket: net::TcpListener) -> Result<Self::Listener>;

    /// Waits for a connection, which sends each write at once.
    fn accept(listener: &Self::Listener) -> impl Future<Output = Result<Self::Stream>> + Send + '_;

    /// Takes over a nonblocking connection.
    fn stream(socket: net::TcpStream) -> Result<Self::Stream>;

    /// Wraps a connection in the adapter of the runtime.
    fn hyper(stream: Self::Stream) -> Self::Hyper;

    /// Reads available bytes; zero bytes at the end.
    fn read<'a>(
        stream: &'a mut Self::Stream,
        buffer: &'a mut [u8],
    ) -> impl Future<Output = Result<usize>> + Send + 'a;

    /// Writes all bytes.
    fn write_all<'a>(
        stream: &'a mut Self::Stream,
        bytes: &'a [u8],
    ) -> impl Future<Output = Result<()>> + Send + 'a;

    /// Takes over a nonblocking socket.
    fn datagrams(socket: net::UdpSocket) -> Result<Self::Datagrams>;

    /// Waits for a datagram.
    fn receive<'a>(
        socket: &'a Self::Datagrams,
        buffer: &'a mut [u8],
    ) -> impl Future<Output = Result<(usize, SocketAddr)>> + Send + 'a;

    /// Sends a datagram.
    fn send<'a>(
        socket: &'a Self::Datagrams,
        bytes: &'a [u8],
        to: SocketAddr,
    ) -> impl Future<Output = Result<usize>> + Send + 'a;
}

/// Defines the sockets of a runtime: their types, the functions that take over a socket of std, and
/// the function that makes a stream send each write at once.
macro_rules! sockets {
    (
        $runtime:ident: $listener:ty, $stream:ty, $datagrams:ty;
        $hyper:ident, $take_over:ident, |$connection:ident| $set_nodelay:expr
    ) => {
        impl Sockets for $runtime {
            type Listener = $listener;
            type Stream = $stream;
            type Hyper = $hyper<$stream>;
            type Datagrams = $datagrams;

            fn listener(socket: net::TcpListener) -> Result<Self::Listener> {
                <$listener>::$take_over(socket)
            }

            async fn accept(listener: &Self::Listener) -> Result<Self::Stream> {
                let ($connection, _) = listener.accept().await?;
                $set_nodelay?;
                Ok($connection)
            }

            fn stream(socket: net::TcpStream) -> Result<Self::Stream> {
                <$stream>::$take_over(socket)
            }

            fn hyper(stream: Self::Stream) -> Self::Hyper {
                $hyper::new(stream)
            }

            fn read<'a>(
                stream: &'a mut Self::Stream,
                buffer: &'a mut [u8],
            ) -> impl Future<Output = Result<usize>> + Send + 'a {
                stream.read(buffer)
            }

            fn write_all<'a>(
                stream: &'a mut Self::Stream,
                bytes: &'a [u8],
            ) -> impl Future<Output = Result<()>> + Send + 'a {
                stream.write_all(bytes)
            }

            fn datagrams(socket: net::UdpSocket) -> Result<Self::Datagrams> {
                <$datagrams>::$take_over(socket)
            }

            fn receive<'a>(
                socket: &'a Self::Datagrams,
                buffer: &'a mut [u8],
            ) -> impl Future<Output = Result<(usize, SocketAddr)>> + Send + 'a {
                socket.recv_from(buffer)
            }

            fn send<'a>(
                socket: &'a Self::Datagrams,
                bytes: &'a [u8],
                to: SocketAddr,
            ) -> impl Future<Output = Result<usize>> + Send + 'a {
                socket.send_to(bytes, to)
            }
        }
    };
}

sockets! {
    Raddle: raddle::net::TcpListener, raddle::net::TcpStream, raddle::net::UdpSocket;
    RaddleIo, from_std, |stream| stream.set_nodelay(true)
}
sockets! {
    Tokio: tokio::net::TcpListener, tokio::net::TcpStream, tokio::net::UdpSocket;
    TokioIo, from_std, |stream| stream.set_nodelay(true)
}
sockets! {
    Smol: Async<net::TcpListener>, Async<net::TcpStream>, Async<net::UdpSocket>;
    FuturesIo, new_nonblocking, |stream| stream.get_ref().set_nodelay(true)
}
