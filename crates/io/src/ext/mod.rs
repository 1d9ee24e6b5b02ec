//! The extension methods, and the future of each in a file of its own.

use std::io;
use std::task::{Context, Poll};

use raddle_leaf::misuse::Misuse;
use raddle_leaf::wait::{Caller, poll_located};

mod buf_read_ext;
mod chain;
mod fill_buf;
mod flush;
mod lines;
mod read;
mod read_exact;
mod read_ext;
mod read_int;
mod read_into;
mod read_line;
mod read_to_end;
mod read_to_string;
mod read_until;
mod seek;
mod seek_ext;
mod shutdown;
mod split;
mod take;
mod text;
mod write;
mod write_all;
mod write_all_buf;
mod write_buf;
mod write_ext;
mod write_int;
mod write_vectored;

pub use buf_read_ext::AsyncBufReadExt;
pub use chain::Chain;
pub use lines::Lines;
pub use read_ext::AsyncReadExt;
pub use seek_ext::AsyncSeekExt;
pub use split::Split;
pub use take::Take;
pub(crate) use write_all::{checked, write_zero};
pub use write_ext::AsyncWriteExt;

/// [`poll_located`], at the line that polls the future if the operation is misused.
///
/// # Panics
///
/// Panics if the error is made from a [`Misuse`].
#[inline]
#[track_caller]
fn poll_io<T>(
    cx: &mut Context<'_>,
    operation: &'static str,
    caller: Caller,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<io::Result<T>>,
) -> Poll<io::Result<T>> {
    match poll_located(cx, operation, caller, poll) {
        Poll::Ready(Err(error)) => Poll::Ready(Err(Misuse::check_io(error))),
        polled => polled,
    }
}

/// The futures that the extension methods return, for code that has to name them.
pub mod future {
    pub use super::fill_buf::FillBuf;
    pub use super::flush::Flush;
    pub use super::read::Read;
    pub use super::read_exact::ReadExact;
    pub use super::read_int::ReadInt;
    pub use super::read_into::ReadInto;
    pub use super::read_line::ReadLine;
    pub use super::read_to_end::ReadToEnd;
    pub use super::read_to_string::ReadToString;
    pub use super::read_until::ReadUntil;
    pub use super::seek::Seek;
    pub use super::shutdown::Shutdown;
    pub use super::write::Write;
    pub use super::write_all::WriteAll;
    pub use super::write_all_buf::WriteAllBuf;
    pub use super::write_buf::WriteBuf;
    pub use super::write_int::WriteInt;
    pub use super::write_vectored::WriteVectored;
}
