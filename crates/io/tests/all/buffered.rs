//! `BufReader`, `BufWriter` and `BufStream`.

use std::io::{ErrorKind, IoSlice};

use raddle_io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, BufWriter};
use raddle_testing::poll_once;

use crate::common::{Script, block_on};

#[test]
fn a_buffered_reader_returns_every_byte_once() {
    let content: Vec<u8> = (0..1000_u32).map(|n| n as u8).collect();
    for capacity in [1, 2, 7, 64, 5000] {
        for length in [1, 3, 64, 100] {
            let mut script = Script::new();
            for piece in content.chunks(13) {
                script = script.give(piece).read_pending();
            }
            let mut reader = BufReader::with_capacity(capacity, script);
            let mut all = Vec::new();
            let mut buf = vec![0; length];
            block_on(async {
                loop {
                    let n = reader.read(&mut buf).await.unwrap();
                    if n == 0 {
                        break;
                    }
                    all.extend_from_slice(&buf[..n]);
                }
            });
            assert!(all == content, "capacity {capacity}, reads of {length}");
        }
    }
}

#[test]
fn a_buffered_reader_reads_ahead() {
    let mut reader = BufReader::with_capacity(4, Script::new().give("abcdefgh"));
    let mut buf = [0; 2];
    block_on(reader.read(&mut buf)).unwrap();
    assert_eq!((&buf, reader.buffer()), (b"ab", &b"cd"[..]));
    // A large read first returns the buffered bytes, then reads from the reader.
    let mut buf = [0; 4];
    assert_eq!(block_on(reader.read(&mut buf)).unwrap(), 2);
    assert_eq!(block_on(reader.read(&mut buf)).unwrap(), 4);
    assert_eq!((&buf, reader.buffer()), (b"efgh", &b""[..]));
}

#[test]
fn a_buffered_reader_survives_an_error() {
    let script = Script::new()
        .give("ab")
        .read_error(ErrorKind::ConnectionReset)
        .give("cd");
    let mut reader = BufReader::new(script);
    let mut buf = [0; 2];
    block_on(async {
        assert_eq!(reader.fill_buf().await.unwrap(), b"ab");
        reader.consume(2);
        assert!(reader.read(&mut buf).await.is_err());
        assert_eq!(reader.buffer(), b"");
        assert_eq!(reader.read(&mut buf).await.unwrap(), 2);
    });
    assert_eq!(&buf, b"cd");
}

#[test]
fn a_buffered_writer_gathers_small_writes() {
    let mut writer = BufWriter::with_capacity(8, Script::new().accept(4));
    block_on(async {
        for piece in ["ab", "cde", "f"] {
            assert_eq!(writer.write(piece.as_bytes()).await.unwrap(), piece.len());
        }
        assert_eq!(
            (writer.buffer(), writer.get_ref().lengths.len()),
            (&b"abcdef"[..], 0)
        );
        // The new bytes do not fit: the buffered ones are written first, in the pieces that the
        // writer accepts.
        writer.write_all(b"ghi").await.unwrap();
        assert_eq!(writer.get_ref().written, b"abcdef");
        assert_eq!(writer.buffer(), b"ghi");
        writer.flush().await.unwrap();
        assert_eq!((writer.buffer(), writer.get_ref().flushes), (&b""[..], 1));
        writer.write_all(b"j").await.unwrap();
        writer.shutdown().await.unwrap();
    });
    let stream = writer.into_inner();
    assert_eq!(
        (stream.written.as_slice(), stream.shutdowns),
        (&b"abcdefghij"[..], 1)
    );
}

#[test]
fn a_large_write_bypasses_the_buffer() {
    let mut writer = BufWriter::with_capacity(8, Script::new());
    block_on(async {
        writer.write_all(b"ab").await.unwrap();
        writer.write_all(b"0123456789").await.unwrap();
    });
    assert_eq!(writer.get_ref().written, b"ab0123456789");
    assert_eq!(writer.get_ref().lengths, [2, 10]);
}

#[test]
fn a_dropped_flush_is_continued_by_the_next() {
    let script = Script::new().accept(2).write_pending();
    let mut writer = BufWriter::with_capacity(8, script);
    block_on(writer.write_all(b"abcd")).unwrap();
    assert!(poll_once(writer.flush()).is_pending());
    assert_eq!(writer.buffer(), b"cd");
    block_on(writer.write_all(b"ef")).unwrap();
    block_on(writer.flush()).unwrap();
    assert_eq!(writer.get_ref().written, b"abcdef");
}

#[test]
fn a_failed_flush_keeps_what_is_unwritten() {
    let script = Script::new()
        .accept(1)
        .write_error(ErrorKind::Interrupted)
        .accept(1)
        .write_error(ErrorKind::ConnectionReset)
        .accept(0);
    let mut writer = BufWriter::with_capacity(8, script);
    block_on(async {
        writer.write_all(b"abcd").await.unwrap();
        let error = writer.flush().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(writer.buffer(), b"cd");
        let error = writer.flush().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WriteZero);
        writer.flush().await.unwrap();
    });
    assert_eq!(writer.get_ref().written, b"abcd");
}

#[test]
fn vectored_writes_are_gathered() {
    for vectored in [false, true] {
        let mut script = Script::new();
        script.vectored = vectored;
        let mut writer = BufWriter::with_capacity(8, script);
        let small = [b"".as_slice(), b"ab", b"cd"].map(IoSlice::new);
        assert_eq!(block_on(writer.write_vectored(&small)).unwrap(), 4);
        assert_eq!(
            (writer.buffer(), writer.get_ref().lengths.len()),
            (&b"abcd"[..], 0)
        );
    }

    let large = [b"ab".as_slice(), b"cd", b"0123456789"].map(IoSlice::new);
    let mut writer = BufWriter::with_capacity(8, Script::new().vectored());
    assert_eq!(block_on(writer.write_vectored(&large)).unwrap(), 14);
    assert_eq!(writer.get_ref().written, b"abcd0123456789");

    let mut writer = BufWriter::with_capacity(8, Script::new());
    assert_eq!(block_on(writer.write_vectored(&large)).unwrap(), 4);
    assert_eq!(
        (writer.buffer(), writer.get_ref().lengths.len()),
        (&b"abcd"[..], 0)
    );
    assert_eq!(block_on(writer.write_vectored(&large[2..])).unwrap(), 10);
    assert_eq!(writer.get_ref().written, b"abcd0123456789");
}

#[test]
fn a_buffer_forwards_the_other_direction() {
    block_on(async {
        let mut reader = BufReader::new(BufWriter::new(Script::new().give("ab")));
        reader.write_all(b"cd").await.unwrap();
        reader.flush().await.unwrap();
        assert_eq!(reader.get_ref().get_ref().written, b"cd");
        assert_eq!(reader.read(&mut [0; 4]).await.unwrap(), 2);
        let mut writer = BufWriter::new(reader);
        assert_eq!(writer.fill_buf().await.unwrap(), b"");
    });
}

#[test]
#[should_panic(expected = "capacity must be greater than zero")]
fn a_buffered_reader_without_capacity_panics() {
    let _ = BufReader::with_capacity(0, &b"a"[..]);
}

#[test]
fn a_vectored_write_before_a_plain_writer_passes_on_only_what_its_first_slice_needs() {
    let mut writer = BufWriter::with_capacity(8, Script::new());
    block_on(async {
        // Nothing to write: the writer is not called.
        let nothing = [IoSlice::new(b""), IoSlice::new(b"")];
        assert_eq!(writer.write_vectored(&nothing).await.unwrap(), 0);
        assert!(writer.get_ref().lengths.is_empty());
        // The first slice fits into the buffer, the second does not.
        writer.write_all(b"abc").await.unwrap();
        let slices = [
            IoSlice::new(b""),
            IoSlice::new(b"de"),
            IoSlice::new(b"012345678"),
        ];
        assert_eq!(writer.write_vectored(&slices).await.unwrap(), 2);
        assert_eq!(writer.buffer(), b"abcde");
        assert!(writer.get_ref().lengths.is_empty());
        // The first slice is as large as the buffer: only this slice is passed on.
        let slices = [IoSlice::new(b"01234567"), IoSlice::new(b"f")];
        assert_eq!(writer.write_vectored(&slices).await.unwrap(), 8);
        assert_eq!(writer.get_ref().lengths, [5, 8]);
    });
}
