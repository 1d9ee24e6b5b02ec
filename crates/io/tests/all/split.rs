//! `split`: one stream as a reader and a writer.

use std::panic::catch_unwind;

use raddle_io::{
    AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use raddle_primitives::thread;

use crate::common::{Script, block_on};

#[test]
fn the_halves_work_from_two_threads() {
    const ROUNDS: u32 = if cfg!(miri) { 10 } else { 1000 };
    let (near, far) = duplex(7);
    let (mut reader, mut writer) = split(near);
    let (mut far_reader, mut far_writer) = split(far);
    let echo = thread::spawn(move || {
        block_on(async {
            raddle_io::copy(&mut far_reader, &mut far_writer)
                .await
                .unwrap();
            far_writer.shutdown().await.unwrap();
        });
    });
    let sender = thread::spawn(move || {
        block_on(async {
            for n in 0..ROUNDS {
                writer.write_all(&n.to_be_bytes()).await.unwrap();
            }
            writer.shutdown().await.unwrap();
        });
    });
    block_on(async {
        let mut buf = [0; 4];
        for n in 0..ROUNDS {
            reader.read_exact(&mut buf).await.unwrap();
            assert_eq!(u32::from_be_bytes(buf), n);
        }
        assert_eq!(reader.read(&mut buf).await.unwrap(), 0);
    });
    echo.join().unwrap();
    sender.join().unwrap();
}

#[test]
fn unsplit_returns_the_stream() {
    let (mut reader, mut writer) = split(Script::new().give("abc").vectored());
    assert!(writer.is_write_vectored());
    block_on(async {
        reader.read(&mut [0; 1]).await.unwrap();
        writer.write_all(b"xyz").await.unwrap();
        writer.flush().await.unwrap();
    });
    assert!(reader.is_pair_of(&writer) && writer.is_pair_of(&reader));
    let mut stream = reader.unsplit(writer);
    assert_eq!(
        (stream.written.as_slice(), stream.flushes),
        (&b"xyz"[..], 1)
    );
    let mut rest = Vec::new();
    block_on(stream.read_to_end(&mut rest)).unwrap();
    assert_eq!(rest, b"bc");
}

#[test]
fn halves_of_two_streams_are_refused() {
    let (reader, _) = split(duplex(1).0);
    let (_, writer) = split(duplex(1).0);
    assert!(!reader.is_pair_of(&writer));
    let refused = catch_unwind(std::panic::AssertUnwindSafe(|| reader.unsplit(writer)));
    let message = *refused.unwrap_err().downcast::<&str>().unwrap();
    assert_eq!(
        message,
        "the halves belong to different streams; check is_pair_of first"
    );
}

#[test]
fn the_stream_is_dropped_with_the_second_half() {
    let (near, mut far) = duplex(8);
    let (reader, mut writer) = split(near);
    drop(reader);
    block_on(async {
        writer.write_all(b"abc").await.unwrap();
        drop(writer);
        let mut all = Vec::new();
        far.read_to_end(&mut all).await.unwrap();
        assert_eq!(all, b"abc");
    });
}

#[test]
fn the_halves_can_be_sent_and_shared() {
    fn check<T: Send + Sync + Unpin>() {}
    check::<ReadHalf<DuplexStream>>();
    check::<WriteHalf<DuplexStream>>();
    check::<DuplexStream>();
}
