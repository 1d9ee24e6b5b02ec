//! `simplex`, an in-memory stream of one direction, and `join`, a stream of two parts.

use std::io::{ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::Context;

use raddle_io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, SimplexStream, WriteHalf,
    join, simplex,
};
use raddle_primitives::thread;
use raddle_testing::{Wakes, poll_once};

use crate::common::{Script, block_on};

#[test]
fn written_bytes_are_read_in_pieces_that_fit() {
    let (mut reader, mut writer) = simplex(3);
    let content: Vec<u8> = (0..=255).collect();
    let expected = content.clone();
    let sender = thread::spawn(move || {
        block_on(async {
            writer.write_all(&content).await.unwrap();
            writer.shutdown().await.unwrap();
            let error = writer.write(b"x").await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        });
    });
    let mut all = Vec::new();
    block_on(reader.read_to_end(&mut all)).unwrap();
    assert_eq!(all, expected);
    sender.join().unwrap();
}

#[test]
fn either_end_waits_for_the_other() {
    let (mut reader, mut writer) = simplex(2);
    let (wakes, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    let mut buf = [0; 4];
    let mut read = Box::pin(reader.read(&mut buf));
    assert!(read.as_mut().poll(&mut cx).is_pending());
    assert_eq!(block_on(writer.write(b"abc")).unwrap(), 2);
    assert_eq!(wakes.get(), 1);
    // A dropped pending write has moved no bytes.
    assert!(poll_once(writer.write(b"c")).is_pending());
    assert_eq!(block_on(read).unwrap(), 2);
    assert_eq!(&buf[..2], b"ab");
    let pieces = [b"".as_slice(), b"d", b"e"].map(IoSlice::new);
    assert_eq!(block_on(writer.write_vectored(&pieces)).unwrap(), 2);
    block_on(writer.flush()).unwrap();
    assert_eq!(block_on(reader.read(&mut buf)).unwrap(), 2);
    assert_eq!(&buf[..2], b"de");
}

#[test]
fn dropping_one_end_does_not_end_the_stream() {
    let (mut reader, writer) = simplex(4);
    drop(writer);
    assert!(poll_once(reader.read(&mut [0])).is_pending());
}

#[test]
fn an_unsplit_stream_reads_what_was_written_to_it() {
    block_on(async {
        let (reader, writer) = simplex(8);
        let mut stream = reader.unsplit(writer);
        stream.write_all(b"abc").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "abc");
        let mut stream = SimplexStream::new_unsplit(1);
        assert!(stream.is_write_vectored());
        assert_eq!(stream.write(b"xy").await.unwrap(), 1);
        assert_eq!(stream.read_u8().await.unwrap(), b'x');
    });
}

#[test]
fn ends_can_be_sent_and_shared() {
    fn check<T: Send + Sync + Unpin>() {}
    check::<SimplexStream>();
    check::<ReadHalf<SimplexStream>>();
    check::<WriteHalf<SimplexStream>>();
}

#[test]
fn a_joined_stream_reads_from_its_reader_and_writes_to_its_writer() {
    block_on(async {
        let mut stream = join(&b"one\ntwo"[..], Script::new().vectored().accept(2));
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        assert_eq!(stream.read(&mut [0]).await.unwrap(), 1);
        assert!(stream.is_write_vectored());
        let pieces = [b"a".as_slice(), b"bc"].map(IoSlice::new);
        assert_eq!(stream.write_vectored(&pieces).await.unwrap(), 2);
        stream.write_all(b"c").await.unwrap();
        stream.flush().await.unwrap();
        stream.shutdown().await.unwrap();
        assert_eq!((line.as_str(), *stream.reader()), ("one\n", &b"wo"[..]));
        stream.reader_mut().consume(1);
        assert_eq!(stream.writer().written, b"abc");
        stream.writer_mut().flushes += 1;
        let (reader, writer) = stream.into_inner();
        assert_eq!(reader, b"o");
        assert_eq!((writer.flushes, writer.shutdowns), (2, 1));
    });
}

#[test]
fn a_write_that_waits_during_a_shutdown_ends_when_the_reader_reads() {
    let (mut reader, mut writer) = simplex(1);
    block_on(writer.write_all(b"x")).unwrap();
    let (wakes, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    assert!(Pin::new(&mut writer).poll_write(&mut cx, b"y").is_pending());
    assert!(poll_once(writer.shutdown()).is_ready());
    assert_eq!(block_on(reader.read(&mut [0; 2])).unwrap(), 1);
    assert_eq!(wakes.get(), 1);
    let error = block_on(writer.write(b"y")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
}
