//! The listener and the streams for tasks, and the reactor, which stores readiness and wakes tasks.

use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::fake_io::{self, Calls, Events, FakeListener, FakeStream, Readiness, Source, Token};

/// Wakes the tasks that wait for sources.
#[derive(Debug)]
pub struct Reactor<'c> {
    poll: fake_io::Poll<'c>,
    events: RefCell<Events>,
    registrations: Box<[Registration]>,
    /// The index of the first free registration.
    free: Cell<usize>,
}

/// The readiness of one source. A registration does not move, so its source refers to it directly;
/// only events look it up by index.
#[derive(Debug)]
struct Registration {
    ready: Cell<Readiness>,
    /// The waker of the last wait.
    waker: RefCell<Waker>,
    index: usize,
    next_free: Cell<usize>,
}

impl<'c> Reactor<'c> {
    /// Makes a reactor with room for `capacity` sources.
    pub fn new(calls: &'c Calls, capacity: usize) -> Self {
        let registrations = (0..capacity).map(|index| Registration {
            ready: Cell::new(Readiness::NONE),
            waker: RefCell::new(Waker::noop().clone()),
            index,
            next_free: Cell::new(index + 1),
        });
        Self {
            poll: fake_io::Poll::new(calls, capacity),
            events: RefCell::new(Events::with_capacity(capacity)),
            registrations: registrations.collect(),
            free: Cell::new(0),
        }
    }

    /// Polls once, and wakes the tasks whose sources are ready.
    pub fn poll(&self) {
        let events = &mut *self.events.borrow_mut();
        self.poll.poll(events);
        for event in events.iter() {
            let registration = &self.registrations[event.token.0];
            let ready = &registration.ready;
            ready.set(ready.get() | event.readiness);
            registration.waker.borrow().wake_by_ref();
        }
    }

    fn register(&self, source: &impl Source, readiness: Readiness) -> &Registration {
        let registration = self
            .registrations
            .get(self.free.get())
            .expect("the reactor has room for every source");
        self.free.set(registration.next_free.get());
        // The source may be ready: the first call checks.
        registration.ready.set(readiness);
        let token = Token(registration.index);
        self.poll.register(source, token, readiness);
        registration
    }

    fn deregister(&self, source: &impl Source, registration: &Registration) {
        self.poll.deregister(source);
        registration.waker.replace(Waker::noop().clone());
        let next = self.free.replace(registration.index);
        registration.next_free.set(next);
    }
}

/// A source that is registered from its creation to its drop.
#[derive(Debug)]
struct Evented<'r, 'c, T: Source> {
    source: T,
    reactor: &'r Reactor<'c>,
    registration: &'r Registration,
}

impl<'r, 'c, T: Source> Evented<'r, 'c, T> {
    fn new(reactor: &'r Reactor<'c>, source: T, readiness: Readiness) -> Self {
        let registration = reactor.register(&source, readiness);
        Self {
            source,
            reactor,
            registration,
        }
    }

    /// Waits until the source is readable and `operation` does not block.
    fn read_io<F>(&mut self, operation: F) -> Io<'_, 'r, 'c, T, F, false> {
        Io {
            evented: self,
            operation,
        }
    }

    /// Waits until the source is writable and `operation` does not block.
    fn write_io<F>(&mut self, operation: F) -> Io<'_, 'r, 'c, T, F, true> {
        Io {
            evented: self,
            operation,
        }
    }
}

impl<T: Source> Drop for Evented<'_, '_, T> {
    fn drop(&mut self) {
        self.reactor.deregister(&self.source, self.registration);
    }
}

/// An operation on a source that may have to wait.
#[derive(Debug)]
struct Io<'a, 'r, 'c, T: Source, F, const WRITES: bool> {
    evented: &'a mut Evented<'r, 'c, T>,
    operation: F,
}

impl<T: Source, F, const WRITES: bool> Unpin for Io<'_, '_, '_, T, F, WRITES> {}

impl<T, F, R, const WRITES: bool> Future for Io<'_, '_, '_, T, F, WRITES>
where
    T: Source,
    F: FnMut(&mut T) -> io::Result<R>,
{
    type Output = io::Result<R>;

    // Inlined into the task's poll, as the poll loop inlines it into its loop.
    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let needed = const {
            if WRITES {
                Readiness::WRITABLE
            } else {
                Readiness::READABLE
            }
        };
        let registration = this.evented.registration;
        let ready = &registration.ready;
        // Skips a call that is known to block.
        if ready.get().contains(needed) {
            match (this.operation)(&mut this.evented.source) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    ready.set(ready.get().without(needed));
                }
                done => return Poll::Ready(done),
            }
        }
        registration.waker.borrow_mut().clone_from(cx.waker());
        Poll::Pending
    }
}

/// The listener for tasks.
#[derive(Debug)]
pub struct Listener<'r, 'c>(Evented<'r, 'c, FakeListener<'c>>);

impl<'r, 'c> Listener<'r, 'c> {
    /// Registers one.
    pub fn new(reactor: &'r Reactor<'c>) -> Self {
        let listener = FakeListener::new(reactor.poll.calls());
        Self(Evented::new(reactor, listener, Readiness::READABLE))
    }

    /// Waits for the next connection.
    pub fn accept(&mut self) -> impl Future<Output = io::Result<FakeStream<'c>>> {
        let accept = |listener: &mut FakeListener<'c>| listener.accept();
        self.0.read_io(accept)
    }
}

/// A connection for tasks.
#[derive(Debug)]
pub struct Stream<'r, 'c>(Evented<'r, 'c, FakeStream<'c>>);

impl<'r, 'c> Stream<'r, 'c> {
    /// Registers one.
    pub fn new(reactor: &'r Reactor<'c>, stream: FakeStream<'c>) -> Self {
        let both = Readiness::READABLE | Readiness::WRITABLE;
        Self(Evented::new(reactor, stream, both))
    }

    /// Waits for bytes.
    pub fn read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> {
        let read = |stream: &mut FakeStream<'c>| stream.read(buffer);
        self.0.read_io(read)
    }

    /// Waits until the stream takes some of the bytes.
    pub fn write(&mut self, bytes: &[u8]) -> impl Future<Output = io::Result<usize>> {
        let write = |stream: &mut FakeStream<'c>| stream.write(bytes);
        self.0.write_io(write)
    }
}
