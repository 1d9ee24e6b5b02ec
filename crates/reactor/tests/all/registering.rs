//! Registration and deregistration: nothing leaks, and no event reaches another source.

use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use mio::event::Source;
use mio::net::UnixStream;
use mio::unix::SourceFd;
use mio::{Registry, Token};
use raddle_reactor::{Interest, Reactor};
use raddle_testing::block_on;

use crate::common::{pair, readable, turn_until};

const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

/// RUSTSEC-2024-0019, tokio-core 172: a stale interest of a descriptor number that is reused.
#[test]
fn a_duplicated_descriptor_does_not_reach_the_successor() {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let (near, mut far, registration) = pair(&handle);
    // The duplicate keeps the old interest alive in the selector, and the registration is dropped
    // without deregistering there.
    let duplicate: OwnedFd = near.as_fd().try_clone_to_owned().unwrap();
    drop((near, registration));
    // The successor has the same slot, and usually the same descriptor.
    let (_near, mut successor_far, successor) = pair(&handle);
    assert_eq!(handle.registered_count(), 1);

    far.write_all(b"old").unwrap();
    let dispatched = reactor.turn(Some(Duration::from_millis(20)), usize::MAX);
    assert_eq!(dispatched.unwrap(), 0);
    assert!(!readable(&successor));

    successor_far.write_all(b"new").unwrap();
    turn_until(&mut reactor, || readable(&successor));
    drop(duplicate);
}

/// tokio-core 243: a stale token.
#[test]
fn an_event_of_a_deregistered_source_does_not_reach_its_successor() {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let mut sources: Vec<_> = (0..4).map(|_| pair(&handle)).collect();
    for (_, far, _) in &mut sources {
        far.write_all(b"x").unwrap();
    }
    assert_eq!(reactor.turn(None, 1).unwrap(), 1);
    // Three events are pending when all sources are deregistered and others are registered.
    for (near, _, registration) in &mut sources {
        registration.deregister(near).unwrap();
    }
    let successors: Vec<_> = (0..4).map(|_| pair(&handle)).collect();
    assert_eq!(handle.registered_count(), 4);
    for _ in 0..4 {
        assert_eq!(reactor.turn(Some(Duration::ZERO), 1).unwrap(), 0);
    }
    assert!(successors.iter().all(|(_, _, r)| !readable(r)));
}

/// 3019: slots are freed and reused while events are pending.
#[test]
fn registering_and_deregistering_during_dispatch_loses_no_event() {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let waves = raddle_primitives::thread::spawn({
        let handle = handle.clone();
        move || {
            for _ in 0..200 {
                let mut wave: Vec<_> = (0..20).map(|_| pair(&handle)).collect();
                for (_, far, _) in &mut wave {
                    far.write_all(b"x").unwrap();
                }
                let (near, _, last) = &wave[19];
                let read = block_on(poll_fn(|cx| {
                    last.poll_read_io(cx, || {
                        let mut stream: &UnixStream = near;
                        stream.read(&mut [0; 8])
                    })
                }));
                assert_eq!(read.unwrap(), 1);
            }
            handle.unpark();
        }
    });
    while !waves.is_finished() {
        reactor.turn(Some(Duration::from_millis(100)), 3).unwrap();
    }
    waves.join().unwrap();
    assert_eq!(handle.registered_count(), 0);
}

/// 6329: the selector refuses a source.
#[test]
fn a_refused_registration_leaks_nothing() {
    let reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    // epoll refuses regular files; -1 stands for a descriptor that was closed before.
    for _ in 0..10_000 {
        let error = handle.register(&mut SourceFd(&-1), BOTH).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EBADF));
    }
    assert_eq!(handle.registered_count(), 0);
}

/// 7563: the descriptor was closed first.
#[test]
fn a_refused_deregistration_leaks_nothing() {
    let reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    for _ in 0..10_000 {
        let (near, _far, mut registration) = pair(&handle);
        drop(near);
        // The descriptor is closed; its number may belong to another source or be unused.
        assert!(registration.deregister(&mut SourceFd(&-1)).is_err());
        assert_eq!(handle.registered_count(), 0);
    }
}

#[test]
fn a_source_that_panics_leaks_nothing() {
    struct Panics;
    impl Source for Panics {
        fn register(&mut self, _: &Registry, _: Token, _: mio::Interest) -> io::Result<()> {
            panic!("on purpose")
        }
        fn reregister(&mut self, _: &Registry, _: Token, _: mio::Interest) -> io::Result<()> {
            unreachable!()
        }
        fn deregister(&mut self, _: &Registry) -> io::Result<()> {
            unreachable!()
        }
    }
    let reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let registered = catch_unwind(AssertUnwindSafe(|| handle.register(&mut Panics, BOTH)));
    assert!(registered.is_err());
    assert_eq!(handle.registered_count(), 0);
}

#[test]
fn tokens_differ_though_slots_are_reused() {
    /// Fewer than the number of generations: 2^14 on 32-bit targets.
    const COUNT: usize = if usize::BITS >= 64 { 100_000 } else { 10_000 };
    struct Remembers(Vec<Token>);
    impl Source for Remembers {
        fn register(&mut self, _: &Registry, token: Token, _: mio::Interest) -> io::Result<()> {
            self.0.push(token);
            Ok(())
        }
        fn reregister(&mut self, _: &Registry, _: Token, _: mio::Interest) -> io::Result<()> {
            Ok(())
        }
        fn deregister(&mut self, _: &Registry) -> io::Result<()> {
            Ok(())
        }
    }
    let reactor = Reactor::new().unwrap();
    let mut source = Remembers(Vec::new());
    for _ in 0..COUNT {
        drop(reactor.handle().register(&mut source, BOTH).unwrap());
    }
    source.0.sort_unstable();
    source.0.dedup();
    assert_eq!(source.0.len(), COUNT);
}
