//! What a benchmark of sockets needs of a runtime.

mod smol;

use std::future::Future;
use std::io::Result;
use std::net::{self, SocketAddr};

use hyper_util::rt::TokioIo;
use raddle::io::{AsyncReadExt as _, AsyncWriteExt as _};
use raddle_hyper::RaddleIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::executors::{Executor, Raddle, Tokio};

/// A runtime with sockets. What is made of a socket of std is made on one of
/// its workers.
pub trait Sockets: Executor + 'static {
    /// Accepts connections.
    type Listener: Send + Sync + 'static;

    /// A connection.
    type Stream: Send + 'static;

    /// A connection as hyper wants it.
    type Hyper: hyper::rt::Read + hyper::rt::Write + Send + Unpin + 'static;

    /// A socket for datagrams.
    type Datagrams: Send + Sync + 'static;

    /// Takes over a socket that does not block.
    fn listener(socket: net::TcpListener) -> Result<Self::Listener>;

    /// Waits for a connection, which then sends each write at once.
    fn accept(listener: &Self::Listener) -> impl Future<Output = Result<Self::Stream>> + Send + '_;

    /// Takes over a connection that does not block.
    fn stream(socket: net::TcpStream) -> Result<Self::Stream>;

    /// Wraps a connection in the adapter of the runtime.
    fn hyper(stream: Self::Stream) -> Self::Hyper;

    /// Reads what is there, no byte at the end.
    fn read<'a>(
        stream: &'a mut Self::Stream,
        buffer: &'a mut [u8],
    ) -> impl Future<Output = Result<usize>> + Send + 'a;

    /// Writes all of it.
    fn write_all<'a>(
        stream: &'a mut Self::Stream,
        bytes: &'a [u8],
    ) -> impl Future<Output = Result<()>> + Send + 'a;

    /// Takes over a socket that does not block.
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

impl Sockets for Raddle {
    type Listener = raddle::net::TcpListener;
    type Stream = raddle::net::TcpStream;
    type Hyper = RaddleIo<raddle::net::TcpStream>;
    type Datagrams = raddle::net::UdpSocket;

    fn listener(socket: net::TcpListener) -> Result<Self::Listener> {
        raddle::net::TcpListener::from_std(socket)
    }

    async fn accept(listener: &Self::Listener) -> Result<Self::Stream> {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    fn stream(socket: net::TcpStream) -> Result<Self::Stream> {
        raddle::net::TcpStream::from_std(socket)
    }

    fn hyper(stream: Self::Stream) -> Self::Hyper {
        RaddleIo::new(stream)
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
        raddle::net::UdpSocket::from_std(socket)
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

impl Sockets for Tokio {
    type Listener = tokio::net::TcpListener;
    type Stream = tokio::net::TcpStream;
    type Hyper = TokioIo<tokio::net::TcpStream>;
    type Datagrams = tokio::net::UdpSocket;

    fn listener(socket: net::TcpListener) -> Result<Self::Listener> {
        tokio::net::TcpListener::from_std(socket)
    }

    async fn accept(listener: &Self::Listener) -> Result<Self::Stream> {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    fn stream(socket: net::TcpStream) -> Result<Self::Stream> {
        tokio::net::TcpStream::from_std(socket)
    }

    fn hyper(stream: Self::Stream) -> Self::Hyper {
        TokioIo::new(stream)
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
        tokio::net::UdpSocket::from_std(socket)
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
