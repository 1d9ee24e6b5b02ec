//! An in-memory listener, streams and poll with mio's interface, which count the calls to them.
//!
//! There are no clients: each connection has always received a line, and accepts all bytes that are
//! written. The first call of an operation would block and the second one succeeds, so each
//! operation takes two calls and an event between them. Each poll returns an event forevery
//! registered source.
//!
//! The calls are not inlined, because a system call is not either: the compiler could optimise
//! across an inlined call in one program more than in another.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::num::NonZeroU32;
use std::ops::BitOr;

use slab::Slab;

/// The line that every client sends.
const LINE: &[u8] = b"hello world\n";

/// The number of calls of each function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// [`Poll::register`].
    pub register: usize,
    /// [`Poll::deregister`].
    pub unregister: usize,
    /// [`Poll::poll`].
    pub poll: usize,
    /// [`FakeListener::accept`].
    pub accept: usize,
    /// [`FakeStream::read`].
    pub read: usize,
    /// [`FakeStream::write`].
    pub write: usize,
}

impl Counts {
    /// The calls of a server that answers `requests` requests and makes no unnecessary call.
    pub fn of(requests: usize) -> Self {
        Self {
            register: requests + 1,
            unregister: requests + 1,
            poll: requests + 2,
            accept: 2 * requests,
            read: 2 * requests,
            write: 2 * requests,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "register={} unregister={} poll={} accept={} read={} write={}",
            self.register, self.unregister, self.poll, self.accept, self.read, self.write
        )
    }
}

/// Counts the calls; with `empty`, each call also costs a system call.
#[derive(Debug, Default)]
pub struct Calls {
    counts: Cell<Counts>,
    /// The pipe or socket that each call reads.
    empty: Option<empty::Empty>,
}

impl Calls {
    /// Returns a counter whose calls make no system call.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Returns a counter whose calls each read from an empty pipe, which is a system call.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot create a pipe.
    pub fn with_syscalls() -> io::Result<Self> {
        Ok(Self {
            counts: Cell::default(),
            empty: Some(empty::Empty::new()?),
        })
    }

    /// Returns the counts since the last call of `take`, and resets them.
    pub fn take(&self) -> Counts {
        self.counts.take()
    }

    #[inline]
    fn call(&self, count: impl FnOnce(&mut Counts)) {
        if let Some(empty) = &self.empty {
            assert!(empty.read().is_err(), "the pipe or socket is empty");
        }
        let mut counts = self.counts.get();
        count(&mut counts);
        self.counts.set(counts);
    }
}

/// A pipe that is always empty. The sender keeps it open.
#[cfg(unix)]
mod empty {
    use std::io::{self, Read};

    use mio::unix::pipe::{self, Receiver, Sender};

    #[derive(Debug)]
    pub(super) struct Empty {
        receiver: Receiver,
        _sender: Sender,
    }

    impl Empty {
        pub(super) fn new() -> io::Result<Self> {
            let (_sender, receiver) = pipe::new()?;
            Ok(Self { receiver, _sender })
        }

        #[inline]
        pub(super) fn read(&self) -> io::Result<usize> {
            (&self.receiver).read(&mut [0])
        }
    }
}

/// A socket that receives no datagrams.
#[cfg(not(unix))]
mod empty {
    use std::io;
    use std::net::UdpSocket;

    #[derive(Debug)]
    pub(super) struct Empty(UdpSocket);

    impl Empty {
        pub(super) fn new() -> io::Result<Self> {
            let socket = UdpSocket::bind("127.0.0.1:0")?;
            socket.set_nonblocking(true)?;
            Ok(Self(socket))
        }

        #[inline]
        pub(super) fn read(&self) -> io::Result<usize> {
            self.0.recv(&mut [0])
        }
    }
}

/// The operations that a source is watched for, or ready for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readiness(u8);

impl Readiness {
    /// No operation.
    pub const NONE: Self = Self(0);
    /// Accept or read.
    pub const READABLE: Self = Self(1);
    /// Write.
    pub const WRITABLE: Self = Self(2);

    /// Returns whether all operations of `other` are included.
    #[inline]
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the operations that are not in `other`.
    #[inline]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for Readiness {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Identifies a source in its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(pub usize);

/// The readiness of one source.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// The token of the source.
    pub token: Token,
    /// The operations that the source is ready for.
    pub readiness: Readiness,
}

/// The events of the last poll.
#[derive(Debug)]
pub struct Events(Vec<Event>);

impl Events {
    /// Makes room for `capacity` events.
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }

    /// Returns the events, in the order in which their sources were registered.
    pub fn iter(&self) -> impl Iterator<Item = Event> + '_ {
        self.0.iter().copied()
    }
}

/// An object that can be registered with a [`Poll`].
pub trait Source {
    /// The position of the source in the poll, plus one.
    fn place(&self) -> &Cell<Option<NonZeroU32>>;
}

/// Watches sources.
#[derive(Debug)]
pub struct Poll<'c> {
    calls: &'c Calls,
    sources: RefCell<Slab<Event>>,
}

impl<'c> Poll<'c> {
    /// Makes a poll with room for `capacity` sources.
    pub fn new(calls: &'c Calls, capacity: usize) -> Self {
        Self {
            calls,
            sources: RefCell::new(Slab::with_capacity(capacity)),
        }
    }

    /// Returns the counter of the calls.
    pub fn calls(&self) -> &'c Calls {
        self.calls
    }

    /// Registers a source.
    #[inline]
    pub fn register(&self, source: &impl Source, token: Token, readiness: Readiness) {
        source.place().set(self.insert(token, readiness));
    }

    #[inline(never)]
    fn insert(&self, token: Token, readiness: Readiness) -> Option<NonZeroU32> {
        self.calls.call(|counts| counts.register += 1);
        let index = self.sources.borrow_mut().insert(Event { token, readiness });
        let place = u32::try_from(index + 1).expect("fewer than u32::MAX sources");
        NonZeroU32::new(place)
    }

    /// Removes a source.
    #[inline]
    pub fn deregister(&self, source: &impl Source) {
        self.remove(source.place().take());
    }

    #[inline(never)]
    fn remove(&self, place: Option<NonZeroU32>) {
        self.calls.call(|counts| counts.unregister += 1);
        if let Some(place) = place {
            self.sources.borrow_mut().remove(place.get() as usize - 1);
        }
    }

    /// Replaces `events` by one event for each source: all of them are ready.
    #[inline(never)]
    pub fn poll(&self, events: &mut Events) {
        self.calls.call(|counts| counts.poll += 1);
        events.0.clear();
        let sources = self.sources.borrow();
        events.0.extend(sources.iter().map(|(_, event)| *event));
    }
}

impl Drop for Poll<'_> {
    fn drop(&mut self) {
        assert!(
            self.sources.borrow().is_empty() || std::thread::panicking(),
            "every source is deregistered"
        );
    }
}

/// Fails with `WouldBlock` at every other call, starting with the first.
#[inline]
fn would_block(blocked: &Cell<bool>) -> io::Result<()> {
    if blocked.replace(!blocked.get()) {
        Ok(())
    } else {
        Err(ErrorKind::WouldBlock.into())
    }
}

/// A listener that accepts a connection at every other call.
#[derive(Debug)]
pub struct FakeListener<'c> {
    calls: &'c Calls,
    place: Cell<Option<NonZeroU32>>,
    blocked: Cell<bool>,
}

impl<'c> FakeListener<'c> {
    /// Makes a listener whose first call would block.
    pub fn new(calls: &'c Calls) -> Self {
        Self {
            calls,
            place: Cell::new(None),
            blocked: Cell::new(false),
        }
    }

    /// Accepts a connection.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` at every other call, starting with the first.
    #[inline(never)]
    pub fn accept(&self) -> io::Result<FakeStream<'c>> {
        self.calls.call(|counts| counts.accept += 1);
        would_block(&self.blocked)?;
        Ok(FakeStream {
            calls: self.calls,
            place: Cell::new(None),
            blocked: Cell::new(false),
        })
    }
}

impl Source for FakeListener<'_> {
    #[inline]
    fn place(&self) -> &Cell<Option<NonZeroU32>> {
        &self.place
    }
}

/// A connection whose every other read returns a line.
#[derive(Debug)]
pub struct FakeStream<'c> {
    calls: &'c Calls,
    place: Cell<Option<NonZeroU32>>,
    blocked: Cell<bool>,
}

impl Source for FakeStream<'_> {
    #[inline]
    fn place(&self) -> &Cell<Option<NonZeroU32>> {
        &self.place
    }
}

impl Read for FakeStream<'_> {
    #[inline(never)]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.calls.call(|counts| counts.read += 1);
        would_block(&self.blocked)?;
        buffer[..LINE.len()].copy_from_slice(LINE);
        Ok(LINE.len())
    }
}

impl Write for FakeStream<'_> {
    #[inline(never)]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.calls.call(|counts| counts.write += 1);
        would_block(&self.blocked)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
