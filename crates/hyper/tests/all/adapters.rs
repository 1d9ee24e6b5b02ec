//! Tests of the adapters without a server.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hyper::rt::{Executor, Read, Timer};
use raddle::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};
use raddle_hyper::{RaddleExecutor, RaddleIo, RaddleTimer};

#[raddle::test]
async fn bytes_pass_in_both_directions() {
    // A stream that is adapted twice implements Raddle's traits again.
    let (near, far) = raddle::io::duplex(16);
    let mut near = RaddleIo::new(RaddleIo::new(near));
    let mut far = RaddleIo::new(RaddleIo::new(far));
    let message = b"longer than the capacity of the pipe";
    let writer = raddle::spawn(async move {
        near.write_all(message).await.unwrap();
        near.shutdown().await.unwrap();
    });
    let mut text = Vec::new();
    far.read_to_end(&mut text).await.unwrap();
    assert_eq!(text, message);
    writer.await.unwrap();
}

/// A reader that replaces the buffer that it is given.
struct ReplaceBuffer;

impl AsyncRead for ReplaceBuffer {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        *buf = ReadBuf::new(Box::leak(Box::new([7; 8])));
        buf.advance(8);
        Poll::Ready(Ok(()))
    }
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
#[should_panic(expected = "must fill the buffer it is given")]
fn a_reader_that_replaces_the_buffer_panics() {
    let mut memory = [MaybeUninit::uninit(); 8];
    let mut buf = hyper::rt::ReadBuf::uninit(&mut memory);
    let mut io = RaddleIo::new(ReplaceBuffer);
    let cx = &mut Context::from_waker(Waker::noop());
    let _ = Read::poll_read(Pin::new(&mut io), cx, buf.unfilled());
}

/// A reader that replaces the empty buffer that it is given by one at the same address.
struct ReplaceEmptyBuffer(Option<&'static mut [u8]>);

impl AsyncRead for ReplaceEmptyBuffer {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        *buf = ReadBuf::new(self.0.take().unwrap());
        buf.advance(8);
        Poll::Ready(Ok(()))
    }
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
#[should_panic(expected = "must fill the buffer it is given")]
fn a_reader_that_replaces_an_empty_buffer_panics() {
    let (empty, neighbour) = Box::leak(Box::new([7; 8])).split_at_mut(0);
    let mut buf = hyper::rt::ReadBuf::new(empty);
    let mut io = RaddleIo::new(ReplaceEmptyBuffer(Some(neighbour)));
    let cx = &mut Context::from_waker(Waker::noop());
    let _ = Read::poll_read(Pin::new(&mut io), cx, buf.unfilled());
}

#[raddle::test]
async fn the_executor_spawns_futures_on_the_runtime() {
    let (sender, receiver) = std::sync::mpsc::channel();
    RaddleExecutor::new().execute(async move { sender.send(1).unwrap() });
    while receiver.try_recv().is_err() {
        raddle::task::yield_now().await;
    }
}

#[raddle::test]
async fn the_timer_sleeps_and_resets() {
    let timer = RaddleTimer::new();
    let start = timer.now();
    timer.sleep(Duration::from_millis(2)).await;
    assert!(timer.now() - start >= Duration::from_millis(2));

    let mut sleep = timer.sleep(Duration::from_secs(3600));
    let soon = timer.now() + Duration::from_millis(2);
    timer.reset(&mut sleep, soon);
    sleep.await;
    assert!(timer.now() >= soon);
    timer.sleep_until(soon).await;
}
