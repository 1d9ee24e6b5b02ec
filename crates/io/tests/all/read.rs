//! `AsyncReadExt`.

use std::io::{Cursor, ErrorKind};
use std::pin::Pin;
use std::str::Utf8Error;
use std::task::{Context, Poll, Waker};

use bytes::{Buf, BufMut, BytesMut};
use raddle_io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, ReadBuf};
use raddle_testing::poll_once;

use crate::common::{Script, block_on};

#[test]
fn read_returns_the_available_bytes() {
    let mut stream = Script::new()
        .give("abc")
        .read_pending()
        .give("defg")
        .read_error(ErrorKind::ConnectionReset);
    let mut buf = [0; 3];
    block_on(async {
        assert_eq!(stream.read(&mut []).await.unwrap(), 0);
        assert_eq!(stream.read(&mut buf).await.unwrap(), 3);
        assert_eq!(&buf, b"abc");
        assert_eq!(stream.read(&mut buf).await.unwrap(), 3);
        assert_eq!(&buf, b"def");
        assert_eq!(stream.read(&mut buf).await.unwrap(), 1);
        assert_eq!(&buf, b"gef");
        let error = stream.read(&mut buf).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(stream.read(&mut buf).await.unwrap(), 0);
    });
}

#[test]
fn a_dropped_read_loses_nothing() {
    let mut stream = Script::new().read_pending().give("abc");
    let mut buf = [0; 8];
    assert!(poll_once(stream.read(&mut buf)).is_pending());
    assert_eq!(block_on(stream.read(&mut buf)).unwrap(), 3);
    assert_eq!(&buf[..3], b"abc");
}

#[test]
fn read_buf_appends_and_advances() {
    let mut stream = Script::new().give("abc").read_pending().give("def");
    let mut buf = BytesMut::with_capacity(16);
    buf.put_slice(b">");
    block_on(async {
        assert_eq!(stream.read_buf(&mut buf).await.unwrap(), 3);
        assert!(poll_once(stream.read_buf(&mut buf)).is_pending());
        assert_eq!(&buf[..], b">abc");
        assert_eq!(stream.read_buf(&mut buf).await.unwrap(), 3);
        assert_eq!(stream.read_buf(&mut buf).await.unwrap(), 0);
    });
    assert_eq!(&buf[..], b">abcdef");
}

#[test]
fn read_buf_without_room_reads_nothing() {
    let mut stream = Script::new().give("abc");
    let mut storage = [0_u8; 2];
    let mut buf = &mut storage[..];
    block_on(async {
        assert_eq!(stream.read_buf(&mut buf).await.unwrap(), 2);
        assert_eq!(stream.read_buf(&mut buf).await.unwrap(), 0);
        let mut rest = Vec::new();
        assert_eq!(stream.read_buf(&mut rest).await.unwrap(), 1);
        assert_eq!(rest, b"c");
    });
}

#[test]
fn read_exact_gathers_pieces_and_tries_interrupted_reads_again() {
    let mut stream = Script::new()
        .give("ab")
        .read_pending()
        .read_error(ErrorKind::Interrupted)
        .give("c")
        .give("defg");
    let mut buf = [0; 5];
    assert_eq!(block_on(stream.read_exact(&mut buf)).unwrap(), 5);
    assert_eq!(&buf, b"abcde");
    // The remaining bytes can still be read.
    assert_eq!(block_on(stream.read_exact(&mut buf[..2])).unwrap(), 2);
    assert_eq!(&buf[..2], b"fg");
    // A read into an empty buffer reads nothing.
    assert_eq!(block_on(stream.read_exact(&mut [])).unwrap(), 0);
}

#[test]
fn read_exact_at_the_end_returns_unexpected_eof() {
    let mut stream = Script::new().give("ab");
    let error = block_on(stream.read_exact(&mut [0; 3])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);

    let mut stream = Script::new()
        .give("ab")
        .read_error(ErrorKind::ConnectionReset);
    let error = block_on(stream.read_exact(&mut [0; 3])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn read_to_end_grows_as_needed() {
    let content: Vec<u8> = (0..100_000_u32).map(|n| n as u8).collect();
    for piece in [1, 31, 32, 33, 511, 512, 513, 9_999, 100_000] {
        for capacity in [0, 1, 31, 32, 40, 100_000, 100_001, 100_002] {
            let mut stream = Script::new();
            for (n, piece) in content.chunks(piece.max(97)).enumerate() {
                stream = stream.give(piece);
                if n % 3 == 0 {
                    stream = stream.read_pending().read_error(ErrorKind::Interrupted);
                }
            }
            let mut buf = Vec::with_capacity(capacity);
            buf.push(b'>');
            assert_eq!(
                block_on(stream.read_to_end(&mut buf)).unwrap(),
                content.len()
            );
            assert_eq!(buf[0], b'>');
            assert!(buf[1..] == content, "piece {piece}, capacity {capacity}");
        }
    }
}

#[test]
fn read_to_end_does_not_grow_a_vector_that_is_just_large_enough() {
    let mut buf = Vec::with_capacity(64);
    let capacity = buf.capacity();
    let content = vec![7; capacity];
    block_on(Script::new().give(&content).read_to_end(&mut buf)).unwrap();
    assert_eq!((buf.len(), buf.capacity()), (capacity, capacity));
}

#[test]
fn read_to_end_keeps_the_bytes_read_before_an_error() {
    let mut stream = Script::new()
        .give("abc")
        .read_pending()
        .give("def")
        .read_error(ErrorKind::ConnectionReset)
        .give("ghi");
    let mut buf = Vec::new();
    assert!(poll_once(stream.read_to_end(&mut buf)).is_pending());
    assert_eq!(buf, b"abc");
    let error = block_on(stream.read_to_end(&mut buf)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(buf, b"abcdef");
    assert_eq!(block_on(stream.read_to_end(&mut buf)).unwrap(), 3);
    assert_eq!(buf, b"abcdefghi");
}

/// Initialises the whole buffer, and fills a small part of it.
struct InitializesWholeBuffer(u8);

impl AsyncRead for InitializesWholeBuffer {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.0 > 0 {
            self.0 -= 1;
            buf.initialize_unfilled()[0] = self.0;
            buf.advance(1);
        }
        Poll::Ready(Ok(()))
    }
}

#[test]
fn reads_return_only_filled_bytes() {
    let mut buf = Vec::new();
    block_on(InitializesWholeBuffer(200).read_to_end(&mut buf)).unwrap();
    assert!(buf.iter().copied().eq((0..200).rev()));

    let mut limited = InitializesWholeBuffer(200).take(3);
    let mut buf = [9; 8];
    let mut buf = ReadBuf::new(&mut buf);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..5 {
        assert!(
            Pin::new(&mut limited)
                .poll_read(&mut cx, &mut buf)
                .is_ready()
        );
    }
    assert_eq!(buf.filled(), [199, 198, 197]);
}

#[test]
fn read_to_string_appends_text() {
    let mut stream = Script::new().give([0xC3]).read_pending().give([0xA4, b'b']);
    let mut text = String::from("a");
    assert_eq!(block_on(stream.read_to_string(&mut text)).unwrap(), 3);
    assert_eq!(text, "aäb");
}

#[test]
fn read_to_string_keeps_the_string_if_the_bytes_are_not_utf_8() {
    let mut text = String::from("ä");
    let mut stream = Script::new().give([b'b', 0xC3]);
    let error = block_on(stream.read_to_string(&mut text)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert_eq!(text, "ä");

    let reason = error.into_inner().unwrap().downcast::<Utf8Error>();
    assert_eq!(reason.unwrap().valid_up_to(), 3);

    // An error of the reader is returned, and an incomplete character before it is not kept either.
    let mut stream = Script::new()
        .give("b")
        .read_error(ErrorKind::ConnectionReset)
        .give([0xC3])
        .read_error(ErrorKind::ConnectionAborted);
    let error = block_on(stream.read_to_string(&mut text)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(text, "ä");
    let error = block_on(stream.read_to_string(&mut text)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionAborted);
    assert_eq!(text, "ä");
}

#[test]
fn take_ends_at_its_limit() {
    block_on(async {
        let mut stream = Script::new().give("abc").read_pending().give("def").take(4);
        let mut buf = Vec::new();
        assert_eq!(stream.read_to_end(&mut buf).await.unwrap(), 4);
        assert_eq!(buf, b"abcd");
        assert_eq!(stream.limit(), 0);
        stream.set_limit(1);
        assert_eq!(stream.read_to_end(&mut buf).await.unwrap(), 1);
        let mut rest = stream.into_inner();
        assert_eq!(rest.read_to_end(&mut buf).await.unwrap(), 1);
        assert_eq!(buf, b"abcdef");

        // The reader may end before the limit.
        let mut short = AsyncReadExt::take(&b"ab"[..], u64::MAX);
        buf.clear();
        assert_eq!(short.read_to_end(&mut buf).await.unwrap(), 2);
        assert_eq!(short.limit(), u64::MAX - 2);
    });
}

#[test]
fn take_limits_fill_buf_too() {
    block_on(async {
        let mut stream = AsyncReadExt::take(&b"abcdef"[..], 4);
        assert_eq!(stream.fill_buf().await.unwrap(), b"abcd");
        stream.consume(3);
        assert_eq!(stream.fill_buf().await.unwrap(), b"d");
        stream.consume(1);
        assert_eq!(stream.fill_buf().await.unwrap(), b"");
        assert_eq!(*stream.get_ref(), b"ef");
    });
}

#[test]
fn a_chain_continues_with_the_second_reader() {
    block_on(async {
        let first = Script::new().give("abc").read_pending();
        let second = Script::new().give("def");
        let mut both = AsyncReadExt::chain(first, second);
        // A read into an empty buffer is not taken for the end of the first reader.
        assert_eq!(both.read(&mut []).await.unwrap(), 0);
        let mut buf = Vec::new();
        assert_eq!(both.read_to_end(&mut buf).await.unwrap(), 6);
        assert_eq!(buf, b"abcdef");

        let mut both = AsyncReadExt::chain(&b"ab"[..], &b"cd"[..]);
        assert_eq!(both.fill_buf().await.unwrap(), b"ab");
        both.consume(2);
        assert_eq!(both.fill_buf().await.unwrap(), b"cd");
        both.consume(1);
        assert_eq!(both.into_inner(), (&b""[..], &b"d"[..]));
    });
}

#[test]
fn a_cursor_reads_from_its_position() {
    block_on(async {
        let mut cursor = Cursor::new(b"abcdef");
        cursor.set_position(4);
        let mut buf = Vec::new();
        assert_eq!(cursor.read_to_end(&mut buf).await.unwrap(), 2);
        assert_eq!((buf.as_slice(), cursor.position()), (&b"ef"[..], 6));
        cursor.set_position(100);
        assert_eq!(cursor.read_to_end(&mut buf).await.unwrap(), 0);
        assert_eq!(cursor.position(), 100);
    });
}

#[test]
fn references_and_boxes_of_readers_read() {
    block_on(async {
        let mut buf = [0; 1];
        let mut stream = Script::new().give("abcd");
        let mut borrowed = &mut stream;
        AsyncReadExt::read(&mut borrowed, &mut buf).await.unwrap();
        let mut boxed: Box<dyn AsyncRead + Unpin> = Box::new(stream);
        boxed.read(&mut buf).await.unwrap();
        assert_eq!(&buf, b"b");
        let mut pinned = Box::into_pin(boxed);
        pinned.read(&mut buf).await.unwrap();
        assert_eq!(&buf, b"c");

        let mut slice = &b"xy"[..];
        slice.read(&mut buf).await.unwrap();
        assert_eq!((&buf, slice.remaining()), (b"x", 1));
    });
}

/// Replaces the buffer that it is given by its own.
struct ReplacesBuffer;

impl AsyncRead for ReplacesBuffer {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let mut other = ReadBuf::new(Box::leak(Box::new([1; 64])));
        other.advance(64);
        *buf = other;
        Poll::Ready(Ok(()))
    }
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
#[should_panic(expected = "exchanged its ReadBuf")]
fn read_buf_panics_if_the_reader_replaces_the_buffer() {
    let _ = block_on(ReplacesBuffer.read_buf(&mut Vec::with_capacity(64)));
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
#[should_panic(expected = "exchanged its ReadBuf")]
fn take_panics_if_the_reader_replaces_the_buffer() {
    let _ = block_on(AsyncReadExt::take(ReplacesBuffer, 64).read_buf(&mut Vec::with_capacity(64)));
}

/// Fills one byte at a time and initialises the next one.
struct LeavesInitialized {
    reads: usize,
}

impl AsyncRead for LeavesInitialized {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let initialized = buf.initialized().len() - buf.filled().len();
        assert_eq!(initialized, usize::from(self.reads > 0));
        if self.reads < 20 {
            self.reads += 1;
            buf.initialize_unfilled_to(2);
            buf.advance(1);
        }
        Poll::Ready(Ok(()))
    }
}

#[test]
fn read_to_end_does_not_initialize_bytes_again() {
    let mut reader = LeavesInitialized { reads: 0 };
    let mut bytes = Vec::with_capacity(64);
    let read = block_on(reader.read_to_end(&mut bytes)).unwrap();
    assert_eq!((read, bytes), (20, vec![0; 20]));
}

#[test]
fn read_to_end_grows_a_vector_that_is_too_small_by_doubling_it() {
    let mut bytes = Vec::with_capacity(34);
    block_on((&[7; 38][..]).read_to_end(&mut bytes)).unwrap();
    assert_eq!((bytes.len(), bytes.capacity()), (38, 4 * 34));
}
