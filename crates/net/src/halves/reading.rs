//! The reading half.

use std::io::{self, IoSliceMut, Read};
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::BufMut;
use raddle_io::{AsyncRead, ReadBuf};
use raddle_reactor::Interest;

use super::{Stream, half};
use crate::evented::ByteStream;
use crate::sys::Receive;

/// The reading half of a stream, which `P` refers to. It comes from `split` or `into_split`;
/// modules name it `ReadHalf` and `OwnedReadHalf`.
///
/// Its methods are the stream's methods of the same names.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncReadExt, AsyncWriteExt};
/// use raddle::net::{TcpListener, TcpStream};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let mut client = TcpStream::connect(listener.local_addr()?).await?;
/// let (server, _) = listener.accept().await?;
/// client.write_all(b"hello").await?;
/// let (mut reader, _writer) = server.into_split();
/// let mut buffer = [0; 5];
/// reader.read_exact(&mut buffer).await?;
/// assert_eq!(&buffer, b"hello");
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct ReadHalfOf<P>(pub(crate) P);

half!(ReadHalfOf);

#[expect(private_bounds, reason = "only streams of this crate can be split")]
impl<P> ReadHalfOf<P>
where
    P: Deref<Target: Stream>,
{
    /// Waits until there is something to read, or the stream has ended.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    pub async fn readable(&self) -> io::Result<()> {
        self.ready(Interest::READABLE).await.map(drop)
    }
}

#[expect(private_bounds, reason = "only streams of this crate can be split")]
impl<P> ReadHalfOf<P>
where
    P: Deref<Target: Stream<Source: Receive>>,
    for<'a> &'a <P::Target as Stream>::Source: Read,
{
    /// Reads what has arrived, without waiting. `Ok(0)` means the end of the stream, or an empty
    /// buffer.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if nothing has arrived. Other errors are those of the connection, such
    /// as `ConnectionReset`.
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.io().try_read(&mut ReadBuf::new(buf))
    }

    /// Like [`try_read`](Self::try_read), but appends to `buf`.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_read`](Self::try_read).
    pub fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.0.io().try_read_buf(buf)
    }

    /// Like [`try_read`](Self::try_read), but fills several buffers in turn.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_read`](Self::try_read).
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.0.io().try_read_vectored(bufs)
    }
}

impl<P> AsyncRead for ReadHalfOf<P>
where
    P: Deref<Target: Stream<Source: Receive>> + Unpin,
{
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.io().poll_read(cx, buf)
    }
}
