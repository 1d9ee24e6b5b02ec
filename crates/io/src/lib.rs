#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod buf;
mod ext;
#[allow(
    unsafe_code,
    reason = "a buffer that is filled without being zeroed first"
)]
mod read_buf;
mod traits;
mod util;

pub use buf::{BufReader, BufWriter};
pub use ext::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, Chain, Lines, Take, future};
pub use read_buf::ReadBuf;
pub use traits::{AsyncBufRead, AsyncRead, AsyncWrite};
pub use util::{
    DuplexStream, Empty, ReadHalf, Repeat, Sink, WriteHalf, copy, copy_bidirectional, duplex,
    empty, repeat, sink, split,
};
