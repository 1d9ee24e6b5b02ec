//! The sockets of async-io.

use std::future::Future;
use std::io::Result;
use std::net::{self, SocketAddr};

use async_io::Async;
use futures_lite::{AsyncReadExt as _, AsyncWriteExt as _};
use smol_hyper::rt::FuturesIo;

use super::Sockets;
use crate::executors::Smol;

impl Sockets for Smol {
    type Listener = Async<net::TcpListener>;
    type Stream = Async<net::TcpStream>;
    type Hyper = FuturesIo<Async<net::TcpStream>>;
    type Datagrams = Async<net::UdpSocket>;

    fn listener(socket: net::TcpListener) -> Result<Self::Listener> {
        Async::new_nonblocking(socket)
    }

    async fn accept(listener: &Self::Listener) -> Result<Self::Stream> {
        let (stream, _) = listener.accept().await?;
        stream.get_ref().set_nodelay(true)?;
        Ok(stream)
    }

    fn stream(socket: net::TcpStream) -> Result<Self::Stream> {
        Async::new_nonblocking(socket)
    }

    fn hyper(stream: Self::Stream) -> Self::Hyper {
        FuturesIo::new(stream)
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
        Async::new_nonblocking(socket)
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
