//! The readiness of a source.

use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

use crate::Interest;

/// The readiness of a source, as a set of flags.
///
/// `READ_CLOSED` and `WRITE_CLOSED` concern one direction each: a peer that shuts its writing half
/// makes this side read-closed only.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::Ready;
///
/// # fn main() {
/// let ready = Ready::READABLE | Ready::WRITABLE;
/// assert!(ready.is_readable() && ready.is_writable());
/// assert_eq!(ready - Ready::READABLE, Ready::WRITABLE);
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Ready(u8);

/// Set while there may be something to read.
const READABLE: u8 = 1;
/// Set while there may be room to write.
const WRITABLE: u8 = READABLE << 1;
/// Set while a read would see the end of the stream after what is buffered.
const READ_CLOSED: u8 = WRITABLE << 1;
/// Set while a write would fail because the direction is closed.
const WRITE_CLOSED: u8 = READ_CLOSED << 1;
/// Set while out-of-band data was reported.
const PRIORITY: u8 = WRITE_CLOSED << 1;
/// Set while an error was reported.
const ERROR: u8 = PRIORITY << 1;

impl Ready {
    /// Ready for nothing.
    pub const EMPTY: Ready = Ready(0);
    /// There may be something to read.
    pub const READABLE: Ready = Ready(READABLE);
    /// There may be room to write.
    pub const WRITABLE: Ready = Ready(WRITABLE);
    /// The peer writes no more: a read ends after what is buffered.
    pub const READ_CLOSED: Ready = Ready(READ_CLOSED);
    /// The writing direction is closed.
    pub const WRITE_CLOSED: Ready = Ready(WRITE_CLOSED);
    /// Out-of-band data has arrived (Linux and Android).
    pub const PRIORITY: Ready = Ready(PRIORITY);
    /// The source has an error to report.
    pub const ERROR: Ready = Ready(ERROR);
    /// All flags.
    pub const ALL: Ready =
        Ready(READABLE | WRITABLE | READ_CLOSED | WRITE_CLOSED | PRIORITY | ERROR);

    /// The flags of closed directions.
    pub(crate) const CLOSED: Ready = Ready(READ_CLOSED | WRITE_CLOSED);
    /// The flags that make a read ready.
    pub(crate) const READ: Ready = Ready::from_interest(Interest::READABLE);
    /// The flags that make a write ready.
    pub(crate) const WRITE: Ready = Ready::from_interest(Interest::WRITABLE);

    /// The flags that answer `interest`: its direction being ready or closed, for
    /// [`Interest::ERROR`] that of errors.
    pub const fn from_interest(interest: Interest) -> Ready {
        let mut flags = 0;
        if interest.is_readable() {
            flags |= READABLE | READ_CLOSED;
        }
        if interest.is_writable() {
            flags |= WRITABLE | WRITE_CLOSED;
        }
        if interest.is_priority() {
            flags |= PRIORITY | READ_CLOSED;
        }
        if interest.is_error() {
            flags |= ERROR;
        }
        Ready(flags)
    }

    /// Returns the flags of an event. An error makes no direction ready: a closed direction has
    /// flags of its own, and an error that closes nothing waits for the next operation.
    pub(crate) fn from_mio(event: &mio::event::Event) -> Ready {
        let mut ready = Ready::EMPTY;
        if event.is_readable() {
            ready |= Ready::READABLE;
        }
        if event.is_writable() {
            ready |= Ready::WRITABLE;
        }
        if event.is_read_closed() {
            ready |= Ready::READ_CLOSED;
        }
        if event.is_write_closed() {
            ready |= Ready::WRITE_CLOSED;
        }
        if event.is_priority() {
            ready |= Ready::PRIORITY;
        }
        if event.is_error() {
            ready |= Ready::ERROR;
        }
        ready
    }

    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u8) -> Ready {
        Ready(bits)
    }

    /// Returns whether no flag is set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether a read need not wait: readable or read-closed.
    pub const fn is_readable(self) -> bool {
        self.0 & (READABLE | READ_CLOSED) != 0
    }

    /// Returns whether a write need not wait: writable or write-closed.
    pub const fn is_writable(self) -> bool {
        self.0 & (WRITABLE | WRITE_CLOSED) != 0
    }

    /// Returns whether the reading direction is closed.
    pub const fn is_read_closed(self) -> bool {
        self.0 & READ_CLOSED != 0
    }

    /// Returns whether the writing direction is closed.
    pub const fn is_write_closed(self) -> bool {
        self.0 & WRITE_CLOSED != 0
    }

    /// Returns whether out-of-band data was reported.
    pub const fn is_priority(self) -> bool {
        self.0 & PRIORITY != 0
    }

    /// Returns whether an error was reported.
    pub const fn is_error(self) -> bool {
        self.0 & ERROR != 0
    }

    /// Returns whether any flag is in both.
    pub const fn intersects(self, other: Ready) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Ready {
    type Output = Ready;

    fn bitor(self, other: Ready) -> Ready {
        Ready(self.0 | other.0)
    }
}

impl BitOrAssign for Ready {
    fn bitor_assign(&mut self, other: Ready) {
        self.0 |= other.0;
    }
}

impl BitAnd for Ready {
    type Output = Ready;

    fn bitand(self, other: Ready) -> Ready {
        Ready(self.0 & other.0)
    }
}

impl Sub for Ready {
    type Output = Ready;

    fn sub(self, other: Ready) -> Ready {
        Ready(self.0 & !other.0)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready")
            .field("is_readable", &self.is_readable())
            .field("is_writable", &self.is_writable())
            .field("is_read_closed", &self.is_read_closed())
            .field("is_write_closed", &self.is_write_closed())
            .field("is_error", &self.is_error())
            .field("is_priority", &self.is_priority())
            .finish()
    }
}
