//! Reading and writing without blocking.
//!
//! The traits [`AsyncRead`] and [`AsyncWrite`] are what sockets, files, pipes and children's
//! standard streams implement. Programs call the methods of [`AsyncReadExt`] and [`AsyncWriteExt`],
//! which each reader and writer has:
//!
//! ```
//! use raddle::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex};
//!
//! # #[raddle::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! // Two connected streams in memory, as sockets would be.
//! let (mut client, server) = duplex(64);
//! client.write_all(b"one\ntwo\n").await?;
//! client.shutdown().await?;
//!
//! let mut lines = BufReader::new(server).lines();
//! while let Some(line) = lines.next_line().await? {
//!     println!("{line}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! |---|---|
//! | read lines, or up to a delimiter | [`BufReader`] and [`AsyncBufReadExt`] |
//! | collect small writes | [`BufWriter`], which has to be flushed |
//! | copy from one stream to another, or both ways | [`copy`], [`copy_bidirectional`] |
//! | know how many bytes were moved before an error or a timeout | [`Counted`] |
//! | read and write one stream in different tasks | [`split`], or the stream's own `into_split` |
//! | move within a file | [`AsyncSeekExt`] |
//! | test without a network | [`duplex`], slices, `Vec<u8>`, `std::io::Cursor` |
//! | implement a stream | [`AsyncRead`], [`AsyncWrite`], [`ReadBuf`] |
//! | wait for a descriptor that has no type here | [`AsyncFd`](unix::AsyncFd) |
//!
//! # Cancel safety
//!
//! `read`, `write`, `read_buf`, `write_buf`, `fill_buf` and `next_line` are cancel safe: dropping
//! their futures loses no data. `read_exact`, `read_to_string`, `read_line`, `write_all` and `copy`
//! are not. Each method says so.
//!
//! # Standard streams
//!
//! [`stdin`], [`stdout`] and [`stderr`] are for programs that use them occasionally, such as a
//! filter or a server's log. Each operation calls std. Writes run on a thread for [blocking
//! work](crate::task::spawn_blocking), reads on a thread of the process: a read that waits for the
//! user cannot be stopped, and neither the runtime's shutdown nor the end of the process waits for
//! it.

#[cfg(feature = "io-std")]
pub use raddle_fs::stdio::{Output, Stderr, Stdin, Stdout, stderr, stdin, stdout};
#[cfg(feature = "futures-io")]
pub use raddle_io::compat;
// By name, so that the compiler can say which feature is off.
pub use raddle_io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
#[cfg(feature = "io-util")]
pub use raddle_io::{
    AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader, BufStream, BufWriter,
    Chain, Counted, DuplexStream, Empty, Join, Lines, ReadHalf, Repeat, SimplexStream, Sink, Split,
    Take, WriteHalf, copy, copy_bidirectional, copy_bidirectional_with_sizes, copy_buf, duplex,
    empty, future, join, repeat, simplex, sink, split,
};
#[cfg(feature = "mio")]
pub use raddle_reactor::{Interest, Ready};
pub use std::io::{Error, ErrorKind, Result, SeekFrom};

/// Waiting for any descriptor, by [`AsyncFd`](unix::AsyncFd).
#[cfg(all(feature = "net", unix))]
pub mod unix {
    pub use raddle_net::async_fd::*;
}
