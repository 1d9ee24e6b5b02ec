//! `AsyncWriteExt`.

use std::io::{self, Cursor, ErrorKind, IoSlice};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use raddle_io::{
    AsyncRead, AsyncWrite, AsyncWriteExt, BufWriter, ReadBuf, copy, copy_bidirectional, copy_buf,
};
use raddle_testing::poll_once;

use crate::common::{Script, block_on};

#[test]
fn write_returns_the_number_of_accepted_bytes() {
    let mut stream = Script::new()
        .accept(2)
        .write_pending()
        .accept(9)
        .write_error(ErrorKind::ConnectionReset);
    block_on(async {
        assert_eq!(stream.write(b"abc").await.unwrap(), 2);
        assert!(poll_once(stream.write(b"lost")).is_pending());
        assert_eq!(stream.write(b"c").await.unwrap(), 1);
        let error = stream.write(b"d").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
    assert_eq!(stream.written, b"abc");
}

#[test]
fn write_vectored_writes_the_first_slice_or_all() {
    let slices = [b"".as_slice(), b"ab", b"cd"].map(IoSlice::new);
    let mut one = Script::new();
    assert_eq!(block_on(one.write_vectored(&slices)).unwrap(), 2);
    assert_eq!(one.written, b"ab");
    let mut all = Script::new().vectored();
    assert_eq!(block_on(all.write_vectored(&slices)).unwrap(), 4);
    assert_eq!(all.written, b"abcd");
}

#[test]
fn write_buf_advances_by_what_is_written() {
    let mut stream = Script::new().write_pending().accept(2);
    let mut buf = Bytes::from_static(b"abcd");
    assert!(poll_once(stream.write_buf(&mut buf)).is_pending());
    assert_eq!(buf.remaining(), 4);
    assert_eq!(block_on(stream.write_buf(&mut buf)).unwrap(), 2);
    assert_eq!(buf, "cd");
    assert_eq!(block_on(stream.write_buf(&mut buf)).unwrap(), 2);
    // Nothing is left, so the writer is not called.
    assert_eq!(block_on(stream.write_buf(&mut buf)).unwrap(), 0);
    assert_eq!(stream.lengths, [2, 2]);
}

#[test]
fn write_all_continues_until_everything_is_written() {
    let mut stream = Script::new()
        .accept(1)
        .write_pending()
        .write_error(ErrorKind::Interrupted)
        .accept(2);
    block_on(stream.write_all(b"abcdef")).unwrap();
    assert_eq!(stream.written, b"abcdef");
    assert_eq!(stream.lengths, [1, 2, 3]);
    block_on(stream.write_all(b"")).unwrap();
    assert_eq!(stream.lengths, [1, 2, 3]);
}

#[test]
fn write_all_fails_if_the_writer_accepts_nothing() {
    let mut stream = Script::new().accept(1).accept(0);
    let error = block_on(stream.write_all(b"abc")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WriteZero);

    let mut stream = Script::new().accept(1).write_error(ErrorKind::BrokenPipe);
    let error = block_on(stream.write_all(b"abc")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);

    let mut storage = [0; 2];
    let error = block_on(Cursor::new(&mut storage[..]).write_all(b"abc")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WriteZero);
    assert_eq!(&storage, b"ab");
}

#[test]
fn write_all_buf_leaves_the_unwritten_rest_in_the_buffer() {
    let mut stream = Script::new()
        .accept(1)
        .write_pending()
        .write_error(ErrorKind::Interrupted)
        .accept(1)
        .write_error(ErrorKind::ConnectionReset)
        .accept(0);
    let mut buf = Bytes::from_static(b"abcd");
    assert!(poll_once(stream.write_all_buf(&mut buf)).is_pending());
    assert_eq!(buf, "bcd");
    let error = block_on(stream.write_all_buf(&mut buf)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(buf, "cd");
    let error = block_on(stream.write_all_buf(&mut buf)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WriteZero);
    block_on(stream.write_all_buf(&mut buf)).unwrap();
    assert_eq!(stream.written, b"abcd");
    assert!(buf.is_empty());
}

#[test]
fn write_all_buf_uses_vectored_writes_where_supported() {
    let chunks = || Bytes::from_static(b"ab").chain(Bytes::from_static(b"cd"));
    let mut one = Script::new();
    block_on(one.write_all_buf(&mut chunks())).unwrap();
    assert_eq!(
        (one.written.as_slice(), one.lengths.as_slice()),
        (&b"abcd"[..], &[2, 2][..])
    );
    let mut all = Script::new().vectored();
    block_on(all.write_all_buf(&mut chunks())).unwrap();
    assert_eq!(
        (all.written.as_slice(), all.lengths.as_slice()),
        (&b"abcd"[..], &[4][..])
    );
}

#[test]
fn flush_and_shutdown_reach_the_writer() {
    let mut stream = Script::new();
    block_on(async {
        stream.flush().await.unwrap();
        stream.shutdown().await.unwrap();
        let mut boxed: Box<dyn AsyncWrite + Unpin> = Box::new(&mut stream);
        boxed.flush().await.unwrap();
        Box::into_pin(boxed).shutdown().await.unwrap();
    });
    assert_eq!((stream.flushes, stream.shutdowns), (2, 2));
}

#[test]
fn a_cursor_writes_at_its_position_and_a_vector_at_its_end() {
    block_on(async {
        let mut vec = Vec::from(b"ab");
        vec.write_all(b"cd").await.unwrap();
        assert_eq!(vec, b"abcd");
        assert!(vec.is_write_vectored());

        let mut cursor = Cursor::new(&mut vec);
        cursor.set_position(3);
        cursor.write_all(b"xyz").await.unwrap();
        assert_eq!(vec, b"abcxyz");

        let mut cursor = Cursor::new(vec);
        cursor.write_all(b"1").await.unwrap();
        assert_eq!(cursor.into_inner(), b"1bcxyz");

        let mut cursor = Cursor::new(Box::from(&b"abc"[..]));
        cursor.set_position(2);
        assert_eq!(cursor.write(b"xy").await.unwrap(), 1);
        assert_eq!(&*cursor.into_inner(), b"abx");
    });
}

#[test]
fn references_and_boxes_of_writers_keep_vectored_writes() {
    let slices = [b"ab".as_slice(), b"cd"].map(IoSlice::new);
    let mut stream = Script::new().vectored();
    block_on(async {
        let mut pointer: Box<dyn AsyncWrite + Unpin> = Box::new(&mut stream);
        assert!(pointer.is_write_vectored());
        assert_eq!(pointer.write_vectored(&slices).await.unwrap(), 4);
        let mut pointer = Box::into_pin(pointer);
        assert!(pointer.is_write_vectored());
        assert_eq!(pointer.write_vectored(&slices).await.unwrap(), 4);
    });
    assert_eq!(stream.lengths, [4, 4]);
}

/// Has some bytes to read, and returns from each write more than it was given.
#[derive(Default)]
struct WritesTooMuch {
    input: &'static [u8],
    is_vectored: bool,
}

impl AsyncRead for WritesTooMuch {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.input).poll_read(cx, buf)
    }
}

impl AsyncWrite for WritesTooMuch {
    fn poll_write(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(buf.len() + 5))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bufs.iter().map(|buf| buf.len()).sum::<usize>() + 5))
    }

    fn is_write_vectored(&self) -> bool {
        self.is_vectored
    }
}

#[test]
fn a_writer_that_returns_more_than_it_was_given_panics_and_is_named() {
    let writer = WritesTooMuch::default;
    let abc = || Bytes::from("abc");
    let cases: [(&str, &dyn Fn()); 9] = [
        ("write_all", &|| {
            drop(block_on(writer().write_all(b"abc")));
        }),
        ("write_all_buf", &|| {
            drop(block_on(writer().write_all_buf(&mut abc())));
        }),
        ("write_buf", &|| {
            // The writer was given only the first chunk.
            drop(block_on(writer().write_buf(&mut abc().chain(&[0; 9][..]))));
        }),
        ("write_buf, vectored", &|| {
            let mut vectored = WritesTooMuch {
                is_vectored: true,
                ..writer()
            };
            drop(block_on(vectored.write_buf(&mut abc())));
        }),
        ("write_u16", &|| drop(block_on(writer().write_u16(7)))),
        ("copy", &|| {
            drop(block_on(copy(&mut &b"abc"[..], &mut writer())));
        }),
        ("copy_buf", &|| {
            drop(block_on(copy_buf(&mut &b"abc"[..], &mut writer())));
        }),
        ("copy_bidirectional", &|| {
            let mut a = WritesTooMuch {
                input: b"abc",
                ..writer()
            };
            drop(block_on(copy_bidirectional(&mut a, &mut writer())));
        }),
        ("BufWriter::flush", &|| {
            let mut buffered = BufWriter::new(writer());
            block_on(buffered.write_all(b"abc")).unwrap();
            drop(block_on(buffered.flush()));
        }),
    ];
    for (name, run) in cases {
        let payload = catch_unwind(AssertUnwindSafe(run)).expect_err(name);
        let message = payload.downcast_ref::<String>().unwrap();
        let count = if name == "write_u16" {
            "7 of 2"
        } else {
            "8 of 3"
        };
        let text = format!("WritesTooMuch, returned that it wrote {count} bytes; ");
        assert!(message.contains(&text), "{name}: {message}");
    }
}
