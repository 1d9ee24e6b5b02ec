#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

#[cfg(feature = "util")]
mod buf;
#[cfg(feature = "futures-io")]
pub mod compat;
#[cfg(feature = "util")]
mod ext;
#[allow(
    unsafe_code,
    reason = "a buffer that is filled without being zeroed first"
)]
mod read_buf;
mod traits;
#[cfg(feature = "util")]
mod util;

#[cfg(feature = "util")]
pub use buf::{BufReader, BufStream, BufWriter};
#[cfg(feature = "util")]
pub use ext::{
    AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, Chain, Lines, Split, Take, future,
};
pub use read_buf::ReadBuf;
pub use traits::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite};
#[cfg(feature = "util")]
pub use util::{
    Counted, DuplexStream, Empty, Join, ReadHalf, Repeat, SimplexStream, Sink, WriteHalf, copy,
    copy_bidirectional, copy_bidirectional_with_sizes, copy_buf, duplex, empty, join, repeat,
    simplex, sink, split,
};
