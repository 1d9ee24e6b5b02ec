//! Reads and writes on a connection.

use std::future::poll_fn;
use std::io::{ErrorKind, IoSlice, IoSliceMut};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use raddle_io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use raddle_net::TcpStream;
use raddle_reactor::Interest;
use raddle_testing::poll;

use crate::common::{self, all, both, pair, run};

/// Whether the stream is marked ready, so that an operation would make a system call.
fn would_try(stream: &TcpStream, interest: Interest) -> bool {
    stream.try_io(interest, || Ok(())).is_ok()
}

#[test]
fn a_half_close_keeps_the_other_direction_open() {
    run(async {
        let (mut near, mut far) = pair().await;
        near.write_all(b"last words").await.unwrap();
        near.shutdown().await.unwrap();
        let mut received = String::new();
        far.read_to_string(&mut received).await.unwrap();
        assert_eq!(received, "last words");

        // The other direction transfers more than the buffers hold.
        let answer = vec![7; 4 << 20];
        let mut received = Vec::new();
        let (sent, read) = both(
            async {
                far.write_all(&answer).await?;
                far.shutdown().await
            },
            near.read_to_end(&mut received),
        )
        .await;
        sent.unwrap();
        read.unwrap();
        assert!(received == answer);
        // Each further read returns the end again.
        assert_eq!(far.read(&mut [0; 8]).await.unwrap(), 0);
        assert_eq!(near.read(&mut [0; 8]).await.unwrap(), 0);
        let error = near.write(b"x").await.unwrap_err();
        // WSAESHUTDOWN is uncategorized to std.
        assert!(cfg!(windows) || error.kind() == ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_reset_is_returned_as_an_error() {
    if !common::has_resets() {
        println!("skipped: this system has no resets");
        return;
    }
    run(async {
        let (mut near, far) = pair().await;
        let mut buffer = [0; 8];
        let mut read = pin!(near.read(&mut buffer));
        assert!(poll(read.as_mut()).is_pending());
        far.set_linger(Some(Duration::ZERO)).unwrap();
        drop(far);
        let error = read.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        // Shutting down a connection that was reset is no error.
        near.shutdown().await.unwrap();
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_read_after_a_short_read_waits_for_the_next_event() {
    run(async {
        let (mut near, mut far) = pair().await;
        far.write_all(b"abc").await.unwrap();
        near.readable().await.unwrap();
        assert!(would_try(&near, Interest::READABLE));
        assert_eq!(near.read(&mut [0; 16]).await.unwrap(), 3);
        assert!(!would_try(&near, Interest::READABLE));

        // A read that fills the buffer does not clear the readiness.
        far.write_all(b"defghi").await.unwrap();
        near.readable().await.unwrap();
        assert_eq!(near.read(&mut [0; 3]).await.unwrap(), 3);
        assert!(would_try(&near, Interest::READABLE));
        assert_eq!(near.read(&mut [0; 3]).await.unwrap(), 3);
    });
}

#[test]
fn data_and_end_that_arrive_together_are_both_read() {
    run(async {
        for _ in 0..100 {
            let (mut near, mut far) = pair().await;
            far.write_all(b"abc").await.unwrap();
            drop(far);
            let mut buffer = [0; 16];
            assert_eq!(near.read(&mut buffer).await.unwrap(), 3);
            assert_eq!(near.read(&mut buffer).await.unwrap(), 0);
        }
    });
}

#[test]
fn try_read_after_a_short_one_finds_data_that_has_come_without_an_event() {
    run(async {
        let (near, far) = pair().await;
        far.writable().await.unwrap();
        far.try_write(b"abc").unwrap();
        near.readable().await.unwrap();
        assert_eq!(near.try_read(&mut [0; 16]).unwrap(), 3);
        far.try_write(b"de").unwrap();
        if cfg!(target_os = "linux") {
            // The data is available when the write returns, although no driver has run since.
            assert_eq!(near.try_read(&mut [0; 16]).unwrap(), 2);
        }
        let dry = loop {
            if let Err(error) = near.try_read(&mut [0; 16]) {
                break error;
            }
        };
        assert_eq!(dry.kind(), ErrorKind::WouldBlock);
        assert!(!would_try(&near, Interest::READABLE));
    });
}

#[test]
fn a_short_try_write_leaves_the_stream_writable() {
    run(async {
        let big = vec![1; 64 << 20];
        let (near, _far) = pair().await;
        near.writable().await.unwrap();
        let written = near.try_write(&big).unwrap();
        assert!(written < big.len());
        assert!(would_try(&near, Interest::WRITABLE));
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_write_after_a_short_write_waits_for_the_next_event() {
    run(async {
        let big = vec![1; 64 << 20];
        let mut shown = false;
        // The kernel may free buffer space during the write, which is another event. So not every
        // attempt shows the cleared readiness.
        for _ in 0..20 {
            let (mut near, mut far) = pair().await;
            let written = near.write(&big).await.unwrap();
            assert!(written < big.len());
            shown |= !would_try(&near, Interest::WRITABLE);
            // Free buffer space wakes the writer.
            let send = async {
                near.write_all(&big[..1 << 20]).await.unwrap();
                near.shutdown().await.unwrap();
            };
            let mut received = Vec::new();
            let (_, read) = both(send, far.read_to_end(&mut received)).await;
            read.unwrap();
            assert_eq!(received.len(), written + (1 << 20));
            if shown {
                return;
            }
        }
        panic!("a stream whose buffer is full is marked writable");
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_read_continues_after_out_of_band_data() {
    use socket2::SockRef;

    run(async {
        let (mut near, mut far) = pair().await;
        far.set_nodelay(true).unwrap();
        far.write_all(b"before").await.unwrap();
        SockRef::from(&far).send_out_of_band(b"!").unwrap();
        far.write_all(b"behind").await.unwrap();
        // Waits until all data has arrived, so that one read could return it.
        while SockRef::from(&near)
            .peek(&mut [std::mem::MaybeUninit::uninit(); 32])
            .unwrap_or(0)
            < 6
        {
            near.readable().await.unwrap();
        }
        let mut received = Vec::new();
        while received.len() < 12 {
            let mut buffer = [0; 64];
            let read = near.read(&mut buffer).await.unwrap();
            received.extend_from_slice(&buffer[..read]);
        }
        assert_eq!(received, b"beforebehind");
    });
}

#[test]
fn a_vectored_write_of_any_size_arrives_whole_and_in_order() {
    run(async {
        let (mut near, mut far) = pair().await;
        for bytes in [0, 1, 2, 100, 1023, 1024, 1025, 5000] {
            let content: Vec<u8> = (0..bytes).map(|i| (i % 251) as u8).collect();
            let (head, body) = content.split_at(bytes / 3);
            let slices = [&[], head, &[], body, &[]].map(IoSlice::new);
            let sent = near.write_vectored(&slices).await.unwrap();
            assert_eq!(sent, bytes, "there is room in the socket");
            let mut received = vec![0; bytes];
            far.read_exact(&mut received).await.unwrap();
            assert!(received == content);
        }
    });
}

#[test]
fn pipelined_vectored_writes_arrive_in_order() {
    run(async {
        let (mut near, mut far) = pair().await;
        assert!(near.is_write_vectored());
        // More slices than one call accepts, of varying lengths, some empty.
        let parts: Vec<Vec<u8>> = (0..5_000_usize)
            .map(|n| vec![n as u8; (n * 37) % 1_000])
            .collect();
        let expected = parts.concat();
        let send = async {
            let mut slices: Vec<_> = parts.iter().map(|part| IoSlice::new(part)).collect();
            let mut rest = &mut slices[..];
            while !rest.is_empty() {
                let sent = poll_fn(|cx| Pin::new(&mut near).poll_write_vectored(cx, rest));
                let sent = sent.await.unwrap();
                IoSlice::advance_slices(&mut rest, sent);
            }
            near.shutdown().await.unwrap();
        };
        let mut received = Vec::new();
        let (_, read) = both(send, far.read_to_end(&mut received)).await;
        read.unwrap();
        assert!(received == expected);
    });
}

#[test]
fn peeking_consumes_nothing() {
    run(async {
        let (near, mut far) = pair().await;
        let mut buffer = [0; 8];
        {
            let mut peek = pin!(near.peek(&mut buffer));
            assert!(poll(peek.as_mut()).is_pending());
        }
        far.write_all(b"abc").await.unwrap();
        for _ in 0..3 {
            assert_eq!(near.peek(&mut buffer).await.unwrap(), 3);
            assert_eq!(&buffer[..3], b"abc");
        }
        let mut storage = [0; 8];
        let mut peeked = ReadBuf::new(&mut storage);
        let length = poll_fn(|cx| near.poll_peek(cx, &mut peeked)).await.unwrap();
        assert_eq!((length, peeked.filled()), (3, &b"abc"[..]));
        near.readable().await.unwrap();
        assert_eq!(near.try_read(&mut buffer).unwrap(), 3);
    });
}

#[test]
fn try_read_succeeds_after_readable() {
    run(async {
        let (near, far) = pair().await;
        let blocked = near.try_read(&mut [0; 8]).unwrap_err();
        assert_eq!(blocked.kind(), ErrorKind::WouldBlock);
        far.writable().await.unwrap();
        let both_parts = [IoSlice::new(b"ab"), IoSlice::new(b"cd")];
        assert_eq!(far.try_write_vectored(&both_parts).unwrap(), 4);
        assert_eq!(far.try_write(b"e").unwrap(), 1);

        // Any number of tasks can wait for the same readiness.
        let waiting = all((0..10).map(|_| near.readable())).await;
        assert!(waiting.into_iter().all(|result| result.is_ok()));
        let ready = near.ready(Interest::READABLE | Interest::WRITABLE).await;
        let ready = ready.unwrap();
        assert!(ready.is_readable() && ready.is_writable() && !ready.is_read_closed());

        let (mut first, mut second) = ([0; 2], [0; 8]);
        let mut read = 0;
        while read < 5 {
            near.readable().await.unwrap();
            let mut slices = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
            match near.try_read_vectored(&mut slices) {
                Ok(n) => read += n,
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
        let tried = near
            .async_io(Interest::WRITABLE, || Ok::<_, std::io::Error>(7))
            .await;
        assert_eq!(tried.unwrap(), 7);
        drop(far);
        let end = near.async_io(Interest::READABLE, || near.try_read(&mut first));
        assert_eq!(end.await.unwrap(), 0);
    });
}

#[test]
fn a_read_that_is_dropped_loses_nothing() {
    run(async {
        let (mut near, mut far) = pair().await;
        for _ in 0..100 {
            {
                let mut buffer = [0; 8];
                let mut read = pin!(near.read(&mut buffer));
                assert!(poll(read.as_mut()).is_pending());
            }
            {
                let mut readable = pin!(near.readable());
                assert!(poll(readable.as_mut()).is_pending());
            }
            far.write_all(b"abc").await.unwrap();
            let mut buffer = [0; 3];
            near.read_exact(&mut buffer).await.unwrap();
            // Finds that no data is left.
            assert!(near.try_read(&mut buffer).is_err());
        }
    });
}

#[test]
fn an_always_ready_stream_uses_up_the_budget() {
    run(async {
        let (mut near, mut far) = pair().await;
        far.write_all(&[0; 1_000]).await.unwrap();
        near.readable().await.unwrap();
        let mut read = 0;
        raddle_leaf::coop::budget(|| {
            let mut cx = Context::from_waker(Waker::noop());
            loop {
                let mut storage = [0; 1];
                let mut buf = ReadBuf::new(&mut storage);
                match Pin::new(&mut near).poll_read(&mut cx, &mut buf) {
                    Poll::Ready(result) => result.unwrap(),
                    Poll::Pending => break,
                }
                read += 1;
            }
            // Reads and writes share the budget.
            let written = Pin::new(&mut near).poll_write(&mut cx, b"x");
            assert!(written.is_pending());
            let mut readable = pin!(near.readable());
            assert!(readable.as_mut().poll(&mut cx).is_pending());
        });
        assert_eq!(read, 128);
        // A pending operation returns its unit of the budget.
        raddle_leaf::coop::budget(|| {
            let mut cx = Context::from_waker(Waker::noop());
            for _ in 0..1_000 {
                let mut storage = [0; 1];
                let mut buf = ReadBuf::new(&mut storage);
                assert!(Pin::new(&mut far).poll_read(&mut cx, &mut buf).is_pending());
            }
            assert!(raddle_leaf::coop::has_budget_remaining());
        });
    });
}
