//! Helpers of the tests of a reactor.

use std::time::{Duration, Instant};

use mio::net::UnixStream;
use raddle_reactor::{Handle, Interest, Reactor, Registration};

/// Turns the reactor until `done` returns true; panics after 30 seconds.
pub(crate) fn turn_until(reactor: &mut Reactor, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < deadline, "no event within 30 seconds");
        reactor.turn(Some(Duration::from_millis(100)), 64).unwrap();
    }
}

/// The two ends of a connection. The first is registered for reading.
pub(crate) fn pair(handle: &Handle) -> (UnixStream, UnixStream, Registration) {
    let (mut near, far) = UnixStream::pair().unwrap();
    let registration = handle.register(&mut near, Interest::READABLE).unwrap();
    (near, far, registration)
}

pub(crate) fn readable(registration: &Registration) -> bool {
    registration
        .try_ready(Interest::READABLE)
        .unwrap()
        .is_some()
}
