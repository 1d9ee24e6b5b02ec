//! Registrations come and go while events are pending. No event reaches another source than its
//! own, and none is lost (RUSTSEC-2024-0019).

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use mio::net::UnixStream;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_reactor::{Interest, Reactor, Registration};

use crate::Choices;

const SOURCES: usize = 8;

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        // ORDERING: Relaxed: one thread wakes and reads.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Source {
    near: UnixStream,
    registration: Registration,
    far: Option<UnixStream>,
    /// The number of bytes that were written and not read.
    unread: usize,
    /// Whether data was written, or the far end was closed, since the registration.
    touched: bool,
    /// The same since the near end found that it would block.
    fresh: bool,
    /// Whether a waiter waits; `wakes` tells whether it was woken.
    waiting: bool,
    wakes: Arc<Wakes>,
}

impl Source {
    fn is_readable(&self) -> bool {
        let ready = self.registration.try_ready(Interest::READABLE);
        ready.expect("the reactor is there").is_some()
    }

    fn woken(&self) -> bool {
        // ORDERING: as above.
        self.wakes.0.load(Ordering::Relaxed) > 0
    }

    fn poll(&mut self) {
        let waker = Waker::from(self.wakes.clone());
        let mut cx = Context::from_waker(&waker);
        // ORDERING: as above.
        self.wakes.0.store(0, Ordering::Relaxed);
        self.waiting = match self.registration.poll_read_ready(&mut cx) {
            Poll::Ready(ready) => {
                ready.expect("the reactor is there");
                assert!(self.touched, "an event reached the wrong source");
                false
            }
            Poll::Pending => true,
        };
    }

    /// Reads all data, if the source is known to be readable.
    fn read(&mut self) {
        let mut near = &self.near;
        let mut asked = false;
        loop {
            let read = self.registration.try_io(Interest::READABLE, || {
                asked = true;
                near.read(&mut [0; 8])
            });
            match read {
                // The end of the stream, which stays readable.
                Ok(0) => {
                    assert!(self.far.is_none() && self.unread == 0);
                    return;
                }
                Ok(count) => self.unread -= count,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    break;
                }
            }
        }
        if asked {
            assert_eq!(self.unread, 0);
            self.fresh = false;
        }
    }

    fn check(&self, settled: bool) {
        let readable = self.is_readable();
        assert!(
            self.touched || !readable,
            "an event reached the wrong source"
        );
        assert!(
            self.touched || !self.woken(),
            "a wake reached the wrong source"
        );
        if settled && self.fresh {
            assert!(readable, "an event was lost");
            assert!(!self.waiting || self.woken(), "a wake was lost");
        }
    }
}

struct Bench {
    reactor: Reactor,
    sources: Vec<Source>,
    /// Duplicates of the closed sources, which the selector still watches, and their far ends.
    closed: Vec<(OwnedFd, Option<UnixStream>)>,
}

/// Runs random operations on some sources.
pub fn run(choices: &mut Choices<'_>) {
    let mut bench = Bench {
        reactor: Reactor::new().expect("a selector"),
        sources: Vec::new(),
        closed: Vec::new(),
    };
    while !choices.is_over() {
        bench.step(choices);
        bench.check(false);
    }
    bench.settle();
    bench.end();
}

impl Bench {
    fn step(&mut self, choices: &mut Choices<'_>) {
        let action = choices.below(14);
        let which = choices.below(SOURCES);
        match action {
            0..=2 => return self.open(choices.once_in(2)),
            3 | 4 => return self.turn(1 + choices.below(3)),
            5 => return self.settle(),
            6 if !self.closed.is_empty() => {
                let count = self.closed.len();
                let (_, far) = &mut self.closed[which % count];
                // No registration watches these sources any more.
                let _ = far.as_mut().map(|far| far.write(b"stale"));
                return;
            }
            _ => {}
        }
        let count = self.sources.len();
        if count == 0 {
            return;
        }
        let which = which % count;
        let source = &mut self.sources[which];
        match action {
            6..=8 => {
                if let Some(far) = &mut source.far {
                    source.unread += far.write(b"word").expect("room for a word");
                    (source.touched, source.fresh) = (true, true);
                }
            }
            9 => source.read(),
            10 => source.poll(),
            11 => {
                if source.far.take().is_some() {
                    (source.touched, source.fresh) = (true, true);
                }
            }
            _ => {
                let source = self.sources.swap_remove(which);
                self.close(source, choices.below(4));
            }
        }
    }

    fn open(&mut self, writable: bool) {
        if self.sources.len() == SOURCES {
            return;
        }
        let (mut near, far) = UnixStream::pair().expect("a pair of sockets");
        let interest = match writable {
            true => Interest::READABLE | Interest::WRITABLE,
            false => Interest::READABLE,
        };
        let registration = self.reactor.handle().register(&mut near, interest);
        self.sources.push(Source {
            near,
            registration: registration.expect("a registration"),
            far: Some(far),
            unread: 0,
            touched: false,
            fresh: false,
            waiting: false,
            wakes: Arc::default(),
        });
    }

    /// Closes a source in one of the possible orders.
    fn close(&mut self, source: Source, way: usize) {
        let Source {
            mut near,
            mut registration,
            far,
            ..
        } = source;
        match way {
            0 => {
                let deregistered = registration.deregister(&mut near);
                deregistered.expect("it was registered");
            }
            1 => drop(registration),
            2 => drop(near),
            _ => {
                let duplicate = near.as_fd().try_clone_to_owned();
                if self.closed.len() == SOURCES {
                    self.closed.remove(0);
                }
                self.closed.push((duplicate.expect("a descriptor"), far));
            }
        }
    }

    /// Dispatches up to `limit` events; others stay pending.
    fn turn(&mut self, limit: usize) {
        let turn = self.reactor.turn(Some(Duration::ZERO), limit);
        assert!(turn.expect("a turn") <= limit);
    }

    /// Dispatches all events.
    fn settle(&mut self) {
        // A turn that still has events of the last one does not ask the selector.
        for _ in 0..3 {
            while self
                .reactor
                .turn(Some(Duration::ZERO), usize::MAX)
                .expect("a turn")
                > 0
            {}
        }
        self.check(true);
    }

    fn check(&self, settled: bool) {
        let registered = self.reactor.handle().registered_count();
        assert_eq!(registered, self.sources.len());
        for source in &self.sources {
            source.check(settled);
        }
    }

    fn end(mut self) {
        for source in &mut self.sources {
            source.poll();
        }
        let known = |source: &Source| {
            let ready = source.registration.try_ready(Interest::READABLE);
            matches!(ready, Ok(Some(_)))
        };
        let known_before: Vec<_> = self.sources.iter().map(known).collect();
        self.reactor.shutdown();
        for (source, known_before) in self.sources.iter().zip(known_before) {
            // Known readiness stays; a source without any returns an error.
            let ready = source.registration.try_ready(Interest::READABLE);
            assert_eq!(matches!(ready, Ok(Some(_))), known_before);
            assert_eq!(ready.is_err(), !known_before);
            assert!(
                !source.waiting || source.woken(),
                "not woken by the shutdown"
            );
        }
        let (mut near, _far) = UnixStream::pair().expect("a pair of sockets");
        let refused = self
            .reactor
            .handle()
            .register(&mut near, Interest::READABLE);
        assert!(refused.is_err());
        let handle = self.reactor.handle();
        drop(self);
        assert_eq!(handle.registered_count(), 0);
    }
}
