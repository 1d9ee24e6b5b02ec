//! Seeks, also through buffers.

use std::io::{self, Cursor, ErrorKind, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite, AsyncWriteExt,
    BufReader, BufStream, BufWriter, ReadBuf, empty,
};
use raddle_testing::poll_once;

use crate::common::block_on;

/// An in-memory file: a seek takes two polls, and no other can be started while one is pending.
#[derive(Debug)]
struct Slow {
    content: Cursor<Vec<u8>>,
    seeking: Option<SeekFrom>,
    polls: usize,
    /// Fails the next seek when it completes.
    fail: bool,
    seeks: usize,
}

impl Slow {
    fn new(content: &[u8]) -> Self {
        Self {
            content: Cursor::new(content.to_vec()),
            seeking: None,
            polls: 0,
            fail: false,
            seeks: 0,
        }
    }
}

impl AsyncSeek for Slow {
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        if self.seeking.is_some() {
            return Err(io::Error::other("another seek is pending"));
        }
        self.seeking = Some(position);
        self.polls = 0;
        self.seeks += 1;
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let Some(position) = self.seeking else {
            return Poll::Ready(Ok(self.content.position()));
        };
        self.polls += 1;
        if self.polls == 1 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.seeking = None;
        if std::mem::take(&mut self.fail) {
            return Poll::Ready(Err(ErrorKind::PermissionDenied.into()));
        }
        Poll::Ready(io::Seek::seek(&mut self.content, position))
    }
}

impl AsyncRead for Slow {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.content).poll_read(cx, buf)
    }
}

impl AsyncWrite for Slow {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.content).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

async fn text(reader: &mut (impl AsyncRead + Unpin), n: usize) -> String {
    let mut buf = vec![0; n];
    reader.read_exact(&mut buf).await.unwrap();
    String::from_utf8(buf).unwrap()
}

#[test]
fn seeking_from_start_current_and_end_returns_the_position() {
    block_on(async {
        let mut file = Slow::new(b"0123456789");
        assert_eq!(file.seek(SeekFrom::Start(3)).await.unwrap(), 3);
        assert_eq!(text(&mut file, 2).await, "34");
        assert_eq!(file.stream_position().await.unwrap(), 5);
        assert_eq!(file.seek(SeekFrom::Current(-1)).await.unwrap(), 4);
        assert_eq!(file.seek(SeekFrom::End(-2)).await.unwrap(), 8);
        assert_eq!(text(&mut file, 2).await, "89");
        assert_eq!(file.rewind().await.unwrap(), 0);
        let error = file.seek(SeekFrom::Current(-1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(file.seek(SeekFrom::Start(100)).await.unwrap(), 100);
        assert_eq!(file.read(&mut [0]).await.unwrap(), 0);
    });
}

#[test]
fn a_seek_waits_for_one_that_was_dropped() {
    let mut file = Slow::new(b"0123456789");
    assert!(poll_once(file.seek(SeekFrom::Start(7))).is_pending());
    assert_eq!(block_on(file.seek(SeekFrom::Current(1))).unwrap(), 8);
    assert_eq!(file.seeks, 2);
}

#[test]
fn references_boxes_and_cursors_seek() {
    block_on(async {
        let mut cursor = Cursor::new(b"abcdef");
        let mut borrowed = &mut cursor;
        let seek = AsyncSeekExt::seek(&mut borrowed, SeekFrom::End(-1));
        assert_eq!(seek.await.unwrap(), 5);
        assert_eq!(cursor.read_u8().await.unwrap(), b'f');
        let mut boxed: Box<dyn AsyncSeek + Unpin> = Box::new(cursor);
        assert_eq!(boxed.stream_position().await.unwrap(), 6);
        let mut pinned = Box::into_pin(boxed);
        assert_eq!(pinned.rewind().await.unwrap(), 0);
        assert_eq!(empty().seek(SeekFrom::Start(9)).await.unwrap(), 0);
    });
}

#[test]
fn a_seek_discards_the_bytes_read_ahead() {
    block_on(async {
        let mut reader = BufReader::with_capacity(4, Slow::new(b"0123456789"));
        assert_eq!(text(&mut reader, 1).await, "0");
        assert_eq!(reader.buffer(), b"123");
        // Relative to the position of the buffered reader, not to that of the file.
        assert_eq!(reader.stream_position().await.unwrap(), 1);
        assert_eq!(reader.buffer(), b"");
        assert_eq!(text(&mut reader, 2).await, "12");
        assert_eq!(reader.seek(SeekFrom::Current(2)).await.unwrap(), 5);
        assert_eq!(text(&mut reader, 2).await, "56");
        assert_eq!(reader.seek(SeekFrom::Current(-6)).await.unwrap(), 1);
        assert_eq!(text(&mut reader, 1).await, "1");
        assert_eq!(reader.seek(SeekFrom::End(-1)).await.unwrap(), 9);
        assert_eq!(text(&mut reader, 1).await, "9");
    });
}

#[test]
fn a_relative_seek_that_overflows_is_done_in_two_seeks() {
    block_on(async {
        let mut reader = BufReader::with_capacity(4, Slow::new(b"0123456789"));
        assert_eq!(text(&mut reader, 1).await, "0");
        let error = reader.seek(SeekFrom::Current(i64::MIN)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(reader.get_ref().seeks, 2);
        // The first of the two seeks has been done.
        assert_eq!(text(&mut reader, 1).await, "1");
    });
}

#[test]
fn a_buffered_reader_survives_a_seek_that_fails_or_is_dropped() {
    let mut reader = BufReader::with_capacity(4, Slow::new(b"0123456789"));
    assert_eq!(block_on(text(&mut reader, 1)), "0");
    reader.get_mut().fail = true;
    let error = block_on(reader.seek(SeekFrom::Start(5))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert_eq!(
        reader.buffer(),
        b"123",
        "the position and the buffer are unchanged"
    );
    assert_eq!(block_on(text(&mut reader, 1)), "1");

    assert!(poll_once(reader.seek(SeekFrom::Start(8))).is_pending());
    assert_eq!(block_on(reader.seek(SeekFrom::Current(1))).unwrap(), 9);
    assert_eq!(block_on(text(&mut reader, 1)), "9");
}

#[test]
fn a_buffered_writer_writes_its_bytes_before_it_seeks() {
    let mut writer = BufWriter::with_capacity(8, Slow::new(b"0123456789"));
    block_on(async {
        writer.write_all(b"ab").await.unwrap();
        assert_eq!(writer.seek(SeekFrom::Current(2)).await.unwrap(), 4);
        assert_eq!(writer.get_ref().content.get_ref(), b"ab23456789");
        writer.write_all(b"c").await.unwrap();
        assert_eq!(writer.stream_position().await.unwrap(), 5);
        writer.write_all(b"d").await.unwrap();
    });
    assert!(poll_once(writer.seek(SeekFrom::Start(8))).is_pending());
    assert_eq!(block_on(writer.seek(SeekFrom::Current(1))).unwrap(), 9);
    assert_eq!(writer.get_ref().content.get_ref(), b"ab23cd6789");
    writer.get_mut().fail = true;
    block_on(writer.rewind()).unwrap_err();
    assert_eq!(block_on(writer.rewind()).unwrap(), 0);
}

#[test]
fn a_buffered_stream_seeks_in_both_directions() {
    block_on(async {
        let mut stream = BufStream::with_capacity(4, 4, Slow::new(b"0123456789"));
        assert_eq!(text(&mut stream, 1).await, "0");
        assert_eq!(stream.seek(SeekFrom::Current(1)).await.unwrap(), 2);
        stream.write_all(b"ab").await.unwrap();
        assert_eq!(stream.get_ref().content.get_ref(), b"0123456789");
        assert_eq!(stream.rewind().await.unwrap(), 0);
        assert_eq!(stream.get_ref().content.get_ref(), b"01ab456789");
        assert_eq!(text(&mut stream, 5).await, "01ab4");
    });
}

#[test]
fn a_buffered_stream_keeps_the_buffers_it_is_made_of() {
    block_on(async {
        let mut writer = BufWriter::with_capacity(8, BufReader::new(Slow::new(b"0123456789")));
        assert_eq!(writer.fill_buf().await.unwrap(), b"0123456789");
        writer.consume(4);
        writer.write_all(b"ab").await.unwrap();
        let mut stream = BufStream::from(writer);
        assert_eq!(text(&mut stream, 2).await, "45");
        stream.flush().await.unwrap();
        assert_eq!(stream.into_inner().content.get_ref(), b"0123456789ab");

        let mut reader = BufReader::new(BufWriter::new(Slow::new(b"01")));
        reader.fill_buf().await.unwrap();
        reader.write_all(b"23").await.unwrap();
        let mut stream = BufStream::from(reader);
        assert_eq!(stream.fill_buf().await.unwrap(), b"01");
        assert!(stream.is_write_vectored());
        stream.shutdown().await.unwrap();
        assert_eq!(stream.get_mut().content.get_ref(), b"0123");
    });
}
