//! Waiting for the end of a connection without reading.

use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

use raddle_io::{AsyncReadExt, AsyncWriteExt};
use raddle_net::TcpStream;
#[cfg(unix)]
use raddle_net::UnixStream;
use raddle_reactor::Interest;
use raddle_testing::{Wakes, poll, poll_with};

use crate::common::{self, Driver, all, both, pair, run};

/// Whether both waits of a stream are pending.
fn waits(stream: &TcpStream) -> [bool; 2] {
    let read_closed = poll(pin!(stream.read_closed())).is_pending();
    [read_closed, poll(pin!(stream.both_closed())).is_pending()]
}

#[test]
fn data_ends_no_wait_and_a_close_is_noticed_behind_unread_data() {
    run(async {
        let (mut near, mut far) = pair().await;
        {
            let mut wait = pin!(near.read_closed());
            assert!(poll(wait.as_mut()).is_pending());
            far.write_all(b"request").await.unwrap();
            near.readable().await.unwrap();
            assert!(poll(wait.as_mut()).is_pending());
            drop(far);
            wait.await.unwrap();
        }
        // Nothing was read, and the end is seen once the bytes are.
        let mut text = String::new();
        near.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "request");
        near.read_closed().await.unwrap();
    });
}

#[test]
fn a_wait_sleeps_through_data() {
    run(async {
        let (near, mut far) = pair().await;
        let mut wait = pin!(near.read_closed());
        let (wakes, waker) = Wakes::new();
        assert!(poll_with(wait.as_mut(), &waker).is_pending());
        for _ in 0..10 {
            far.write_all(b"x").await.unwrap();
            near.readable().await.unwrap();
            assert_eq!(near.try_read(&mut [0; 8]).unwrap(), 1);
            let drained = near.try_read(&mut [0; 8]);
            assert!(drained.is_err());
        }
        assert_eq!(wakes.get(), 0);
        far.shutdown().await.unwrap();
        wait.await.unwrap();
    });
}

#[test]
fn a_close_before_the_wait_ends_it_at_once() {
    run(async {
        let (near, far) = pair().await;
        drop(far);
        near.readable().await.unwrap();
        near.read_closed().await.unwrap();
        near.read_closed().await.unwrap();
    });
}

#[test]
fn a_half_close_of_the_peer_ends_only_the_reading_direction() {
    run(async {
        let (mut near, mut far) = pair().await;
        far.shutdown().await.unwrap();
        near.read_closed().await.unwrap();
        assert_eq!(waits(&near), [false, true]);
        // The peer still reads.
        near.write_all(b"answer").await.unwrap();
        let mut answer = [0; 6];
        far.read_exact(&mut answer).await.unwrap();
        assert_eq!(waits(&near), [false, true]);
        assert_eq!(waits(&far), [true, true]);
        near.shutdown().await.unwrap();
        if cfg!(not(windows)) {
            both(near.both_closed(), far.both_closed()).await.0.unwrap();
        }
    });
}

#[test]
fn ending_the_own_writing_direction_ends_no_wait() {
    run(async {
        let (mut near, mut far) = pair().await;
        near.shutdown().await.unwrap();
        far.write_all(b"more").await.unwrap();
        near.readable().await.unwrap();
        assert_eq!(waits(&near), [true, true]);
    });
}

/// What a server does that answers a half-closed connection: it finds out that the peer has gone
/// when it writes.
#[test]
#[cfg(unix)]
fn a_write_to_a_closed_peer_makes_the_connection_hang_up() {
    run(async {
        let (mut near, far) = pair().await;
        drop(far);
        near.read_closed().await.unwrap();
        assert_eq!(waits(&near), [false, true]);
        near.write_all(b"answer").await.unwrap();
        near.both_closed().await.unwrap();
    });
}

#[test]
fn a_reset_ends_both_waits() {
    if !common::has_resets() {
        println!("skipped: this system has no resets");
        return;
    }
    run(async {
        let (near, far) = pair().await;
        far.set_linger(Some(Duration::ZERO)).unwrap();
        drop(far);
        let waits = both(near.both_closed(), near.read_closed()).await;
        waits.0.unwrap();
        waits.1.unwrap();
        // The error is left to the next operation.
        assert!(near.try_read(&mut [0; 8]).is_err());
    });
}

#[test]
fn several_tasks_wait_and_a_dropped_wait_is_gone() {
    run(async {
        let (near, far) = pair().await;
        {
            let mut dropped = pin!(near.read_closed());
            assert!(poll(dropped.as_mut()).is_pending());
        }
        let mut waits: Vec<Pin<Box<dyn Future<Output = _>>>> = Vec::new();
        for _ in 0..40 {
            waits.push(Box::pin(near.read_closed()));
        }
        for wait in &mut waits {
            assert!(poll(wait.as_mut()).is_pending());
        }
        drop(far);
        for result in all(waits).await {
            result.unwrap();
        }
    });
}

#[test]
fn both_halves_wait_while_the_other_is_used() {
    run(async {
        let (mut near, mut far) = pair().await;
        let (mut reader, writer) = near.split();
        let mut wait = pin!(writer.read_closed());
        assert!(poll(wait.as_mut()).is_pending());
        far.write_all(b"x").await.unwrap();
        assert_eq!(reader.read(&mut [0; 8]).await.unwrap(), 1);
        assert!(poll(wait.as_mut()).is_pending());
        drop(far);
        wait.await.unwrap();

        let (near, far) = pair().await;
        let (reader, mut writer) = near.into_split();
        let mut wait = pin!(reader.read_closed());
        assert!(poll(wait.as_mut()).is_pending());
        writer.write_all(b"x").await.unwrap();
        drop(far);
        wait.await.unwrap();
        if cfg!(not(windows)) {
            let _ = writer.shutdown().await;
            writer.both_closed().await.unwrap();
        }
    });
}

#[test]
#[cfg(unix)]
fn a_unix_socket_hangs_up_when_its_peer_closes_it() {
    run(async {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        far.shutdown().await.unwrap();
        near.read_closed().await.unwrap();
        assert!(poll(pin!(near.both_closed())).is_pending());
        near.write_all(b"unread").await.unwrap();
        drop(far);
        near.both_closed().await.unwrap();
        let (reader, _writer) = near.split();
        reader.both_closed().await.unwrap();
    });
}

#[test]
#[cfg(target_os = "linux")]
fn shutting_down_the_own_reading_direction_counts() {
    run(async {
        let (near, _far) = pair().await;
        let mut wait = pin!(near.read_closed());
        assert!(poll(wait.as_mut()).is_pending());
        let socket = socket2::SockRef::from(&near);
        socket.shutdown(std::net::Shutdown::Read).unwrap();
        wait.await.unwrap();
    });
}

#[test]
fn a_wait_ends_with_an_error_when_the_reactor_shuts_down() {
    let driver = Driver::start();
    let current = driver.handle.enter();
    let (near, _far) = raddle_testing::block_on(pair());
    let mut waits = [
        Box::pin(near.read_closed()) as Pin<Box<dyn Future<Output = std::io::Result<()>>>>,
        Box::pin(near.both_closed()),
    ];
    for wait in &mut waits {
        assert!(poll(wait.as_mut()).is_pending());
    }
    drop(current);
    drop(driver);
    for wait in waits {
        let error = raddle_testing::block_on(wait).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::Other);
    }
    assert!(near.try_io(Interest::READABLE, || Ok(())).is_err());
}
