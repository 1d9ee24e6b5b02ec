//! `duplex`, an in-memory pipe.

use std::io::{ErrorKind, IoSlice};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use raddle_io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf, duplex};
use raddle_primitives::thread;
use raddle_testing::{Wakes, poll_once};

use crate::common::block_on;

#[test]
fn each_end_reads_what_the_other_writes() {
    let (mut a, mut b) = duplex(16);
    block_on(async {
        a.write_all(b"ping").await.unwrap();
        b.write_all(b"pong!").await.unwrap();
        let mut buf = [0; 16];
        assert_eq!(b.read(&mut buf).await.unwrap(), 4);
        assert_eq!(&buf[..4], b"ping");
        assert_eq!(a.read(&mut buf).await.unwrap(), 5);
        assert_eq!(&buf[..5], b"pong!");
    });
}

#[test]
fn a_full_pipe_waits_for_its_reader() {
    let (mut a, mut b) = duplex(4);
    let (wakes, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);

    assert_eq!(block_on(a.write(b"abcdef")).unwrap(), 4);
    let mut write = pin!(a.write(b"ef"));
    assert!(write.as_mut().poll(&mut cx).is_pending());
    assert_eq!(wakes.get(), 0);
    let mut buf = [0; 3];
    assert_eq!(block_on(b.read(&mut buf)).unwrap(), 3);
    assert_eq!(wakes.get(), 1);
    assert!(write.as_mut().poll(&mut cx).is_ready());
    // The bytes wrap around in the ring buffer.
    assert_eq!(block_on(b.read(&mut buf)).unwrap(), 3);
    assert_eq!(&buf, b"def");
}

#[test]
fn an_empty_pipe_waits_for_its_writer_and_wakes_the_last_waker() {
    let (mut a, mut b) = duplex(4);
    let wakes = [(); 2].map(|()| Arc::new(Wakes::default()));
    let mut buf = [0; 4];
    let mut read = pin!(b.read(&mut buf));
    for wakes in &wakes {
        let waker = Waker::from(wakes.clone());
        assert!(
            read.as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
    }
    block_on(a.write_all(b"ab")).unwrap();
    assert_eq!(wakes.each_ref().map(|wakes| wakes.get()), [0, 1]);
    // No waker is kept.
    assert_eq!(wakes.each_ref().map(Arc::strong_count), [1, 1]);
    assert_eq!(block_on(read).unwrap(), 2);
}

#[test]
fn empty_reads_and_writes_complete_at_once() {
    let (mut a, mut b) = duplex(1);
    block_on(async {
        assert_eq!(b.read(&mut []).await.unwrap(), 0);
        a.write_all(b"x").await.unwrap();
        assert_eq!(a.write(&[]).await.unwrap(), 0);
    });
}

#[test]
fn vectored_writes_fill_the_available_capacity() {
    let (mut a, mut b) = duplex(5);
    let slices = [b"ab".as_slice(), b"", b"cde", b"f"].map(IoSlice::new);
    block_on(async {
        assert_eq!(a.write_vectored(&slices).await.unwrap(), 5);
        let mut buf = [0; 8];
        assert_eq!(b.read(&mut buf).await.unwrap(), 5);
        assert_eq!(&buf[..5], b"abcde");
    });
}

#[test]
fn shutdown_ends_one_direction() {
    let (mut a, mut b) = duplex(16);
    block_on(async {
        a.write_all(b"last").await.unwrap();
        a.shutdown().await.unwrap();
        let error = a.write(b"more").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        assert_eq!(
            error.to_string(),
            "broken pipe",
            "as of a socket, and on Tokio"
        );

        let mut all = Vec::new();
        b.read_to_end(&mut all).await.unwrap();
        assert_eq!(all, b"last");

        b.write_all(b"answer").await.unwrap();
        b.shutdown().await.unwrap();
        all.clear();
        a.read_to_end(&mut all).await.unwrap();
        assert_eq!(all, b"answer");
    });
}

#[test]
fn a_dropped_end_is_end_of_file_to_reads_and_broken_pipe_to_writes() {
    let (mut a, mut b) = duplex(16);
    block_on(async {
        a.write_all(b"last").await.unwrap();
        drop(a);
        let error = b.write(b"more").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        let mut all = Vec::new();
        b.read_to_end(&mut all).await.unwrap();
        assert_eq!(all, b"last");
    });
}

#[test]
fn dropping_one_end_wakes_waiters_of_the_other() {
    let (a, mut b) = duplex(1);
    let (wakes, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    let mut buf = [0; 1];
    let mut read = pin!(b.read(&mut buf));
    assert!(read.as_mut().poll(&mut cx).is_pending());
    drop(a);
    assert_eq!(wakes.get(), 1);
    assert_eq!(block_on(read).unwrap(), 0);

    let (a, mut b) = duplex(1);
    block_on(b.write_all(b"x")).unwrap();
    let mut write = pin!(b.write_all(b"y"));
    assert!(write.as_mut().poll(&mut cx).is_pending());
    drop(a);
    assert_eq!(wakes.get(), 2);
    let error = block_on(write).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
}

#[test]
fn dropped_operations_move_nothing() {
    let (mut a, mut b) = duplex(2);
    let mut buf = [0; 4];
    assert!(poll_once(b.read(&mut buf)).is_pending());
    block_on(a.write_all(b"ab")).unwrap();
    assert!(poll_once(a.write(b"lost")).is_pending());
    drop(a);
    let mut all = Vec::new();
    block_on(b.read_to_end(&mut all)).unwrap();
    assert_eq!(all, b"ab");
}

/// A waker that uses the stream that wakes it.
struct Reenter(raddle_primitives::sync::Mutex<Option<raddle_io::DuplexStream>>);

impl std::task::Wake for Reenter {
    fn wake(self: Arc<Self>) {
        let stream = self.0.lock().take();
        let Some(mut stream) = stream else { return };
        let mut cx = Context::from_waker(Waker::noop());
        let mut buf = [0; 4];
        let mut buf = ReadBuf::new(&mut buf);
        assert!(
            Pin::new(&mut stream)
                .poll_read(&mut cx, &mut buf)
                .is_ready()
        );
        assert_eq!(buf.filled(), b"ab");
    }
}

#[test]
fn wakers_may_use_the_pipe() {
    let (mut a, mut b) = duplex(2);
    let reenter = Arc::new(Reenter(raddle_primitives::sync::Mutex::new(None)));
    let waker = Waker::from(reenter.clone());
    let mut buf = [0; 4];
    assert!(
        pin!(b.read(&mut buf))
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    *reenter.0.lock() = Some(b);
    block_on(a.write_all(b"ab")).unwrap();
    assert!(reenter.0.lock().is_none(), "the waker has run");
}

#[test]
fn bytes_cross_threads_in_order() {
    const TOTAL: usize = if cfg!(miri) { 500 } else { 100_000 };
    let (mut a, mut b) = duplex(13);
    let writer = thread::spawn(move || {
        let bytes: Vec<u8> = (0..TOTAL).map(|n| n as u8).collect();
        block_on(async {
            for piece in bytes.chunks(17) {
                a.write_all(piece).await.unwrap();
            }
        });
    });
    let mut all = Vec::new();
    block_on(b.read_to_end(&mut all)).unwrap();
    assert!(all.iter().copied().eq((0..TOTAL).map(|n| n as u8)));
    writer.join().unwrap();
}

#[test]
#[should_panic(expected = "`max_buf_size` must be greater than 0")]
fn a_stream_without_capacity_panics() {
    let _ = duplex(0);
}

#[test]
fn an_operation_that_moves_nothing_does_not_wake_the_peer() {
    let (mut a, mut b) = duplex(1);
    let (wakes, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    block_on(a.write_all(b"x")).unwrap();
    assert!(pin!(a.write(b"y")).poll(&mut cx).is_pending());
    assert_eq!(block_on(b.read(&mut [])).unwrap(), 0);
    assert_eq!(wakes.get(), 0);
    assert_eq!(block_on(b.read(&mut [0])).unwrap(), 1);
    assert_eq!(wakes.get(), 1);
}

#[test]
fn a_shutdown_does_not_wake_the_waker_of_a_dropped_write() {
    let (mut a, mut b) = duplex(1);
    let wakes = [(); 2].map(|()| Arc::new(Wakes::default()));
    let wakers = wakes.clone().map(Waker::from);
    block_on(a.write_all(b"x")).unwrap();
    assert!(
        pin!(a.write(b"y"))
            .poll(&mut Context::from_waker(&wakers[0]))
            .is_pending()
    );
    assert_eq!(block_on(b.read(&mut [0])).unwrap(), 1);
    assert_eq!(wakes[0].get(), 1);
    block_on(a.write_all(b"z")).unwrap();
    assert!(
        pin!(a.write(b"y"))
            .poll(&mut Context::from_waker(&wakers[0]))
            .is_pending()
    );
    block_on(a.shutdown()).unwrap();
    assert_eq!(wakes[0].get(), 1);
    let mut rest = Vec::new();
    assert_eq!(block_on(b.read_to_end(&mut rest)).unwrap(), 1);
}

#[test]
fn a_write_that_waits_during_a_shutdown_ends_when_the_peer_reads_or_is_dropped() {
    for peer_reads in [true, false] {
        let (mut a, mut b) = duplex(1);
        block_on(a.write_all(b"x")).unwrap();
        let (wakes, waker) = Wakes::new();
        let mut write = || Pin::new(&mut a).poll_write(&mut Context::from_waker(&waker), b"y");
        assert!(write().is_pending());
        assert!(poll_once(a.shutdown()).is_ready());
        match peer_reads {
            true => assert_eq!(block_on(b.read(&mut [0; 2])).unwrap(), 1),
            false => drop(b),
        }
        assert_eq!(wakes.get(), 1);
        let mut write = || Pin::new(&mut a).poll_write(&mut Context::from_waker(&waker), b"y");
        let Poll::Ready(Err(error)) = write() else {
            panic!("the pipe is closed");
        };
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }
}

#[test]
fn a_dropped_end_keeps_no_waker() {
    let (mut a, b) = duplex(1);
    block_on(a.write_all(b"x")).unwrap();
    let (wakes, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    assert!(Pin::new(&mut a).poll_write(&mut cx, b"y").is_pending());
    let mut buf = [0];
    let mut buf = ReadBuf::new(&mut buf);
    assert!(Pin::new(&mut a).poll_read(&mut cx, &mut buf).is_pending());
    drop((a, waker));
    assert_eq!((wakes.get(), Arc::strong_count(&wakes)), (0, 1));
    drop(b);
}
