//! A source with its registration: its methods, its budget and its deregistration.

use std::future::Future;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use mio::net::UnixStream;
use mio::unix::SourceFd;
use raddle_leaf::coop::budget;
use raddle_reactor::{Evented, Interest, Reactor, Ready};
use raddle_testing::Wakes;

use crate::common::turn_until;

const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

fn pair(reactor: &Reactor) -> (Evented<UnixStream>, UnixStream) {
    let (near, far) = UnixStream::pair().unwrap();
    let near = Evented::new(near, BOTH, &reactor.handle()).unwrap();
    (near, far)
}

fn now<T>(poll: Poll<io::Result<T>>) -> T {
    let Poll::Ready(result) = poll else {
        panic!("the operation is pending");
    };
    result.unwrap()
}

#[test]
fn operations_wait_for_their_direction() {
    let mut reactor = Reactor::new().unwrap();
    let (near, mut far) = pair(&reactor);
    assert!(near.handle().is_same_reactor(&reactor.handle()));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(near.poll_read_ready(&mut cx).is_pending());
    assert!(near.poll_write_ready(&mut cx).is_pending());
    let write = |stream: &UnixStream| (&*stream).write(b"x");
    let read = |stream: &UnixStream| (&*stream).read(&mut [0; 8]);
    assert!(near.poll_write_io(&mut cx, write).is_pending());
    assert_eq!(reactor.turn(None, 8).unwrap(), 1);

    now(near.poll_write_ready(&mut cx));
    assert_eq!(now(near.poll_write_io(&mut cx, write)), 1);
    assert!(near.poll_read_ready(&mut cx).is_pending());
    assert!(near.poll_read_io(&mut cx, read).is_pending());
    let refused = near.try_io(Interest::READABLE, read).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
    let mut reading = pin!(near.async_io(Interest::READABLE, read));
    let mut waiting = pin!(near.ready(Interest::READABLE));
    assert!(reading.as_mut().poll(&mut cx).is_pending());
    assert!(waiting.as_mut().poll(&mut cx).is_pending());

    far.write_all(b"abc").unwrap();
    assert_eq!(reactor.turn(None, 8).unwrap(), 1);
    now(near.poll_read_ready(&mut cx));
    assert_eq!(now(waiting.poll(&mut cx)), Ready::READABLE);
    assert_eq!(now(reading.poll(&mut cx)), 3);
    far.write_all(b"de").unwrap();
    assert_eq!(now(near.poll_read_io(&mut cx, read)), 2);
    far.write_all(b"f").unwrap();
    assert_eq!(near.try_io(Interest::READABLE, read).unwrap(), 1);
}

#[test]
fn an_operation_is_tried_at_once_if_readiness_is_assumed() {
    let reactor = Reactor::new().unwrap();
    let (near, _far) = pair(&reactor);
    let near = near.assuming(Ready::WRITABLE);
    let mut cx = Context::from_waker(Waker::noop());
    let written = near.poll_write_io(&mut cx, |mut stream| stream.write(b"x"));
    assert_eq!(now(written), 1);
}

/// The budget of a poll is 128 units.
#[test]
fn an_operation_that_completes_costs_a_unit_and_one_that_waits_costs_nothing() {
    let reactor = Reactor::new().unwrap();
    let (near, _far) = pair(&reactor);
    let near = near.assuming(Ready::WRITABLE);
    let (counter, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    budget(|| {
        for _ in 0..1_000 {
            assert!(near.poll_read_ready(&mut cx).is_pending());
            assert!(
                pin!(near.ready(Interest::READABLE))
                    .poll(&mut cx)
                    .is_pending()
            );
        }
        for _ in 0..64 {
            now(near.poll_write_ready(&mut cx));
            now(pin!(near.ready(Interest::WRITABLE)).poll(&mut cx));
        }
        assert_eq!(counter.get(), 0);
        assert!(near.poll_write_ready(&mut cx).is_pending());
        assert_eq!(counter.get(), 1);
        // Only an operation that never waits uses no budget.
        let written = near.try_io(Interest::WRITABLE, |mut stream| stream.write(b"x"));
        assert_eq!(written.unwrap(), 1);
    });
}

#[test]
fn a_source_that_is_taken_out_can_be_registered_again() {
    let mut reactor = Reactor::new().unwrap();
    let (near, mut far) = pair(&reactor);
    let near = near.into_inner().unwrap();
    assert_eq!(reactor.handle().registered_count(), 0);
    let near = Evented::new(near, Interest::READABLE, &reactor.handle()).unwrap();
    far.write_all(b"x").unwrap();
    let event = || near.registration().try_ready(Interest::READABLE).unwrap();
    turn_until(&mut reactor, || event().is_some());
}

/// The selector removes a source by itself only when the last descriptor of it is closed.
#[test]
fn a_dropped_source_is_deregistered_while_its_descriptor_is_open() {
    struct Borrowed(RawFd);
    impl mio::event::Source for Borrowed {
        fn register(
            &mut self,
            registry: &mio::Registry,
            token: mio::Token,
            interest: mio::Interest,
        ) -> io::Result<()> {
            SourceFd(&self.0).register(registry, token, interest)
        }
        fn reregister(
            &mut self,
            _: &mio::Registry,
            _: mio::Token,
            _: mio::Interest,
        ) -> io::Result<()> {
            unreachable!("a registration does not change")
        }
        fn deregister(&mut self, registry: &mio::Registry) -> io::Result<()> {
            SourceFd(&self.0).deregister(registry)
        }
    }
    let reactor = Reactor::new().unwrap();
    let (near, _far) = UnixStream::pair().unwrap();
    for _ in 0..2 {
        let source = Borrowed(near.as_raw_fd());
        drop(Evented::new(source, BOTH, &reactor.handle()).unwrap());
        assert_eq!(reactor.handle().registered_count(), 0);
    }
}

#[test]
fn the_debug_form_is_that_of_the_source() {
    let reactor = Reactor::new().unwrap();
    let (near, _far) = pair(&reactor);
    assert_eq!(format!("{near:?}"), format!("{:?}", *near));
}
