//! Shutdown, signals and forks.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::task::Context;

use mio::net::UnixStream;
use raddle_primitives::thread;
use raddle_reactor::{Handle, Interest, Reactor, is_shut_down};
use raddle_testing::{Wakes, block_on, calling};

#[test]
fn shutdown_wakes_all_waiters_with_an_error() {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let (mut near, _far) = UnixStream::pair().unwrap();
    let mut registration = handle.register(&mut near, Interest::READABLE).unwrap();
    let (counter, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    {
        let mut waiting = pin!(registration.ready(Interest::READABLE));
        assert!(waiting.as_mut().poll(&mut cx).is_pending());
        assert!(registration.poll_read_ready(&mut cx).is_pending());
        assert!(registration.poll_write_ready(&mut cx).is_pending());
        reactor.shutdown();
        assert_eq!(counter.get(), 3);
        let error = block_on(waiting).unwrap_err();
        assert!(error.to_string().contains("has shut down"), "{error}");
        assert!(is_shut_down(&error));
    }
    assert!(block_on(poll_fn(|cx| registration.poll_write_ready(cx))).is_err());
    let tried = registration.try_io(Interest::READABLE, || Ok(()));
    assert!(tried.unwrap_err().to_string().contains("has shut down"));

    let refused = handle.register(&mut UnixStream::pair().unwrap().0, Interest::READABLE);
    assert!(refused.unwrap_err().to_string().contains("has shut down"));
    assert_eq!(handle.registered_count(), 0);
    // Remaining registrations can still be deregistered.
    registration.deregister(&mut near).unwrap();
}

#[test]
fn is_shutdown_is_false_for_other_errors() {
    assert!(!is_shut_down(&io::Error::other(
        "the runtime has shut down"
    )));
    assert!(!is_shut_down(&io::ErrorKind::NotConnected.into()));
}

/// A second panic during the unwinding of the first would abort the process.
#[test]
fn a_waker_that_panics_does_not_prevent_the_wakes_of_a_shutdown() {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let mut pairs: Vec<_> = (0..4).map(|_| UnixStream::pair().unwrap()).collect();
    let registrations: Vec<_> = pairs
        .iter_mut()
        .map(|(near, _)| handle.register(near, Interest::READABLE).unwrap())
        .collect();
    let (counter, waker) = Wakes::new();
    let panics = calling(|| panic!("a waker's panic"));
    let mut waits: Vec<_> = registrations
        .iter()
        .flat_map(|registration| (0..100).map(move |_| registration))
        .map(|registration| Box::pin(registration.ready(Interest::READABLE)))
        .collect();
    for (index, wait) in waits.iter_mut().enumerate() {
        // The first waker of each source and of each batch panics.
        let waker = if index % 10 == 0 { &panics } else { &waker };
        let mut cx = Context::from_waker(waker);
        assert!(wait.as_mut().poll(&mut cx).is_pending());
    }
    reactor.shutdown();
    assert_eq!(counter.get(), 360);
    for registration in &registrations {
        assert!(registration.try_ready(Interest::READABLE).is_err());
    }
}

/// 2903: a registration that races with the shutdown is woken or refused.
#[test]
fn dropping_a_reactor_ends_waits_on_other_threads() {
    for _ in 0..50 {
        let reactor = Reactor::new().unwrap();
        let handle = reactor.handle();
        let waiter = thread::spawn(move || {
            let (mut near, _far) = UnixStream::pair().unwrap();
            let Ok(registration) = handle.register(&mut near, Interest::READABLE) else {
                return;
            };
            assert!(block_on(registration.ready(Interest::READABLE)).is_err());
        });
        drop(reactor);
        waiter.join().unwrap();
    }
}

#[test]
fn an_inner_reactor_is_current_until_its_guard_is_dropped() {
    assert!(Handle::try_current().is_none());
    let outer = Reactor::new().unwrap();
    let inner = Reactor::new().unwrap();
    let mut source = UnixStream::pair().unwrap().0;
    {
        let outer_handle = outer.handle();
        let _outer = outer_handle.enter();
        {
            let inner_handle = inner.handle();
            let _inner = inner_handle.enter();
            let registered = Handle::current().register(&mut source, Interest::READABLE);
            assert_eq!(inner_handle.registered_count(), 1);
            drop(registered);
        }
        let _registered =
            Handle::current().register(&mut UnixStream::pair().unwrap().0, Interest::READABLE);
        assert_eq!(outer_handle.registered_count(), 1);
    }
    assert!(Handle::try_current().is_none());
}

#[test]
#[should_panic(expected = "; without a runtime, enter a raddle_reactor::Handle")]
fn current_without_a_reactor_panics_and_names_the_remedy() {
    Handle::current();
}
