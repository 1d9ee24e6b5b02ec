//! Turns of the reactor: limits, wakers, unpark, and the readiness that an event sets.

use std::collections::HashSet;
use std::future::Future;
use std::io::{self, Read, Write};
use std::net::Shutdown;
#[cfg(target_os = "linux")]
use std::net::{TcpListener, TcpStream};
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use mio::net::UnixStream;
#[cfg(target_os = "linux")]
use mio::unix::SourceFd;
use mio::unix::pipe;
use raddle_primitives::sync::Mutex;
use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::thread;
use raddle_reactor::{
    Clearing, Collected, Handle, Interest, IoState, Reactor, Ready, Registration, WakerBatch,
};
use raddle_testing::{Wakes, calling};

use crate::common::turn_until;

const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

fn flags(registration: &Registration, interest: Interest) -> Ready {
    let event = registration.try_ready(interest).unwrap();
    event.map_or(Ready::EMPTY, |event| event.ready())
}

/// A batch holds 32 wakers.
#[test]
fn a_waker_that_panics_in_a_full_batch_does_not_prevent_other_wakes() {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let (counter, waker) = Wakes::new();
    let panics = calling(|| panic!("a waker's panic"));
    let mut sources: Vec<_> = (0..2)
        .map(|_| {
            let (mut near, far) = UnixStream::pair().unwrap();
            let registration = handle.register(&mut near, Interest::READABLE).unwrap();
            (near, far, registration)
        })
        .collect();
    for (_, far, _) in &mut sources {
        far.write_all(b"x").unwrap();
    }
    let mut waits: Vec<_> = sources
        .iter()
        .flat_map(|(_, _, registration)| (0..100).map(move |_| registration))
        .map(|registration| Box::pin(registration.ready(Interest::READABLE)))
        .collect();
    for (index, wait) in waits.iter_mut().enumerate() {
        let waker = if index % 10 == 0 { &panics } else { &waker };
        let mut cx = Context::from_waker(waker);
        assert!(wait.as_mut().poll(&mut cx).is_pending());
    }
    turn_until(&mut reactor, || counter.get() == 180);
}

#[test]
fn a_thousand_events_are_dispatched_in_turns_of_sixty_four() {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let mut cx = Context::from_waker(Waker::noop());
    let mut sources = Vec::new();
    let (counter, waker) = Wakes::new();
    // 300 pairs: each descriptor counts against the limit of the process.
    for _ in 0..300 {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        let registration = handle.register(&mut near, Interest::READABLE).unwrap();
        let polled = registration.poll_read_ready(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        far.write_all(b"x").unwrap();
        sources.push((near, far, registration));
    }
    let mut turns = Vec::new();
    while counter.get() < 300 {
        turns.push(reactor.turn(Some(Duration::from_secs(10)), 64).unwrap());
        assert_eq!(counter.get(), turns.iter().sum::<usize>());
    }
    assert_eq!(turns, [64, 64, 64, 64, 44]);
    assert_eq!(reactor.turn(Some(Duration::ZERO), 64).unwrap(), 0);
    for (_, _, registration) in &sources {
        assert!(registration.poll_read_ready(&mut cx).is_ready());
    }
    assert_eq!(handle.metrics().events, 300);
}

/// An event sets the readiness of its source and no other.
#[test]
fn a_source_with_an_empty_send_buffer_is_only_writable() {
    let mut reactor = Reactor::new().unwrap();
    let (mut near, _far) = UnixStream::pair().unwrap();
    let registration = reactor.handle().register(&mut near, BOTH).unwrap();
    assert_eq!(reactor.turn(None, 8).unwrap(), 1);
    assert_eq!(flags(&registration, BOTH), Ready::WRITABLE);
}

/// The selector is asked only for the registered interest: it reports no out-of-band data
/// otherwise.
#[cfg(target_os = "linux")]
#[test]
fn out_of_band_data_is_reported_to_a_source_that_waits_for_it() {
    let mut reactor = Reactor::new().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (near, _) = listener.accept().unwrap();
    let descriptor = near.as_raw_fd();
    let mut source = SourceFd(&descriptor);
    let handle = reactor.handle();
    let registration = handle.register(&mut source, Interest::PRIORITY).unwrap();
    // SAFETY: the descriptor is open, and one byte is read.
    let sent = unsafe { libc::send(far.as_raw_fd(), c"!".as_ptr().cast(), 1, libc::MSG_OOB) };
    assert_eq!(sent, 1);
    turn_until(&mut reactor, || {
        !flags(&registration, Interest::PRIORITY).is_empty()
    });
    assert!(flags(&registration, Interest::PRIORITY).is_priority());
}

#[test]
fn more_waiters_than_a_batch_holds_are_woken() {
    let mut reactor = Reactor::new().unwrap();
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let handle = reactor.handle();
    let registration = handle.register(&mut near, Interest::READABLE).unwrap();
    let (counter, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    let mut waiting: Vec<_> = (0..100)
        .map(|_| Box::pin(registration.ready(Interest::READABLE)))
        .collect();
    for future in &mut waiting {
        assert!(future.as_mut().poll(&mut cx).is_pending());
    }
    let mut writable = pin!(registration.ready(Interest::WRITABLE));
    assert!(writable.as_mut().poll(&mut cx).is_pending());
    // Half of them are deregistered, and their slots are reused.
    waiting.truncate(50);
    waiting.push(Box::pin(registration.ready(Interest::READABLE)));
    assert!(waiting[50].as_mut().poll(&mut cx).is_pending());

    far.write_all(b"x").unwrap();
    turn_until(&mut reactor, || counter.get() >= 51);
    assert_eq!(counter.get(), 51);
    for future in &mut waiting {
        assert!(future.as_mut().poll(&mut cx).is_ready());
    }
    assert!(writable.as_mut().poll(&mut cx).is_pending());
}

#[test]
fn unpark_ends_the_present_and_the_next_turn() {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    handle.unpark();
    assert_eq!(reactor.turn(None, 1).unwrap(), 0);
    let other = raddle_primitives::thread::spawn(move || handle.unpark());
    assert_eq!(reactor.turn(None, 1).unwrap(), 0);
    other.join().unwrap();
}

/// A selector with 32-bit milliseconds must neither shorten a long timeout nor make it infinite.
/// This timeout would wrap to zero.
#[test]
fn a_timeout_beyond_the_range_of_the_selector_waits() {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let unparked = Arc::new(AtomicBool::new(false));
    let thread = thread::spawn({
        let unparked = unparked.clone();
        move || {
            std::thread::sleep(Duration::from_millis(20));
            // ORDERING: pairs with the load after the turn.
            unparked.store(true, Ordering::Release);
            handle.unpark();
        }
    });
    let timeout = Duration::from_millis(1 << 32);
    assert_eq!(reactor.turn(Some(timeout), 64).unwrap(), 0);
    // ORDERING: pairs with the store.
    assert!(unparked.load(Ordering::Acquire));
    thread.join().unwrap();
}

/// mio 939: a half-close is not reported as a close.
#[test]
fn a_half_close_of_the_peer_sets_only_read_closed() {
    let mut reactor = Reactor::new().unwrap();
    let (mut near, far) = UnixStream::pair().unwrap();
    let registration = reactor.handle().register(&mut near, BOTH).unwrap();
    far.shutdown(Shutdown::Write).unwrap();
    turn_until(&mut reactor, || flags(&registration, BOTH).is_read_closed());
    let now = flags(&registration, BOTH);
    assert!(!now.is_write_closed() && !now.is_error(), "{now:?}");
    assert!(now.is_writable());

    // The end has been read; further turns dispatch no event.
    assert_eq!(near.read(&mut [0; 8]).unwrap(), 0);
    for _ in 0..10 {
        assert_eq!(reactor.turn(Some(Duration::ZERO), 8).unwrap(), 0);
    }
    // The other direction still works.
    near.write_all(b"still here").unwrap();
}

/// mio 449: events for readers do not wake a writer that waits.
#[test]
fn a_writer_is_not_woken_while_its_buffer_is_full() {
    let mut reactor = Reactor::new().unwrap();
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let registration = reactor.handle().register(&mut near, BOTH).unwrap();
    turn_until(&mut reactor, || flags(&registration, BOTH).is_writable());
    let mut written = 0;
    let (counter, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    let mut fill = |cx: &mut Context<'_>| {
        registration.poll_write_io(cx, || {
            let mut stream: &UnixStream = &near;
            written += stream.write(&[0; 4096])?;
            Ok(())
        })
    };
    while fill(&mut cx).is_ready() {}
    for _ in 0..10 {
        assert_eq!(reactor.turn(Some(Duration::ZERO), 8).unwrap(), 0);
    }
    assert_eq!(counter.get(), 0);
    // Free buffer space wakes the writer.
    let mut room = vec![0; 1 << 20];
    while far.read(&mut room).is_ok() {}
    turn_until(&mut reactor, || counter.get() > 0);
    assert!(fill(&mut cx).is_ready());
}

/// 2218: this event has only the error flag.
#[test]
fn a_pipe_without_reader_readies_its_writer() {
    let mut reactor = Reactor::new().unwrap();
    let (mut sender, receiver) = pipe::new().unwrap();
    let registration = reactor
        .handle()
        .register(&mut sender, Interest::WRITABLE)
        .unwrap();
    turn_until(&mut reactor, || {
        flags(&registration, Interest::WRITABLE).is_writable()
    });
    // Fill it, so that only the error can make it ready again.
    while registration
        .try_io(Interest::WRITABLE, || (&sender).write(&[0; 65_536]))
        .is_ok()
    {}
    assert!(flags(&registration, Interest::WRITABLE).is_empty());
    drop(receiver);
    turn_until(&mut reactor, || {
        flags(&registration, Interest::WRITABLE).is_writable()
    });
    let now = flags(&registration, Interest::WRITABLE | Interest::ERROR);
    assert!(now.is_error() && now.is_write_closed(), "{now:?}");
    // The direction that is closed is ready, so that the next operation gets the error.
    assert_eq!(flags(&registration, BOTH), Ready::WRITE_CLOSED);
    let error = registration.try_io(Interest::WRITABLE, || (&sender).write(b"x"));
    assert_eq!(error.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}

/// Bug: own, an error made both directions ready, and a reader got the error of an earlier send.
#[cfg(target_os = "linux")]
#[test]
fn an_error_alone_makes_no_read_ready() {
    let mut reactor = Reactor::new().unwrap();
    let bind = || std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let (socket, gone) = (bind(), bind());
    socket.set_nonblocking(true).unwrap();
    socket.connect(gone.local_addr().unwrap()).unwrap();
    drop(gone);
    let mut socket = mio::net::UdpSocket::from_std(socket);
    let registration = reactor.handle().register(&mut socket, BOTH).unwrap();
    turn_until(&mut reactor, || flags(&registration, BOTH).is_writable());
    let (reader, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    assert!(registration.poll_read_ready(&mut cx).is_pending());
    socket.send(b"x").unwrap();
    turn_until(&mut reactor, || {
        flags(&registration, Interest::ERROR).is_error()
    });
    assert_eq!(flags(&registration, Interest::READABLE), Ready::EMPTY);
    assert_eq!(reader.get(), 0);
    let write = flags(&registration, Interest::WRITABLE);
    assert_eq!(write, Ready::WRITABLE | Ready::WRITE_CLOSED);
    // An operation that waits for errors too gets it.
    let either = Interest::READABLE | Interest::ERROR;
    let error = registration.try_io(either, || socket.recv(&mut [0; 8]));
    assert_eq!(error.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
}

/// Bug: own, each batch of a herd began at the first waiter, so that the time was quadratic, and
/// waiters that had waited again were woken again.
#[test]
fn an_event_visits_each_waiter_of_a_herd_once() {
    let state = IoState::new();
    let (counter, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    let mut waits: Vec<_> = (0..100)
        .map(|_| Box::pin(state.ready(Interest::READABLE)))
        .collect();
    for wait in &mut waits {
        assert!(wait.as_mut().poll(&mut cx).is_pending());
    }
    let mut batch = WakerBatch::new();
    let mut collected = state.set_ready(Ready::READABLE, &mut batch);
    // One waiter takes the data, and all others wait again.
    let event = state.try_ready(Interest::READABLE).unwrap().unwrap();
    assert_eq!(state.clear_readiness(event), Clearing::Cleared);
    while collected == Collected::BatchFull {
        batch.wake_all();
        assert!(counter.get() < 100, "waiters are woken again and again");
        for wait in &mut waits {
            assert!(wait.as_mut().poll(&mut cx).is_pending());
        }
        collected = state.collect(Ready::READABLE, &mut batch);
    }
    batch.wake_all();
    assert_eq!(counter.get(), 100);
    // The next event wakes all of them.
    for wait in &mut waits {
        assert!(wait.as_mut().poll(&mut cx).is_pending());
    }
    let _ = state.set_ready(Ready::READABLE, &mut batch);
    state.shut_down();
    batch.wake_all();
    assert_eq!(counter.get(), 200);
}

#[test]
fn a_pipe_without_writer_readies_its_reader() {
    let mut reactor = Reactor::new().unwrap();
    let (sender, mut receiver) = pipe::new().unwrap();
    let handle = reactor.handle();
    let registration = handle.register(&mut receiver, Interest::READABLE).unwrap();
    drop(sender);
    turn_until(&mut reactor, || {
        flags(&registration, Interest::READABLE).is_read_closed()
    });
    let read = registration.try_io(Interest::READABLE, || (&receiver).read(&mut [0; 8]));
    assert_eq!(read.unwrap(), 0);
}

#[test]
fn an_outdated_close_makes_an_operation_ready_a_bounded_number_of_times() {
    let state = IoState::new();
    state.let_errors_pass();
    let mut batch = WakerBatch::new();
    // As for a refused datagram, which is reported once, with the closed flag.
    let refused = Ready::ERROR | Ready::WRITABLE | Ready::WRITE_CLOSED;
    let _ = state.set_ready(refused, &mut batch);
    let mut cx = Context::from_waker(Waker::noop());
    // Ready once because of the writable flag and once because of the closed flag, then no more.
    for _ in 0..3 {
        match state.poll_write_ready(&mut cx) {
            Poll::Ready(event) => {
                let _ = state.clear_readiness(event.unwrap());
            }
            Poll::Pending => return,
        }
    }
    panic!("still ready although the operation would block");
}

#[test]
fn try_io_runs_only_when_ready() {
    let mut reactor = Reactor::new().unwrap();
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let handle = reactor.handle();
    let registration = handle.register(&mut near, Interest::READABLE).unwrap();
    let mut ran = 0;
    let mut read = || {
        let result = registration.try_io(Interest::READABLE, || {
            ran += 1;
            (&near).read(&mut [0; 8])
        });
        (ran, result.map_err(|error| error.kind()))
    };
    assert_eq!(read(), (0, Err(io::ErrorKind::WouldBlock)));
    far.write_all(b"abc").unwrap();
    reactor.turn(None, 8).unwrap();
    assert_eq!(read(), (1, Ok(3)));
    assert_eq!(read(), (2, Err(io::ErrorKind::WouldBlock)));
    // The last read has cleared the readiness.
    assert_eq!(read(), (2, Err(io::ErrorKind::WouldBlock)));
}

/// An operation of each kind ends with the first error other than `WouldBlock`.
#[test]
fn an_error_of_the_operation_is_returned() {
    let mut reactor = Reactor::new().unwrap();
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let registration = reactor.handle().register(&mut near, BOTH).unwrap();
    far.write_all(b"x").unwrap();
    turn_until(&mut reactor, || {
        flags(&registration, BOTH) == Ready::READABLE | Ready::WRITABLE
    });
    let mut cx = Context::from_waker(Waker::noop());
    let mut tries = 0;
    let mut fail = || {
        tries += 1;
        assert!(tries <= 3, "an operation that has failed is retried");
        Err::<(), _>(io::ErrorKind::ConnectionReset.into())
    };
    let ended = [
        registration.poll_read_io(&mut cx, &mut fail),
        registration.poll_write_io(&mut cx, &mut fail),
        pin!(registration.async_io(BOTH, &mut fail)).poll(&mut cx),
    ];
    for result in ended {
        let Poll::Ready(Err(error)) = result else {
            panic!("the operation did not return its error");
        };
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }
}

#[test]
fn an_assumed_readiness_lets_the_first_operation_be_tried() {
    let reactor = Reactor::new().unwrap();
    let (mut near, _far) = UnixStream::pair().unwrap();
    let registration = reactor.handle().register(&mut near, BOTH).unwrap();
    let write = || registration.try_io(Interest::WRITABLE, || (&near).write(b"x"));
    assert_eq!(write().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    registration.assume_ready(Ready::WRITABLE);
    assert_eq!(write().unwrap(), 1);
    assert!(flags(&registration, Interest::READABLE).is_empty());
}

#[test]
fn clear_drained_clears_readiness_until_the_next_event() {
    let mut reactor = Reactor::new().unwrap();
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let handle = reactor.handle();
    let registration = handle.register(&mut near, Interest::READABLE).unwrap();
    far.write_all(b"abc").unwrap();
    reactor.turn(None, 8).unwrap();
    let event = registration.try_ready(Interest::READABLE).unwrap().unwrap();
    assert_eq!(near.read(&mut [0; 8]).unwrap(), 3);
    let _ = registration.clear_drained(event);
    assert!(flags(&registration, Interest::READABLE).is_empty());
    // The end is still reported.
    drop(far);
    turn_until(&mut reactor, || {
        flags(&registration, Interest::READABLE).is_readable()
    });
}

/// A waker all of whose functions use the reactor.
struct ReactorUser {
    handle: Handle,
    registration: Mutex<Option<Arc<Registration>>>,
    tokens: Mutex<HashSet<usize>>,
}

impl ReactorUser {
    fn use_reactor(&self) {
        let (mut near, _far) = UnixStream::pair().unwrap();
        drop(self.handle.register(&mut near, BOTH).unwrap());
        let registration = self.registration.lock().clone();
        if let Some(registration) = registration {
            let mut cx = Context::from_waker(Waker::noop());
            let _ = registration.poll_write_ready(&mut cx);
            let mut waiting = pin!(registration.ready(Interest::WRITABLE));
            let _ = waiting.as_mut().poll(&mut cx);
        }
        self.tokens.lock().insert(self.handle.registered_count());
    }
}

struct ReentrantWaker(Arc<ReactorUser>);

impl Wake for ReentrantWaker {
    fn wake(self: Arc<Self>) {
        self.0.use_reactor();
    }
}

impl Drop for ReentrantWaker {
    fn drop(&mut self) {
        self.0.use_reactor();
    }
}

/// tokio 4129: nothing deadlocks when wakers use the reactor in wake and drop.
#[test]
fn no_waker_runs_under_a_lock() {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let (mut near, mut far) = UnixStream::pair().unwrap();
    let registration = Arc::new(handle.register(&mut near, Interest::READABLE).unwrap());
    let user = Arc::new(ReactorUser {
        handle: handle.clone(),
        registration: Mutex::new(Some(registration.clone())),
        tokens: Mutex::new(HashSet::new()),
    });
    let waker = || Waker::from(Arc::new(ReentrantWaker(user.clone())));
    // The waker is replaced, woken by dispatch, dropped with its future, and woken by shutdown.
    for _ in 0..2 {
        let polled = registration.poll_read_ready(&mut Context::from_waker(&waker()));
        assert!(polled.is_pending());
    }
    {
        let mut waiting = pin!(registration.ready(Interest::READABLE));
        for _ in 0..2 {
            let polled = waiting.as_mut().poll(&mut Context::from_waker(&waker()));
            assert!(polled.is_pending());
        }
    }
    far.write_all(b"x").unwrap();
    assert_eq!(reactor.turn(None, 8).unwrap(), 1);
    near.read_exact(&mut [0]).unwrap();
    let event = registration.try_ready(Interest::READABLE).unwrap().unwrap();
    let _ = registration.clear_readiness(event);
    let polled = registration.poll_read_ready(&mut Context::from_waker(&waker()));
    assert!(polled.is_pending());
    // A registration that is dropped while it has a waker.
    let leaving = {
        let (mut near, _far) = UnixStream::pair().unwrap();
        handle.register(&mut near, BOTH).unwrap()
    };
    let polled = leaving.poll_read_ready(&mut Context::from_waker(&waker()));
    assert!(polled.is_pending());
    drop(leaving);
    *user.registration.lock() = None;
    assert!(!user.tokens.lock().is_empty());
}
