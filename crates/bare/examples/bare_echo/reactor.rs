//! A reactor over mio: it stores readiness and wakes tasks, and allocates only when it is created.

use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mio::event::Source;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Registry, Token};

/// The maximum number of events of one poll.
const EVENTS: usize = 256;

/// Wakes the tasks that wait for sources.
#[derive(Debug)]
pub struct Reactor {
    poll: RefCell<mio::Poll>,
    events: RefCell<Events>,
    registry: Registry,
    registrations: Box<[Registration]>,
    /// The index of the first free registration.
    free: Cell<usize>,
}

#[derive(Debug)]
struct Registration {
    reads: Side,
    writes: Side,
    index: usize,
    next_free: Cell<usize>,
}

/// One direction of a source.
#[derive(Debug)]
struct Side {
    ready: Cell<bool>,
    /// The waker of the last wait.
    waker: RefCell<Waker>,
}

impl Side {
    fn new() -> Self {
        Self {
            ready: Cell::new(false),
            waker: RefCell::new(Waker::noop().clone()),
        }
    }

    /// Prepares for the next source. An event of the previous source may still arrive; it costs one
    /// call that would block.
    fn reset(&self, ready: bool) {
        self.ready.set(ready);
        self.waker.replace(Waker::noop().clone());
    }

    fn wake(&self) {
        self.ready.set(true);
        self.waker.borrow().wake_by_ref();
    }
}

impl Reactor {
    /// Makes a reactor with room for `capacity` sources.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot create a selector.
    pub fn new(capacity: usize) -> io::Result<Self> {
        let poll = mio::Poll::new()?;
        let registrations = (0..capacity).map(|index| Registration {
            reads: Side::new(),
            writes: Side::new(),
            index,
            next_free: Cell::new(index + 1),
        });
        Ok(Self {
            registry: poll.registry().try_clone()?,
            poll: RefCell::new(poll),
            events: RefCell::new(Events::with_capacity(EVENTS)),
            registrations: registrations.collect(),
            free: Cell::new(0),
        })
    }

    /// Waits for events, and wakes the tasks that wait for them.
    ///
    /// # Errors
    /// Returns the errors of the selector, except `Interrupted`.
    pub fn poll(&self, timeout: Option<Duration>) -> io::Result<()> {
        let events = &mut *self.events.borrow_mut();
        match self.poll.borrow_mut().poll(events, timeout) {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            done => done?,
        }
        for event in events.iter() {
            let registration = &self.registrations[event.token().0];
            let failed = event.is_error();
            if event.is_readable() || event.is_read_closed() || failed {
                registration.reads.wake();
            }
            if event.is_writable() || event.is_write_closed() || failed {
                registration.writes.wake();
            }
        }
        Ok(())
    }
}

/// A source that is registered from its creation to its drop.
#[derive(Debug)]
pub struct Evented<'r, T: Source> {
    source: T,
    reactor: &'r Reactor,
    registration: &'r Registration,
}

impl<'r, T: Source> Evented<'r, T> {
    /// Registers a source.
    ///
    /// # Errors
    ///
    /// Returns an error if the reactor is full or the system cannot register the source.
    pub fn new(reactor: &'r Reactor, mut source: T) -> io::Result<Self> {
        let registration = reactor
            .registrations
            .get(reactor.free.get())
            .ok_or(ErrorKind::OutOfMemory)?;
        let token = Token(registration.index);
        let both = Interest::READABLE | Interest::WRITABLE;
        reactor.registry.register(&mut source, token, both)?;
        reactor.free.set(registration.next_free.get());
        // The source may be ready: the first call checks.
        registration.reads.reset(true);
        registration.writes.reset(true);
        Ok(Self {
            source,
            reactor,
            registration,
        })
    }
}

impl<T: Source> Drop for Evented<'_, T> {
    fn drop(&mut self) {
        // Fails only if the source is not registered.
        let _ = self.reactor.registry.deregister(&mut self.source);
        self.registration.reads.reset(false);
        self.registration.writes.reset(false);
        let next = self.reactor.free.replace(self.registration.index);
        self.registration.next_free.set(next);
    }
}

/// An operation on a source that may have to wait.
#[derive(Debug)]
struct Io<'a, T, F> {
    source: &'a mut T,
    side: &'a Side,
    operation: F,
}

impl<T, F> Unpin for Io<'_, T, F> {}

impl<T, F, R> Future for Io<'_, T, F>
where
    F: FnMut(&mut T) -> io::Result<R>,
{
    type Output = io::Result<R>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        while this.side.ready.get() {
            match (this.operation)(this.source) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => this.side.ready.set(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                done => return Poll::Ready(done),
            }
        }
        this.side.waker.borrow_mut().clone_from(cx.waker());
        Poll::Pending
    }
}

impl Evented<'_, TcpListener> {
    /// Waits for the next connection.
    pub fn accept(&mut self) -> impl Future<Output = io::Result<TcpStream>> {
        Io {
            source: &mut self.source,
            side: &self.registration.reads,
            operation: |listener: &mut TcpListener| listener.accept().map(|(stream, _)| stream),
        }
    }
}

impl Evented<'_, TcpStream> {
    /// Waits for bytes.
    pub fn read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> {
        Io {
            source: &mut self.source,
            side: &self.registration.reads,
            operation: |stream: &mut TcpStream| stream.read(buffer),
        }
    }

    /// Waits until the stream takes some of the bytes.
    pub fn write(&mut self, bytes: &[u8]) -> impl Future<Output = io::Result<usize>> {
        Io {
            source: &mut self.source,
            side: &self.registration.writes,
            operation: |stream: &mut TcpStream| stream.write(bytes),
        }
    }
}
