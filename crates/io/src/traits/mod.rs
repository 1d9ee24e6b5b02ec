//! The traits, and their implementations for references, boxes and other wrappers.

mod async_buf_read;
mod async_read;
mod async_seek;
mod async_write;

pub use async_buf_read::AsyncBufRead;
pub use async_read::AsyncRead;
pub use async_seek::AsyncSeek;
pub use async_write::AsyncWrite;
#[cfg(feature = "util")]
pub(crate) use async_write::forward_async_write;
