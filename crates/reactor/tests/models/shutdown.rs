//! Models of the table: registering and deregistering race with the shutdown and with pending
//! events.

use std::future::poll_fn;
use std::io;
use std::time::Duration;

use mio::event::Source;
use mio::{Registry, Token};
use raddle_primitives::model::Model;
use raddle_primitives::thread;
use raddle_reactor::{Interest, Reactor};
use raddle_testing::block_on;

/// A source that is never registered with the selector.
struct Nothing;

impl Source for Nothing {
    fn register(&mut self, _: &Registry, _: Token, _: mio::Interest) -> io::Result<()> {
        Ok(())
    }

    fn reregister(&mut self, _: &Registry, _: Token, _: mio::Interest) -> io::Result<()> {
        Ok(())
    }

    fn deregister(&mut self, _: &Registry) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_registration_against_shutdown_is_woken_or_refused() {
    Model::new().check(|| {
        let mut reactor = Reactor::new().unwrap();
        let handle = reactor.handle();
        let registrant = {
            let handle = handle.clone();
            thread::spawn(move || {
                // The registration is refused, or its waiter is woken.
                if let Ok(registration) = handle.register(&mut Nothing, Interest::READABLE) {
                    let waited = block_on(poll_fn(|cx| registration.poll_read_ready(cx)));
                    assert!(waited.is_err());
                }
            })
        };
        reactor.shutdown();
        registrant.join().unwrap();
        assert_eq!(handle.registered_count(), 0);
    });
}

#[test]
fn a_deregistration_against_shutdown_frees_once() {
    Model::new().check(|| {
        let mut reactor = Reactor::new().unwrap();
        let handle = reactor.handle();
        let mut registration = handle.register(&mut Nothing, Interest::READABLE).unwrap();
        let leaver = thread::spawn(move || {
            registration.deregister(&mut Nothing).unwrap();
        });
        reactor.shutdown();
        leaver.join().unwrap();
        assert_eq!(handle.registered_count(), 0);
    });
}

/// An event is dispatched while its registration is replaced by another in the same slot
/// (RUSTSEC-2024-0019, tokio 3019). All interleavings are explored.
#[test]
fn a_stale_event_reaches_no_successor() {
    Model::new().check(|| {
        let mut reactor = Reactor::new().unwrap();
        let handle = reactor.handle();
        let (mut source, _peer) = mio::net::UnixStream::pair().unwrap();
        let former = handle.register(&mut source, Interest::WRITABLE).unwrap();
        // The event is taken but not dispatched yet.
        reactor.turn(Some(Duration::ZERO), 0).unwrap();
        let driver = thread::spawn(move || {
            reactor.turn(Some(Duration::ZERO), 1).unwrap();
            reactor
        });
        drop(former);
        let next = handle.register(&mut Nothing, Interest::WRITABLE).unwrap();
        let reactor = driver.join().unwrap();
        assert!(next.try_ready(Interest::WRITABLE).unwrap().is_none());
        drop((next, reactor));
        assert_eq!(handle.registered_count(), 0);
    });
}

/// Two threads that register and deregister at the same time get different slots. All interleavings
/// are explored.
#[test]
fn two_concurrent_registrations_get_different_slots() {
    Model::new().check(|| {
        let reactor = Reactor::new().unwrap();
        let handle = reactor.handle();
        let other = {
            let handle = handle.clone();
            thread::spawn(move || handle.register(&mut Nothing, Interest::READABLE).unwrap())
        };
        let one = handle.register(&mut Nothing, Interest::READABLE).unwrap();
        let other = other.join().unwrap();
        assert_eq!(handle.registered_count(), 2);
        drop(one);
        assert_eq!(handle.registered_count(), 1);
        assert!(other.try_ready(Interest::READABLE).unwrap().is_none());
        drop(other);
        assert_eq!(handle.registered_count(), 0);
    });
}

/// A deliberate fault: a thread expects to register before the shutdown.
#[test]
#[should_panic(expected = "has shut down")]
fn canary_a_late_registration_is_caught() {
    Model::new().preemptions(3).check(|| {
        let mut reactor = Reactor::new().unwrap();
        let handle = reactor.handle();
        let driver = thread::spawn(move || reactor.shutdown());
        let registration = handle.register(&mut Nothing, Interest::READABLE);
        driver.join().unwrap();
        registration.unwrap();
    });
}
