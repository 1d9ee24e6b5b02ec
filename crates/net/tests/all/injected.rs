//! Rare errors of the operating system, which a filter of system calls injects into one thread.

use std::future::{poll_fn, ready};
use std::pin::pin;
use std::task::Poll;

use raddle_net::TcpListener;
use raddle_primitives::thread;
use raddle_testing::{block_on, poll};

use crate::common::Driver;
use crate::refuse::{self, refuse};

/// 3529, 6221: the accept also waits while the whole system lacks resources, and then returns the
/// connection.
#[test]
fn accept_waits_while_the_system_lacks_resources() {
    if !refuse::is_possible() {
        return;
    }
    for code in [libc::ENFILE, libc::ENOBUFS, libc::ENOMEM] {
        let driver = Driver::start();
        let _current = driver.handle.enter();
        let listener = block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let addr = listener.local_addr().unwrap();
        let [_first, client] = [(); 2].map(|()| std::net::TcpStream::connect(addr).unwrap());
        // The listener is known to be readable from now on.
        block_on(listener.accept()).unwrap();
        let mut waiting = Box::pin(async move {
            let mut pauses = 0;
            let sleep = |_| {
                pauses += 1;
                let mut waits = pauses == 3;
                poll_fn(move |_| match std::mem::take(&mut waits) {
                    true => Poll::Pending,
                    false => Poll::Ready(()),
                })
            };
            let (_, peer) = listener.accept_retrying(sleep).await.unwrap();
            (peer, pauses)
        });
        // During the third pause the future moves to a thread that may accept.
        let waiting = thread::spawn(move || {
            refuse(libc::SYS_accept4, code);
            assert!(poll(waiting.as_mut()).is_pending());
            waiting
        });
        let (peer, pauses) = block_on(waiting.join().unwrap());
        assert_eq!((peer, pauses), (client.local_addr().unwrap(), 3));
    }
}

/// An accept loop yields after many connections that fail one after the other.
#[test]
fn errors_of_connections_use_up_the_budget() {
    if !refuse::is_possible() {
        return;
    }
    let driver = Driver::start();
    let _current = driver.handle.enter();
    let listener = block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let addr = listener.local_addr().unwrap();
    let _client = std::net::TcpStream::connect(addr).unwrap();
    // The listener is known to be readable from now on.
    block_on(listener.accept()).unwrap();
    let refused = thread::spawn(move || {
        refuse(libc::SYS_accept4, libc::ECONNABORTED);
        let mut accepting = pin!(listener.accept_retrying(|_| ready(())));
        let polled = raddle_leaf::coop::budget(|| poll(accepting.as_mut()));
        polled.is_pending() && raddle_leaf::coop::budget(|| poll(accepting.as_mut())).is_pending()
    });
    assert!(refused.join().unwrap());
}

/// 7563, 6329: a full selector refuses sockets, and nothing of a refused socket is kept.
#[test]
fn registering_fails_if_the_selector_is_full() {
    if !refuse::is_possible() {
        return;
    }
    let driver = Driver::start();
    let handle = driver.handle.clone();
    let (listener, _clients) = {
        let _current = handle.enter();
        let listener = block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let addr = listener.local_addr().unwrap();
        let clients = [(); 4].map(|()| std::net::TcpStream::connect(addr).unwrap());
        block_on(listener.accept()).unwrap();
        (listener, clients)
    };
    let refused = thread::spawn(move || {
        let _current = handle.enter();
        refuse(libc::SYS_epoll_ctl, libc::ENOSPC);
        for _ in 0..1_000 {
            let error = block_on(TcpListener::bind("127.0.0.1:0")).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::ENOSPC));
        }
        // The connections are accepted and closed, since they cannot be registered. Each causes a
        // pause.
        let mut pauses = 0;
        let mut accepting = Box::pin(listener.accept_retrying(|_| {
            pauses += 1;
            ready(())
        }));
        assert!(poll(accepting.as_mut()).is_pending());
        drop(accepting);
        assert_eq!(pauses, 3);
        assert_eq!(handle.registered_count(), 1);
        // The system refuses the deregistration as well.
        drop(listener);
        assert_eq!(handle.registered_count(), 0);
    });
    refused.join().unwrap();
}
