//! Models of the table: registering and deregistering against shutdown.
#![cfg(raddle_loom)]

mod common;

use std::future::poll_fn;
use std::io;

use common::block_on;
use mio::event::Source;
use mio::{Registry, Token};
use raddle_reactor::{Interest, Reactor};
use raddle_std::model::Model;
use raddle_std::thread;

/// A source the selector never hears of.
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
fn a_registration_against_shutdown_is_told() {
    Model::new().preemptions(3).check(|| {
        let mut reactor = Reactor::new().unwrap();
        let handle = reactor.handle();
        let registrant = {
            let handle = handle.clone();
            thread::spawn(move || {
                // Refused, or told while it waits.
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
    Model::new().preemptions(3).check(|| {
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

/// The planted mistake: a registrant that counts on being first.
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
