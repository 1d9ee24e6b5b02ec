#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod buf;
#[cfg(feature = "futures-io")]
pub mod compat;
mod ext;
#[allow(
    unsafe_code,
    reason = "a buffer that is filled without being zeroed first"
)]
mod read_buf;
mod traits;
mod util;

pub use buf::{BufReader, BufStream, BufWriter};
pub use ext::{
    AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, Chain, Lines, Split, Take, future,
};
pub use read_buf::ReadBuf;
pub use traits::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite};
pub use util::{
    DuplexStream, Empty, Join, ReadHalf, Repeat, SimplexStream, Sink, WriteHalf, copy,
    copy_bidirectional, copy_bidirectional_with_sizes, copy_buf, duplex, empty, join, repeat,
    simplex, sink, split,
};
