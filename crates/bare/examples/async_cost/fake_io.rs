//! A listener, streams and a poll in memory, in the shape of mio's, which count
//! how they are called.
//!
//! There are no clients: each connection has always sent a line, and takes what
//! is written. Every other call of the same object would block, so that each
//! operation takes two calls and an event between them. An event of every
//! registered source comes with every poll.
//!
//! Nothing here is inlined into what calls it, since no system call is: what the
//! compiler can look into it takes apart, in one program more than in another.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::num::NonZeroU32;
use std::ops::BitOr;

use slab::Slab;

/// What every client sends.
const LINE: &[u8] = b"hello world\n";

/// How often each call was made.
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
    /// The calls of a server of `requests` that makes no unnecessary call.
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

/// Where the calls are counted, and what they cost.
#[derive(Debug, Default)]
pub struct Calls {
    counts: Cell<Counts>,
    /// What the system is asked to read from.
    empty: Option<empty::Empty>,
}

impl Calls {
    /// Calls that stay in memory.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Calls that read from an empty pipe, which costs them a system call each.
    ///
    /// # Errors
    ///
    /// If there is no pipe to be had.
    pub fn with_syscalls() -> io::Result<Self> {
        Ok(Self {
            counts: Cell::default(),
            empty: Some(empty::Empty::new()?),
        })
    }

    /// How often each call was made since the last time, or in all.
    pub fn take(&self) -> Counts {
        self.counts.take()
    }

    #[inline]
    fn call(&self, count: impl FnOnce(&mut Counts)) {
        if let Some(empty) = &self.empty {
            assert!(empty.read().is_err(), "nothing is in there");
        }
        let mut counts = self.counts.get();
        count(&mut counts);
        self.counts.set(counts);
    }
}

/// A pipe that nothing is ever in. The sender keeps it open.
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

/// A socket that nothing is ever sent to.
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

/// What a source is watched for, or ready for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readiness(u8);

impl Readiness {
    /// Neither.
    pub const NONE: Self = Self(0);
    /// To accept or to be read.
    pub const READABLE: Self = Self(1);
    /// To be written.
    pub const WRITABLE: Self = Self(2);

    /// Whether all of `other` is in it.
    #[inline]
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// What is not in `other`.
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

/// What names a source in its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(pub usize);

/// A source is ready.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Which.
    pub token: Token,
    /// For what.
    pub readiness: Readiness,
}

/// What the last poll found.
#[derive(Debug)]
pub struct Events(Vec<Event>);

impl Events {
    /// Room for `capacity` events.
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }

    /// The events, in the order of their sources' registration.
    pub fn iter(&self) -> impl Iterator<Item = Event> + '_ {
        self.0.iter().copied()
    }
}

/// What can be registered.
pub trait Source {
    /// Where the poll has it.
    fn place(&self) -> &Cell<Option<NonZeroU32>>;
}

/// Watches sources.
#[derive(Debug)]
pub struct Poll<'c> {
    calls: &'c Calls,
    sources: RefCell<Slab<Event>>,
}

impl<'c> Poll<'c> {
    /// With room for `capacity` sources.
    pub fn new(calls: &'c Calls, capacity: usize) -> Self {
        Self {
            calls,
            sources: RefCell::new(Slab::with_capacity(capacity)),
        }
    }

    /// What its calls are counted in.
    pub fn calls(&self) -> &'c Calls {
        self.calls
    }

    /// Watches a source.
    #[inline]
    pub fn register(&self, source: &impl Source, token: Token, readiness: Readiness) {
        source.place().set(self.insert(token, readiness));
    }

    #[inline(never)]
    fn insert(&self, token: Token, readiness: Readiness) -> Option<NonZeroU32> {
        self.calls.call(|counts| counts.register += 1);
        let index = self.sources.borrow_mut().insert(Event { token, readiness });
        let place = u32::try_from(index + 1).expect("there are not that many sources");
        NonZeroU32::new(place)
    }

    /// Does not watch it any more.
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

    /// Finds that every source is ready.
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

/// Whether this call would block: the first would, the second would not.
#[inline]
fn would_block(blocked: &Cell<bool>) -> io::Result<()> {
    if blocked.replace(!blocked.get()) {
        Ok(())
    } else {
        Err(ErrorKind::WouldBlock.into())
    }
}

/// A listener with a client for every other call.
#[derive(Debug)]
pub struct FakeListener<'c> {
    calls: &'c Calls,
    place: Cell<Option<NonZeroU32>>,
    blocked: Cell<bool>,
}

impl<'c> FakeListener<'c> {
    /// A listener whose first call would block.
    pub fn new(calls: &'c Calls) -> Self {
        Self {
            calls,
            place: Cell::new(None),
            blocked: Cell::new(false),
        }
    }

    /// The next connection.
    ///
    /// # Errors
    ///
    /// `WouldBlock` every other time.
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

/// A connection, with a line in it for every other read.
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
