//! Streams that are always ready use the budget of a poll.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use raddle_io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncSeekExt, AsyncWrite,
    AsyncWriteExt, BufReader, ReadBuf, copy, copy_bidirectional, copy_buf, duplex, empty, repeat,
    simplex, sink,
};
use raddle_testing::Wakes;

use crate::common;

/// Checks that a future that never completes by itself yields.
#[track_caller]
fn yields(endless: impl Future) {
    let (wakes, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    let mut endless = pin!(endless);
    for round in 1..=3 {
        assert!(raddle_leaf::coop::budget(|| endless.as_mut().poll(&mut cx)).is_pending());
        assert!(wakes.get() >= round, "the task is woken after each yield");
    }
}

#[test]
fn a_loop_over_empty_yields() {
    yields(async {
        loop {
            empty().read(&mut [0]).await.unwrap();
        }
    });
    yields(async {
        loop {
            empty().fill_buf().await.unwrap();
        }
    });
    yields(async {
        loop {
            empty().write(&[0]).await.unwrap();
        }
    });
    yields(async {
        loop {
            empty().rewind().await.unwrap();
        }
    });
}

#[test]
fn a_loop_over_sink_yields() {
    yields(async {
        loop {
            sink().write_all(&[0]).await.unwrap();
        }
    });
    yields(async {
        loop {
            sink().flush().await.unwrap();
        }
    });
    yields(async {
        loop {
            sink().shutdown().await.unwrap();
        }
    });
    yields(async {
        loop {
            sink().write_vectored(&[]).await.unwrap();
        }
    });
}

#[test]
fn a_loop_over_repeat_yields() {
    yields(async {
        let mut buf = [0; 3];
        loop {
            repeat(7).read_exact(&mut buf).await.unwrap();
            assert_eq!(buf, [7; 3]);
        }
    });
}

#[test]
fn a_loop_over_duplex_yields() {
    let (mut a, mut b) = duplex(8);
    yields(async {
        let mut buf = [0; 1];
        loop {
            a.write_all(&[1]).await.unwrap();
            b.read_exact(&mut buf).await.unwrap();
        }
    });
    let (mut a, b) = duplex(8);
    drop(b);
    yields(async {
        loop {
            assert_eq!(a.read(&mut [0]).await.unwrap(), 0);
        }
    });
    yields(async {
        loop {
            a.write(&[0]).await.unwrap_err();
        }
    });
}

#[test]
fn waiting_for_a_pipe_costs_no_budget() {
    let (mut a, _b) = duplex(8);
    let mut cx = Context::from_waker(Waker::noop());
    raddle_leaf::coop::budget(|| {
        let mut buf = [0; 1];
        for _ in 0..1000 {
            let mut buf = ReadBuf::new(&mut buf);
            assert!(Pin::new(&mut a).poll_read(&mut cx, &mut buf).is_pending());
        }
        assert!(raddle_leaf::coop::has_budget_remaining());
    });
}

/// Always ready to read and to write, and uses no budget.
#[derive(Default)]
struct Uncounted {
    written: u64,
}

impl AsyncRead for Uncounted {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        buf.put_slice(&[0]);
        Poll::Ready(Ok(()))
    }
}

impl AsyncBufRead for Uncounted {
    fn poll_fill_buf(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Poll::Ready(Ok(&[0]))
    }

    fn consume(self: Pin<&mut Self>, _: usize) {}
}

impl AsyncWrite for Uncounted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.written += buf.len() as u64;
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
fn copy_yields_even_if_neither_side_uses_the_budget() {
    yields(async { copy(&mut repeat(0), &mut sink()).await });
    let mut target = Uncounted::default();
    yields(async { copy(&mut Uncounted::default(), &mut target).await });
    assert!(target.written > 100, "bytes are copied between the yields");
}

#[test]
fn copy_buf_yields_even_if_neither_side_uses_the_budget() {
    yields(async { copy_buf(&mut BufReader::new(repeat(0)), &mut sink()).await });
    let mut target = Uncounted::default();
    yields(async { copy_buf(&mut Uncounted::default(), &mut target).await });
    assert!(target.written > 100, "bytes are copied between the yields");
}

#[test]
fn a_loop_of_ready_reads_yields() {
    let mut all = Vec::new();
    yields(async { Uncounted::default().read_to_end(&mut all).await });
    assert!(all.len() > 100, "bytes are read between the yields");
    let mut text = String::new();
    yields(async { Uncounted::default().read_to_string(&mut text).await });
    let mut segment = Vec::new();
    yields(async { Uncounted::default().read_until(1, &mut segment).await });
    assert!(segment.len() > 100, "bytes are read between the yields");
    yields(async { Uncounted::default().lines().next_line().await });
    yields(async { Uncounted::default().split(1).next_segment().await });
}

#[test]
fn a_loop_over_simplex_yields() {
    let (mut reader, mut writer) = simplex(8);
    yields(async {
        loop {
            writer.write_all(&[1]).await.unwrap();
            reader.read_u8().await.unwrap();
        }
    });
}

#[test]
fn neither_direction_starves_the_other() {
    let mut a = Uncounted::default();
    let mut b = Uncounted::default();
    yields(async { copy_bidirectional(&mut a, &mut b).await });
    assert!(a.written > 0 && b.written > 0);
}

/// A copy that fails takes a unit, so a loop that repeats it yields.
#[test]
fn a_loop_of_failing_copies_yields() {
    yields(async {
        loop {
            let full: &mut [u8] = &mut [];
            copy(&mut Uncounted::default(), &mut io::Cursor::new(full))
                .await
                .unwrap_err();
        }
    });
    yields(async {
        loop {
            let full: &mut [u8] = &mut [];
            copy_buf(&mut &b"ab"[..], &mut io::Cursor::new(full))
                .await
                .unwrap_err();
        }
    });
}

#[test]
fn empty_returns_end_of_file_and_discards_writes() {
    common::block_on(async {
        let mut all = Vec::new();
        assert_eq!(empty().read_to_end(&mut all).await.unwrap(), 0);
        assert_eq!(empty().fill_buf().await.unwrap(), b"");
        assert_eq!(empty().write(b"abc").await.unwrap(), 3);
        assert_eq!(sink().write(b"abc").await.unwrap(), 3);
        let mut limited = AsyncReadExt::take(repeat(b'x'), 1000);
        assert_eq!(limited.read_to_end(&mut all).await.unwrap(), 1000);
        assert!(all.iter().all(|&byte| byte == b'x'));
    });
}
