//! Which closed flags are kept when an operation would block.

use std::cell::Cell;
use std::future::Future;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use mio::net::UnixStream;
use raddle_reactor::{Interest, IoState, Reactor, Ready, Registration, WakerBatch};
use raddle_testing::Wakes;

use crate::common::turn_until;

const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

fn flags(registration: &Registration, interest: Interest) -> Ready {
    let event = registration.try_ready(interest).unwrap();
    event.map_or(Ready::EMPTY, |event| event.ready())
}

/// Writes until the buffer is full.
fn fill(registration: &Registration, mut stream: &UnixStream) {
    let mut cx = Context::from_waker(Waker::noop());
    let mut write = || registration.poll_write_io(&mut cx, || stream.write(&[0; 4096]));
    while write().is_ready() {}
}

/// An operation that waits for both directions and tries to write does not clear the closed flag of
/// the read direction.
#[test]
fn a_write_for_both_directions_that_would_block_leaves_the_end_to_be_read() {
    let mut reactor = Reactor::new().unwrap();
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let registration = reactor.handle().register(&mut near, BOTH).unwrap();
    turn_until(&mut reactor, || flags(&registration, BOTH).is_writable());
    fill(&registration, &near);
    far.shutdown(Shutdown::Write).unwrap();
    turn_until(&mut reactor, || flags(&registration, BOTH).is_read_closed());

    let (counter, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    let mut tries = 0;
    let mut writing = pin!(registration.async_io(BOTH, || {
        tries += 1;
        assert!(tries < 10, "the write is retried without an event");
        (&near).write(b"x")
    }));
    assert!(writing.as_mut().poll(&mut cx).is_pending());
    assert!(flags(&registration, Interest::READABLE).is_read_closed());

    // Each read returns the end.
    for _ in 0..3 {
        let mut noop = Context::from_waker(Waker::noop());
        let read = registration.poll_read_io(&mut noop, || (&near).read(&mut [0; 8]));
        let Poll::Ready(read) = read else {
            panic!("the read is pending although the peer has closed its direction");
        };
        assert_eq!(read.unwrap(), 0);
    }
    // The writer waits for buffer space, and is woken when there is space.
    assert_eq!(counter.get(), 0);
    let mut room = vec![0; 1 << 20];
    while far.read(&mut room).is_ok() {}
    turn_until(&mut reactor, || counter.get() > 0);
    let Poll::Ready(written) = writing.poll(&mut cx) else {
        panic!("the write is pending although there is space");
    };
    assert_eq!(written.unwrap(), 1);
}

/// The same with explicit clearing, as a guard of `AsyncFd` does it.
#[test]
fn clearing_a_closed_event_of_both_directions_keeps_it() {
    for interest in [BOTH, Interest::READABLE | Interest::ERROR] {
        let state = IoState::new();
        let _ = state.set_ready(Ready::READ_CLOSED, &mut WakerBatch::new());
        for _ in 0..3 {
            let event = state
                .try_ready(interest)
                .unwrap()
                .expect("the closed flag is gone");
            let _ = state.clear_readiness(event);
        }
        let event = state.try_ready(Interest::READABLE).unwrap().unwrap();
        assert!(event.ready().is_read_closed());
    }
}

/// A descriptor that waits for out-of-band data and finds none does not clear the closed flag.
#[cfg(target_os = "linux")]
#[test]
fn clearing_an_event_of_out_of_band_data_keeps_the_end() {
    let state = IoState::new();
    let _ = state.set_ready(Ready::READ_CLOSED, &mut WakerBatch::new());
    let event = state.try_ready(Interest::PRIORITY).unwrap().unwrap();
    let _ = state.clear_readiness(event);
    assert!(state.try_ready(Interest::READABLE).unwrap().is_some());
}

fn would_block() -> io::Result<()> {
    Err(io::ErrorKind::WouldBlock.into())
}

/// Bug: own, two operations that would block because of something else cleared the closed flag.
#[test]
fn a_closed_direction_survives_operations_that_would_block_because_of_something_else() {
    let mut reactor = Reactor::new().unwrap();
    let (mut near, far) = UnixStream::pair().unwrap();
    let registration = reactor.handle().register(&mut near, BOTH).unwrap();
    drop(far);
    let closed = Ready::READ_CLOSED | Ready::WRITE_CLOSED;
    turn_until(&mut reactor, || {
        flags(&registration, BOTH).intersects(closed)
    });
    for _ in 0..3 {
        for interest in [Interest::READABLE, Interest::WRITABLE, BOTH] {
            let error = registration.try_io(interest, would_block).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        }
    }
    assert_eq!(flags(&registration, BOTH), closed);
    let mut cx = Context::from_waker(Waker::noop());
    let read = registration.poll_read_io(&mut cx, || (&near).read(&mut [0; 8]));
    assert!(matches!(read, Poll::Ready(Ok(0))), "{read:?}");
    let write = registration.poll_write_io(&mut cx, || (&near).write(b"x"));
    assert!(matches!(write, Poll::Ready(Err(_))), "{write:?}");
}

/// Bug: own, an operation that would block once because of something else was not called again.
#[test]
fn an_operation_that_may_wait_for_something_else_is_retried_while_its_direction_is_closed() {
    for (interest, flag) in [
        (Interest::READABLE, Ready::READ_CLOSED),
        (Interest::WRITABLE, Ready::WRITE_CLOSED),
        (BOTH, Ready::READ_CLOSED),
    ] {
        let mut reactor = Reactor::new().unwrap();
        let (mut near, _far) = UnixStream::pair().unwrap();
        let registration = reactor.handle().register(&mut near, interest).unwrap();
        turn_until(&mut reactor, || {
            !interest.is_writable() || flags(&registration, interest).is_writable()
        });
        registration.assume_ready(flag);
        let (counter, waker) = Wakes::new();
        let mut cx = Context::from_waker(&waker);
        let mut calls = 0;
        let mut retried = pin!(registration.retry_io(interest, || {
            calls += 1;
            if calls < 4 { would_block() } else { Ok(()) }
        }));
        for n in 1..4 {
            assert!(retried.as_mut().poll(&mut cx).is_pending());
            // It lets other tasks run, and asks to be polled again.
            assert_eq!(counter.get(), n);
        }
        assert!(retried.poll(&mut cx).is_ready());
    }
}

/// An operation on the source that would block shows that a closed flag is outdated, as after
/// another writer has opened a named pipe. It is tried once per poll, and the next event wakes it.
#[test]
fn an_operation_on_the_source_waits_although_its_direction_is_closed() {
    let mut reactor = Reactor::new().unwrap();
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let registration = reactor.handle().register(&mut near, BOTH).unwrap();
    turn_until(&mut reactor, || flags(&registration, BOTH).is_writable());
    fill(&registration, &near);
    registration.assume_ready(Ready::READ_CLOSED | Ready::WRITE_CLOSED);
    let (counter, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    let tries = Cell::new(0);
    for n in 1..4 {
        let read = registration.poll_read_io(&mut cx, || {
            tries.set(tries.get() + 1);
            (&near).read(&mut [0; 8])
        });
        assert!(read.is_pending());
        let write = registration.poll_write_io(&mut cx, || {
            tries.set(tries.get() + 1);
            (&near).write(b"x")
        });
        assert!(write.is_pending());
        assert_eq!((tries.get(), counter.get()), (2 * n, 0));
    }
    let mut reading = pin!(registration.async_io(Interest::READABLE, || {
        tries.set(tries.get() + 1);
        (&near).read(&mut [0; 8])
    }));
    for _ in 0..3 {
        assert!(reading.as_mut().poll(&mut cx).is_pending());
    }
    assert_eq!(counter.get(), 0);
    far.write_all(b"abc").unwrap();
    turn_until(&mut reactor, || counter.get() > 0);
    let Poll::Ready(read) = reading.poll(&mut cx) else {
        panic!("the read is pending although data has arrived");
    };
    assert_eq!((read.unwrap(), tries.get()), (3, 8));
}

/// A wait after an event that was tried ends with the next event.
#[test]
fn an_operation_that_waits_again_is_woken_by_the_next_event() {
    let state = IoState::new();
    let mut batch = WakerBatch::new();
    let _ = state.set_ready(Ready::READ_CLOSED, &mut batch);
    let tried = state.try_ready(BOTH).unwrap().unwrap();
    let (counter, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    let mut waiting = pin!(state.ready_after(BOTH, tried));
    assert!(waiting.as_mut().poll(&mut cx).is_pending());
    let _ = state.set_ready(Ready::WRITABLE, &mut batch);
    batch.wake_all();
    assert_eq!(counter.get(), 1);
    let Poll::Ready(event) = waiting.poll(&mut cx) else {
        panic!("pending although a newer event has arrived");
    };
    assert!(event.unwrap().ready().is_writable());
    state.shut_down();
    let mut waiting = pin!(state.ready_after(BOTH, tried));
    let Poll::Ready(Err(error)) = waiting.as_mut().poll(&mut cx) else {
        panic!("pending although the reactor has shut down");
    };
    assert_eq!(error.kind(), io::ErrorKind::Other);
}
