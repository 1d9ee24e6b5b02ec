//! Tests of a stream whose calls run on the pool.

mod runtime;

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};

use raddle_io::{AsyncReadExt, AsyncWriteExt};
use raddle_primitives::sync::Mutex;
use raddle_task::blocking;

use super::Blocking;
use crate::buffer::DEFAULT_MAX_BUF_SIZE;
use runtime::Runtime;

/// Polls `future` once.
fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Reads the pieces that it is sent, and then the end. An empty piece is an end as well.
struct Pieces(Receiver<io::Result<Vec<u8>>>);

impl Pieces {
    fn new() -> (Sender<io::Result<Vec<u8>>>, Blocking<Self>) {
        let (sender, receiver) = channel();
        (sender, Blocking::new(Self(receiver)))
    }
}

impl Read for Pieces {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let piece = self.0.recv().unwrap_or(Ok(Vec::new()))?;
        buf[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

#[derive(Default)]
struct Log {
    written: Vec<u8>,
    flushed: Vec<u8>,
    errors: Vec<ErrorKind>,
}

/// Writes one byte at a time.
#[derive(Clone, Default)]
struct Writer(Arc<Mutex<Log>>);

impl Write for Writer {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let mut log = self.0.lock();
        if let Some(error) = log.errors.pop() {
            return Err(error.into());
        }
        log.written.push(buf[0]);
        Ok(1)
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut log = self.0.lock();
        log.flushed = log.written.clone();
        Ok(())
    }
}

#[test]
fn reads_return_the_available_bytes_until_the_end() {
    Runtime::new().block_on(async {
        let (sender, mut reader) = Pieces::new();
        sender.send(Ok(b"abcd".to_vec())).unwrap();
        sender.send(Err(ErrorKind::Interrupted.into())).unwrap();
        sender.send(Ok(b"ef".to_vec())).unwrap();
        sender.send(Err(ErrorKind::TimedOut.into())).unwrap();
        sender.send(Ok(Vec::new())).unwrap();
        sender.send(Ok(b"g".to_vec())).unwrap();
        drop(sender);
        let mut buf = [0; 8];
        assert_eq!(reader.read(&mut []).await.unwrap(), 0);
        assert_eq!(reader.read(&mut buf[..4]).await.unwrap(), 4);
        assert_eq!(reader.read(&mut buf).await.unwrap(), 2);
        assert_eq!(&buf[..4], b"efcd");
        let error = reader.read(&mut buf).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert_eq!(reader.read(&mut buf).await.unwrap(), 0);
        // A terminal may return more bytes after its end.
        assert_eq!(reader.read(&mut buf).await.unwrap(), 1);
        assert_eq!(reader.read(&mut buf).await.unwrap(), 0);
    });
}

#[test]
fn the_bytes_of_a_dropped_read_are_read_next() {
    Runtime::new().block_on(async {
        let (sender, mut reader) = Pieces::new();
        assert!(poll_once(reader.read(&mut [0; 8])).is_pending());
        sender.send(Ok(b"abc".to_vec())).unwrap();
        let mut buf = [0; 2];
        assert_eq!(reader.read(&mut buf).await.unwrap(), 2);
        assert_eq!(&buf, b"ab");
        assert_eq!(reader.read(&mut buf).await.unwrap(), 1);
        assert_eq!(buf[0], b'c');
    });
}

#[test]
fn writes_are_made_in_order_and_flushed_when_asked() {
    let target = Writer::default();
    Runtime::new().block_on(async {
        let mut writer = Blocking::new(target.clone());
        target.0.lock().errors.push(ErrorKind::Interrupted);
        writer.write_all(b"ab").await.unwrap();
        writer.write_all(b"cd").await.unwrap();
        writer.flush().await.unwrap();
        assert_eq!(target.0.lock().flushed, b"abcd");
        writer.write_all(b"e").await.unwrap();
        // A dropped flush still completes, and the next one waits for it.
        let (end, ended) = channel::<()>();
        drop(blocking::spawn(move || ended.recv(), blocking::submit));
        assert!(poll_once(writer.flush()).is_pending());
        drop(end);
        writer.shutdown().await.unwrap();
        assert_eq!(target.0.lock().flushed, b"abcde");
    });
}

/// Accepts all bytes of each write at once, and records each write.
#[derive(Clone, Default)]
struct Whole(Arc<Mutex<Vec<Vec<u8>>>>);

impl Write for Whole {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0.lock().push(buf.to_vec());
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_long_text_is_split_between_characters() {
    for character in ["a", "ä", "€", "🦀"] {
        for lead in 0..4 {
            let mut text = "b".repeat(lead);
            text.push_str(&character.repeat(2 * DEFAULT_MAX_BUF_SIZE / character.len()));
            let target = Whole::default();
            Runtime::new().block_on(async {
                let mut writer = Blocking::new(target.clone());
                // The accepted bytes end in the second slice.
                let (first, second) = text.as_bytes().split_at(DEFAULT_MAX_BUF_SIZE - 1);
                let slices = [IoSlice::new(first), IoSlice::new(second)];
                let n = writer.write_vectored(&slices).await.unwrap();
                writer.write_all(&text.as_bytes()[n..]).await.unwrap();
                writer.flush().await.unwrap();
            });
            let written = target.0.lock();
            for piece in written.iter() {
                assert!(std::str::from_utf8(piece).is_ok(), "{character} at {lead}");
                assert!(piece.len() <= DEFAULT_MAX_BUF_SIZE);
            }
            assert!(written.concat() == text.as_bytes());
        }
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_all_written() {
    for byte in [0x80, 0xC3, 0xE2, 0xF0, 0xFF] {
        let bytes = vec![byte; DEFAULT_MAX_BUF_SIZE + 3];
        let target = Whole::default();
        Runtime::new().block_on(async {
            let mut writer = Blocking::new(target.clone());
            let n = writer.write(&bytes).await.unwrap();
            assert!(n + 3 >= DEFAULT_MAX_BUF_SIZE, "{n}");
            writer.write_all(&bytes[n..]).await.unwrap();
            writer.flush().await.unwrap();
        });
        assert!(target.0.lock().concat() == bytes);
    }
}

#[test]
fn the_error_of_a_write_is_returned_by_the_next_call() {
    let target = Writer::default();
    Runtime::new().block_on(async {
        let mut writer = Blocking::new(target.clone());
        target.0.lock().errors.push(ErrorKind::StorageFull);
        assert_eq!(writer.write(b"ab").await.unwrap(), 2);
        let error = writer.write(b"cd").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        target.0.lock().errors.push(ErrorKind::BrokenPipe);
        assert_eq!(writer.write(b"ef").await.unwrap(), 2);
        let error = writer.flush().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        writer.write_all(b"gh").await.unwrap();
        writer.flush().await.unwrap();
        assert_eq!(target.0.lock().flushed, b"gh");
    });
}

#[test]
fn an_accepted_write_is_made_though_the_runtime_shuts_down() {
    let target = Writer::default();
    let runtime = Runtime::new();
    let (end, ended) = channel::<()>();
    let handle = runtime.handle();
    let mut writer = Blocking::new(target.clone());
    runtime.block_on(async {
        // The only thread is busy.
        drop(blocking::spawn(move || ended.recv(), blocking::submit));
        writer.write_all(b"abc").await.unwrap();
    });
    let shutdown = std::thread::spawn(move || drop(runtime));
    std::thread::sleep(std::time::Duration::from_millis(5));
    drop(end);
    shutdown.join().unwrap();
    assert_eq!(target.0.lock().written, b"abc");

    // After the shutdown, writes are refused and no bytes are lost.
    handle.enter(|| {
        for _ in 0..2 {
            let Poll::Ready(Err(error)) = poll_once(writer.write(b"d")) else {
                panic!("the write was accepted");
            };
            assert!(error.to_string().contains("shut down"), "{error}");
        }
    });
    let runtime = Runtime::new();
    runtime.block_on(async {
        writer.write_all(b"e").await.unwrap();
        writer.flush().await.unwrap();
    });
    assert_eq!(target.0.lock().flushed, b"abce");
}

/// The stacks of the threads would need more memory than the system has.
#[cfg(target_os = "linux")]
#[test]
fn a_call_without_a_thread_fails_and_the_next_call_succeeds() {
    let refusing = Runtime::with_stack_size(Some(usize::MAX / 16 * 15));
    let refused = |result: io::Result<usize>| {
        let text = result.unwrap_err().to_string();
        assert!(text.contains("no thread could be started"), "{text}");
    };
    let target = Writer::default();
    let mut writer = Blocking::new(target.clone());
    let (sender, mut reader) = Pieces::new();
    sender.send(Ok(b"ab".to_vec())).unwrap();
    let mut buf = [0; 8];
    let working = Runtime::new();
    for written in [&b"a"[..], b"aa", b"aaa"] {
        refusing.block_on(async {
            refused(writer.write(b"lost").await);
            refused(reader.read(&mut buf).await);
        });
        working.block_on(async { writer.write_all(b"a").await.unwrap() });
        refusing.block_on(async { refused(writer.flush().await.map(|()| 0)) });
        working.block_on(async { writer.flush().await.unwrap() });
        assert_eq!(target.0.lock().flushed, written);
    }
    working.block_on(async { assert_eq!(reader.read(&mut buf).await.unwrap(), 2) });
}

#[test]
fn a_call_that_is_dropped_before_it_runs_is_an_error() {
    let target = Writer::default();
    let (sender, receiver) = channel();
    sender.send(Ok(b"ab".to_vec())).unwrap();
    Runtime::new().block_on(async {
        let dropped = |task| {
            drop(task);
            Ok(())
        };
        let mut writer = Blocking::with_submit(target.clone(), dropped);
        // The bytes were accepted, so the loss is reported.
        assert_eq!(writer.write(b"ab").await.unwrap(), 2);
        writer.flush().await.unwrap_err();
        let mut reader = Blocking::with_submit(Pieces(receiver), dropped);
        for _ in 0..2 {
            reader.read(&mut [0; 4]).await.unwrap_err();
        }
    });
    assert!(target.0.lock().written.is_empty());
}

#[test]
fn handles_of_a_stream_share_the_bytes_of_a_dropped_read() {
    Runtime::new().block_on(async {
        let (sender, mut reader) = Pieces::new();
        let mut other = reader.share();
        assert!(poll_once(reader.read(&mut [0; 8])).is_pending());
        assert!(poll_once(other.read(&mut [0; 1])).is_pending());
        drop(reader);
        sender.send(Ok(b"abc".to_vec())).unwrap();
        let mut buf = [0; 8];
        assert_eq!(other.read(&mut buf).await.unwrap(), 3);
        assert_eq!(&buf[..3], b"abc");
    });
}

#[test]
fn a_call_that_panics_returns_an_error() {
    struct Panics;
    impl Read for Panics {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            panic!("expected by this test");
        }
    }
    Runtime::new().block_on(async {
        let mut reader = Blocking::new(Panics);
        reader.read(&mut [0]).await.unwrap_err();
        reader.read(&mut [0]).await.unwrap_err();
    });
}
