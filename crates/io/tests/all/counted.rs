//! `Counted`: how many bytes were moved, also when the operation fails or is dropped.

use std::future::poll_fn;
use std::io::{Cursor, ErrorKind, IoSlice, SeekFrom};
use std::pin::{Pin, pin};

use raddle_io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncSeekExt, AsyncWrite, AsyncWriteExt, BufReader,
    Counted, ReadBuf, copy, copy_bidirectional, copy_buf, duplex,
};
use raddle_testing::poll;

use crate::common::{Script, block_on};

#[test]
fn copy_counts_what_the_writer_accepted_before_it_failed() {
    let script = Script::new()
        .accept(3)
        .accept(2)
        .write_error(ErrorKind::BrokenPipe);
    let (mut reader, mut writer) = (Counted::new(&b"0123456789"[..]), Counted::new(script));
    let error = block_on(copy(&mut reader, &mut writer)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    assert_eq!((reader.bytes_read(), writer.bytes_written()), (10, 5));
    assert_eq!(writer.get_ref().written, b"01234");
}

#[test]
fn copy_counts_what_was_written_before_the_reader_failed() {
    let script = Script::new()
        .give("ab")
        .read_error(ErrorKind::Interrupted)
        .give("cde")
        .read_error(ErrorKind::ConnectionReset);
    let (mut reader, mut writer) = (Counted::new(script), Counted::new(Script::new().accept(1)));
    let error = block_on(copy(&mut reader, &mut writer)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!((reader.bytes_read(), writer.bytes_written()), (5, 5));
}

#[test]
fn a_writer_that_takes_no_more_is_counted() {
    let mut writer = Counted::new(Script::new().accept(4).accept(0));
    let error = block_on(copy(&mut &b"0123456789"[..], &mut writer)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WriteZero);
    assert_eq!(writer.bytes_written(), 4);
}

#[test]
fn copy_buf_counts_consumed_and_written_bytes() {
    let script = Script::new()
        .give("0123456789")
        .read_error(ErrorKind::TimedOut);
    let mut reader = Counted::new(BufReader::new(script));
    let mut writer = Counted::new(Script::new().accept(4));
    let error = block_on(copy_buf(&mut reader, &mut writer)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert_eq!((reader.bytes_read(), writer.bytes_written()), (10, 10));

    let script = Script::new().accept(4).write_error(ErrorKind::BrokenPipe);
    let mut reader = Counted::new(BufReader::new(&b"0123456789"[..]));
    let mut writer = Counted::new(script);
    assert!(block_on(copy_buf(&mut reader, &mut writer)).is_err());
    // The reader still has the others, as `copy_buf` promises.
    assert_eq!((reader.bytes_read(), writer.bytes_written()), (4, 4));
}

#[test]
fn copy_bidirectional_counts_each_direction_when_either_side_fails() {
    // The writer of one direction fails.
    let a = Script::new()
        .give("request")
        .accept(2)
        .write_error(ErrorKind::BrokenPipe);
    let (mut a, mut b) = (Counted::new(a), Counted::new(Script::new().give("answer")));
    let error = block_on(copy_bidirectional(&mut a, &mut b)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    assert_eq!((b.bytes_written(), a.bytes_written()), (7, 2));
    assert_eq!(b.get_ref().written, b"request");

    // The reader of one direction fails. What was read before it is written, and counts.
    let a = Script::new()
        .give("request")
        .read_error(ErrorKind::ConnectionReset);
    let b = Script::new().write_pending();
    let (mut a, mut b) = (Counted::new(a), Counted::new(b));
    let error = block_on(copy_bidirectional(&mut a, &mut b)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!((a.bytes_read(), b.bytes_written()), (7, 7));
    assert_eq!(b.get_ref().written, b"request");
}

#[test]
fn a_dropped_copy_leaves_its_count() {
    let (mut sender, mut receiver) = duplex(4);
    let mut writer = Counted::new(&mut sender);
    {
        let mut reader = &b"0123456789"[..];
        let mut copying = pin!(copy(&mut reader, &mut writer));
        assert!(poll(copying.as_mut()).is_pending());
    }
    assert_eq!(writer.bytes_written(), 4);
    assert_eq!(block_on(receiver.read(&mut [0; 16])).unwrap(), 4);
}

#[test]
fn other_operations_are_counted_too() {
    let mut writer = Counted::new(Script::new().accept(2).write_error(ErrorKind::BrokenPipe));
    assert!(block_on(writer.write_all(b"abcd")).is_err());
    assert_eq!(writer.bytes_written(), 2);

    let mut reader = Counted::new(&b"abc"[..]);
    assert!(block_on(reader.read_exact(&mut [0; 4])).is_err());
    assert_eq!(reader.bytes_read(), 3);

    let mut reader = Counted::new(BufReader::new(&b"one\ntwo"[..]));
    let mut line = String::new();
    block_on(reader.read_line(&mut line)).unwrap();
    assert_eq!(reader.bytes_read(), 4);

    let mut writer = Counted::new(Script::new().vectored());
    assert!(writer.is_write_vectored());
    let slices = [IoSlice::new(b"ab"), IoSlice::new(b"cde")];
    assert_eq!(block_on(writer.write_vectored(&slices)).unwrap(), 5);
    block_on(writer.shutdown()).unwrap();
    assert_eq!(writer.bytes_written(), 5);
    let script = writer.into_inner();
    assert_eq!(
        (script.written.as_slice(), script.shutdowns),
        (&b"abcde"[..], 1)
    );
    assert!(!Counted::new(Script::new()).is_write_vectored());
}

#[test]
fn a_buffer_that_is_partly_filled_counts_only_new_bytes() {
    let mut reader = Counted::new(&b"abc"[..]);
    let mut bytes = [0; 8];
    let mut buf = ReadBuf::new(&mut bytes);
    buf.put_slice(b"before");
    block_on(poll_fn(|cx| Pin::new(&mut reader).poll_read(cx, &mut buf))).unwrap();
    assert_eq!((buf.filled(), reader.bytes_read()), (&b"beforeab"[..], 2));
}

#[test]
fn reads_after_a_seek_are_counted() {
    let mut cursor = Counted::new(Cursor::new(b"0123456789".to_vec()));
    assert_eq!(block_on(cursor.seek(SeekFrom::Start(7))).unwrap(), 7);
    let mut rest = Vec::new();
    block_on(cursor.read_to_end(&mut rest)).unwrap();
    assert_eq!((rest.as_slice(), cursor.bytes_read()), (&b"789"[..], 3));
}
