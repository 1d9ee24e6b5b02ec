//! Tests of the adapters between the traits of this crate and those of `futures-io`.

use std::io::{Cursor, ErrorKind, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use raddle_io::compat::{
    Compat, FuturesAsyncReadCompatExt, FuturesAsyncWriteCompatExt, TokioAsyncReadCompatExt,
    TokioAsyncWriteCompatExt,
};
use raddle_io::{AsyncSeek, BufReader, BufWriter};

use crate::common::{Script, block_on};

#[test]
fn streams_of_this_crate_read_and_write_as_futures_io() {
    use futures_util::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
    block_on(async {
        let script = Script::new().give("abc").read_pending().give("d\ne");
        let mut stream = TokioAsyncReadCompatExt::compat(BufReader::new(script));
        let mut buf = [0; 4];
        stream.read_exact(&mut buf).await.unwrap();
        assert_eq!(&buf, b"abcd");
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        stream.read_line(&mut line).await.unwrap();
        assert_eq!(line, "\ne");
        stream.write_all(b"xyz").await.unwrap();
        stream.flush().await.unwrap();
        stream.close().await.unwrap();
        let script = stream.into_inner().into_inner();
        assert_eq!(script.written, b"xyz");
        assert_eq!((script.flushes, script.shutdowns), (1, 1));

        let vectored = Script::new().vectored();
        let mut writer = TokioAsyncWriteCompatExt::compat_write(vectored);
        let pieces = [b"a".as_slice(), b"bc"].map(IoSlice::new);
        assert_eq!(writer.write_vectored(&pieces).await.unwrap(), 3);
        writer.get_mut().flushes = 7;
        assert_eq!(writer.get_ref().flushes, 7);
    });
}

#[test]
fn streams_of_futures_io_read_and_write_as_those_of_this_crate() {
    use raddle_io::{AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
    block_on(async {
        let cursor = futures_util::io::Cursor::new(b"one\ntwo".to_vec());
        let mut stream = FuturesAsyncReadCompatExt::compat(cursor);
        let mut line = String::new();
        AsyncBufReadExt::read_line(&mut stream, &mut line)
            .await
            .unwrap();
        assert_eq!(line, "one\n");
        let mut rest = Vec::with_capacity(2);
        stream.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"two");
        assert_eq!(stream.seek(SeekFrom::Start(3)).await.unwrap(), 3);
        stream.write_all(b"+").await.unwrap();
        let pieces = [b"".as_slice(), b"T"].map(IoSlice::new);
        assert_eq!(stream.write_vectored(&pieces).await.unwrap(), 1);
        stream.flush().await.unwrap();
        stream.shutdown().await.unwrap();
        assert_eq!(stream.stream_position().await.unwrap(), 5);
        let error = stream.seek(SeekFrom::Current(-9)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(stream.into_inner().into_inner(), b"one+Two");

        let mut writer = FuturesAsyncWriteCompatExt::compat_write(Vec::new());
        writer.write_all(b"abc").await.unwrap();
        assert_eq!(writer.get_ref(), b"abc");
    });
}

#[test]
fn a_stream_that_is_adapted_twice_reads_and_writes() {
    use raddle_io::{AsyncReadExt, AsyncWriteExt};
    block_on(async {
        let stream = TokioAsyncReadCompatExt::compat(Script::new().give("abc"));
        let mut stream: Compat<Compat<Script>> = FuturesAsyncReadCompatExt::compat(stream);
        let mut text = String::new();
        AsyncReadExt::read_to_string(&mut stream, &mut text)
            .await
            .unwrap();
        AsyncWriteExt::write_all(&mut stream, b"d").await.unwrap();
        let script = stream.into_inner().into_inner();
        assert_eq!((text.as_str(), script.written), ("abc", b"d".to_vec()));
    });
}

/// Refuses a seek while another is pending. A seek takes two polls.
#[derive(Default)]
struct Slow {
    seeking: Option<(SeekFrom, bool)>,
}

impl AsyncSeek for Slow {
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> std::io::Result<()> {
        match self.seeking.replace((position, false)) {
            None => Ok(()),
            Some(_) => Err(ErrorKind::ResourceBusy.into()),
        }
    }

    fn poll_complete(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<u64>> {
        match &mut self.seeking {
            Some((SeekFrom::Start(position), true)) => {
                let position = *position;
                self.seeking = None;
                Poll::Ready(Ok(position))
            }
            Some((_, polled)) => {
                *polled = true;
                Poll::Pending
            }
            None => Poll::Ready(Ok(0)),
        }
    }
}

impl raddle_io::AsyncRead for Slow {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut raddle_io::ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
fn a_second_seek_waits_for_the_first() {
    use futures_io::AsyncSeek;
    let mut cx = Context::from_waker(Waker::noop());
    let mut stream = TokioAsyncReadCompatExt::compat(Slow::default());
    let mut seek = |position| {
        let poll = Pin::new(&mut stream).poll_seek(&mut cx, SeekFrom::Start(position));
        poll.map(Result::unwrap)
    };
    assert_eq!(seek(3), Poll::Pending);
    assert_eq!(seek(3), Poll::Ready(3));
    assert_eq!(seek(4), Poll::Pending);
    assert_eq!(seek(5), Poll::Pending, "the first is complete");
    assert_eq!(seek(5), Poll::Ready(5));

    let buffered = BufWriter::new(Cursor::new(Vec::new()));
    let mut stream = TokioAsyncWriteCompatExt::compat_write(buffered);
    let seek = Pin::new(&mut stream).poll_seek(&mut cx, SeekFrom::Start(2));
    assert_eq!(seek.map(Result::unwrap), Poll::Ready(2));
}

/// Returns from a read more than the buffer has room for.
struct ReadsTooMuch;

impl futures_util::AsyncRead for ReadsTooMuch {
    fn poll_read(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<std::io::Result<usize>> {
        Poll::Ready(Ok(buf.len() + 1))
    }
}

#[test]
#[should_panic(expected = "ReadsTooMuch, returned that it read 4 bytes into 3; ")]
fn a_reader_that_returns_more_than_there_is_room_panics_and_is_named() {
    let mut reader = FuturesAsyncReadCompatExt::compat(ReadsTooMuch);
    let _ = block_on(raddle_io::AsyncReadExt::read(&mut reader, &mut [0; 3]));
}
