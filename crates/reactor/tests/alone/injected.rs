//! A system without memory, space or descriptors for the selector: new registrations are refused,
//! and existing ones keep working.

use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::time::Duration;

use mio::net::UnixStream;
use mio::unix::SourceFd;
use raddle_primitives::thread;
use raddle_reactor::{Interest, Reactor, TimeoutClock};

use crate::ALONE;
use crate::common::{pair, readable, turn_until};
use crate::refuse::{self, refuse};

/// The system call with which libc waits.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
const WAIT: libc::c_long = libc::SYS_epoll_wait;
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
const WAIT: libc::c_long = libc::SYS_epoll_pwait;

fn code<T>(result: io::Result<T>) -> Option<i32> {
    result.map(drop).unwrap_err().raw_os_error()
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// If a reactor cannot be created, the descriptors that were opened for it are closed.
#[test]
fn creating_a_reactor_without_a_selector_returns_an_error() {
    if !refuse::is_possible() {
        return;
    }
    let _alone = ALONE.lock();
    for (call, error) in [
        (libc::SYS_epoll_create1, libc::EMFILE),
        (libc::SYS_epoll_create1, libc::ENOMEM),
        (libc::SYS_eventfd2, libc::ENOMEM),
        (libc::SYS_epoll_ctl, libc::ENOMEM),
        (libc::SYS_epoll_ctl, libc::ENOSPC),
    ] {
        let before = descriptors();
        let refused = thread::spawn(move || {
            refuse(call, error);
            for _ in 0..10 {
                assert_eq!(code(Reactor::new()), Some(error));
            }
        });
        refused.join().unwrap();
        assert_eq!(descriptors(), before);
    }
    Reactor::new().unwrap();
}

/// The error of a missing timer names the call, and leaves no descriptors.
#[test]
fn creating_a_reactor_without_its_timer_returns_an_error() {
    if !refuse::is_possible() {
        return;
    }
    let _alone = ALONE.lock();
    let before = descriptors();
    let refused = thread::spawn(|| {
        refuse(libc::SYS_timerfd_create, libc::ENOSYS);
        Reactor::new().unwrap();
        let error = Reactor::with_timeout_clock(TimeoutClock::Precise).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        assert!(error.to_string().contains("timerfd_create"), "{error}");
    });
    refused.join().unwrap();
    assert_eq!(descriptors(), before);
}

/// 7563, 6329: a source that was refused leaves no registration and can be registered later. A
/// source whose deregistration fails leaves no registration either.
#[test]
fn registering_without_memory_or_capacity_returns_an_error() {
    if !refuse::is_possible() {
        return;
    }
    let _alone = ALONE.lock();
    for error in [libc::ENOMEM, libc::ENOSPC] {
        let mut reactor = Reactor::new().unwrap();
        let handle = reactor.handle();
        let (_near, mut far, registration) = pair(&handle);
        let (mut leaving, mut leaving_far, mut left) = pair(&handle);
        let (near, mut source_far) = UnixStream::pair().unwrap();
        // Use its descriptor: mio considers a source registered once it has tried to register it.
        let source = near.as_raw_fd();
        let refused = thread::spawn({
            let handle = handle.clone();
            move || {
                refuse(libc::SYS_epoll_ctl, error);
                for _ in 0..1_000 {
                    let registered = handle.register(&mut SourceFd(&source), Interest::READABLE);
                    assert_eq!(code(registered), Some(error));
                }
                assert_eq!(handle.registered_count(), 2);
                assert_eq!(code(left.deregister(&mut leaving)), Some(error));
                assert_eq!(handle.registered_count(), 1);
                leaving
            }
        });
        // No registration is left for the second source.
        let _leaving = refused.join().unwrap();
        leaving_far.write_all(b"x").unwrap();
        let dispatched = reactor.turn(Some(Duration::from_millis(20)), usize::MAX);
        assert_eq!(dispatched.unwrap(), 0);

        let later = handle
            .register(&mut SourceFd(&source), Interest::READABLE)
            .unwrap();
        far.write_all(b"x").unwrap();
        source_far.write_all(b"x").unwrap();
        turn_until(&mut reactor, || readable(&registration) && readable(&later));
    }
}

/// A wait that fails loses no event: the next wait returns it. An interrupted wait is not an error.
#[test]
fn a_failing_wait_returns_an_error() {
    if !refuse::is_possible() {
        return;
    }
    let _alone = ALONE.lock();
    for error in [libc::EINTR, libc::ENOMEM] {
        let mut reactor = Reactor::new().unwrap();
        let handle = reactor.handle();
        let (_near, mut far, registration) = pair(&handle);
        far.write_all(b"x").unwrap();
        let failed = thread::spawn(move || {
            refuse(WAIT, error);
            for timeout in [None, Some(Duration::ZERO), Some(Duration::from_secs(60))] {
                let turned = reactor.turn(timeout, usize::MAX);
                if error == libc::EINTR {
                    assert_eq!(turned.unwrap(), 0);
                } else {
                    assert_eq!(code(turned), Some(error));
                }
            }
            reactor
        });
        let mut reactor = failed.join().unwrap();
        assert!(!readable(&registration));
        assert_eq!(reactor.turn(None, usize::MAX).unwrap(), 1);
        assert!(readable(&registration));
    }
}

#[test]
fn a_turn_that_only_looks_makes_no_system_call_while_nothing_is_registered() {
    if !refuse::is_possible() {
        return;
    }
    let _alone = ALONE.lock();
    let looked = thread::spawn(|| {
        let mut reactor = Reactor::new().unwrap();
        refuse(WAIT, libc::ENOMEM);
        assert_eq!(reactor.turn(Some(Duration::ZERO), usize::MAX).unwrap(), 0);
        let (_near, _far, registration) = pair(&reactor.handle());
        let turned = reactor.turn(Some(Duration::ZERO), usize::MAX);
        assert_eq!(code(turned), Some(libc::ENOMEM));
        drop(registration);
        assert_eq!(reactor.turn(Some(Duration::ZERO), usize::MAX).unwrap(), 0);
        let waited = reactor.turn(Some(Duration::from_secs(60)), usize::MAX);
        assert_eq!(code(waited), Some(libc::ENOMEM));
    });
    looked.join().unwrap();
}
