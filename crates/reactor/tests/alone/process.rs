//! Signals and forks.

use std::io::Write;
use std::time::Duration;

use mio::net::UnixStream;
use raddle_primitives::thread;
use raddle_reactor::{Interest, Reactor};

use crate::ALONE;
use crate::common::turn_until;
use crate::fork::in_forked_child;

extern "C" fn ignore(_: libc::c_int) {}

#[test]
fn a_signal_ends_a_turn_without_error() {
    let _alone = ALONE.lock();
    let mut reactor = Reactor::new().unwrap();
    // SAFETY: the handler does nothing, which is safe in a signal; the action is plain data that is
    // valid when zeroed.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ignore as *const () as usize;
        libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut());
    }
    // SAFETY: no precondition.
    let this = unsafe { libc::pthread_self() } as usize;
    let handle = reactor.handle();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let sender = thread::spawn(move || {
        // Repeat until a signal has interrupted the waiting thread.
        while stopped.recv_timeout(Duration::from_millis(1))
            == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            // SAFETY: the thread joins this one before it ends.
            unsafe { libc::pthread_kill(this as libc::pthread_t, libc::SIGUSR1) };
        }
        drop(handle);
    });
    assert_eq!(reactor.turn(None, 8).unwrap(), 0);
    drop(stop);
    sender.join().unwrap();
}

/// 4301: the child shares the selector's descriptor.
#[test]
fn a_forked_child_is_refused_and_the_parent_unharmed() {
    let _alone = ALONE.lock();
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let mut registration = handle.register(&mut near, Interest::READABLE).unwrap();
    let mut source = UnixStream::pair().unwrap().0;
    let status = in_forked_child(|| {
        let is_refusal =
            |error: std::io::Error| error.to_string().contains("belongs to the parent process");
        handle
            .register(&mut source, Interest::READABLE)
            .is_err_and(is_refusal)
            // Dropping a socket does the same, while the parent still waits for it.
            && registration.deregister(&mut near).is_err_and(is_refusal)
    });
    assert_eq!(status, 0);

    far.write_all(b"x").unwrap();
    turn_until(&mut reactor, || {
        registration
            .try_ready(Interest::READABLE)
            .unwrap()
            .is_some()
    });
}
