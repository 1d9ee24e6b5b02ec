//! TCP, UDP and Unix sockets, and pipes.
//!
//! | to | use |
//! |---|---|
//! | accept TCP connections | [`TcpListener`] |
//! | connect | [`TcpStream::connect`] |
//! | set options before connecting | [`TcpSocket`] |
//! | send and receive datagrams | [`UdpSocket`] |
//! | talk to processes of this host | [`UnixListener`], [`UnixStream`], [`UnixDatagram`]; on Windows `windows::named_pipe` |
//! | look a name up | [`lookup_host`]; every `connect` and `bind` takes names, too |
//! | wait for any other descriptor | [`AsyncFd`](crate::io::unix::AsyncFd) |
//!
//! They need a runtime built with [`enable_io`](crate::runtime::Builder::enable_io), and belong to
//! the runtime in which they were made.
//!
//! # A server
//!
//! One task accepts, and each connection has a task of its own.
//! [`accept_retrying`](TcpListener::accept_retrying) handles temporary errors of `accept`, such as
//! too many open files:
//!
//! ```no_run
//! use raddle::io::copy;
//! use raddle::net::TcpListener;
//! use raddle::time::sleep;
//!
//! # #[raddle::main]
//! # async fn main() -> std::io::Result<()> {
//! let listener = TcpListener::bind("127.0.0.1:7000").await?;
//! loop {
//!     let (mut stream, _peer) = listener.accept_retrying(sleep).await?;
//!     raddle::spawn(async move {
//!         let (mut reader, mut writer) = stream.split();
//!         copy(&mut reader, &mut writer).await
//!     });
//! }
//! # }
//! ```
//!
//! # Reading and writing
//!
//! Streams implement [`AsyncRead`](crate::io::AsyncRead) and [`AsyncWrite`](crate::io::AsyncWrite);
//! the methods come from [`AsyncReadExt`](crate::io::AsyncReadExt) and
//! [`AsyncWriteExt`](crate::io::AsyncWriteExt). A stream has no buffer: wrap it in a
//! [`BufReader`](crate::io::BufReader) or [`BufWriter`](crate::io::BufWriter) for small reads and
//! writes. To read in one task and write in another, use `into_split`; within one task, `split`.
//!
//! `readable` with `try_read`, and `writable` with `try_write`, wait without a buffer, so a server
//! with very many idle connections needs no buffers for them.
//!
//! `TcpStream::read_closed` waits for the end of a connection without reading, so that a server
//! stops work for a client that has gone:
//!
//! ```
//! use raddle::io::AsyncWriteExt;
//! use raddle::net::{TcpListener, TcpStream};
//!
//! # #[raddle::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let mut client = TcpStream::connect(listener.local_addr()?).await?;
//! let (server, _) = listener.accept().await?;
//! client.write_all(b"request").await?;
//! drop(client);
//! let answer = std::future::pending::<String>();
//! raddle::select! {
//!     // Also while the request, or a part of it, is unread.
//!     closed = server.read_closed() => closed?,
//!     text = answer => server.try_write(text.as_bytes()).map(drop)?,
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Unix sockets pass open files to another process with `UnixStream::send_with_fds`.
//!
//! # Cancel safety
//!
//! Dropping the future of `accept`, `readable`, `writable`, `recv_from` or `send_to` loses nothing.
//! Dropping `connect` closes the socket.

#[cfg(windows)]
pub use raddle_net::windows;
pub use raddle_net::{
    TcpListener, TcpSocket, TcpStream, ToSocketAddrs, UdpSocket, lookup_host, tcp,
};
#[cfg(unix)]
pub use raddle_net::{UnixDatagram, UnixListener, UnixSocket, UnixStream, unix};
