//! The kinds of readiness that a task waits for.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// The readiness to wait for. Never empty.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::Interest;
///
/// # fn main() {
/// let both = Interest::READABLE | Interest::WRITABLE;
/// assert!(both.is_readable() && both.is_writable());
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Interest(u8);

/// Waits for something to read.
const READABLE: u8 = 1;
/// Waits for room to write.
const WRITABLE: u8 = READABLE << 1;
/// Waits for out-of-band data.
const PRIORITY: u8 = WRITABLE << 1;
/// Waits for an error.
const ERROR: u8 = PRIORITY << 1;

const NAMES: [(u8, &str); 4] = [
    (READABLE, "READABLE"),
    (WRITABLE, "WRITABLE"),
    (PRIORITY, "PRIORITY"),
    (ERROR, "ERROR"),
];

impl Interest {
    /// Something to read, or the end of the stream.
    pub const READABLE: Interest = Interest(READABLE);
    /// Room to write, or the direction being closed.
    pub const WRITABLE: Interest = Interest(WRITABLE);
    /// Out-of-band data.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const PRIORITY: Interest = Interest(PRIORITY);
    /// An error to report, even one that concerns no read or write: a socket's error queue on
    /// Linux. Code that waits for this must take the error, or clear the readiness.
    pub const ERROR: Interest = Interest(ERROR);

    /// Both together; as `|`, but constant.
    #[must_use = "this returns the union and changes neither operand"]
    pub const fn add(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }

    /// This without `other`; `None` if nothing is left.
    #[must_use = "this returns the difference and changes neither operand"]
    pub fn remove(self, other: Interest) -> Option<Interest> {
        let left = self.0 & !other.0;
        (left != 0).then_some(Interest(left))
    }

    /// Returns whether reading is among it.
    pub const fn is_readable(self) -> bool {
        self.0 & READABLE != 0
    }

    /// Returns whether writing is among it.
    pub const fn is_writable(self) -> bool {
        self.0 & WRITABLE != 0
    }

    /// Returns whether out-of-band data is among it.
    pub const fn is_priority(self) -> bool {
        self.0 & PRIORITY != 0
    }

    /// Returns whether errors are among it.
    pub const fn is_error(self) -> bool {
        self.0 & ERROR != 0
    }

    /// Returns the interest for the selector. The selector always reports errors, but needs at
    /// least one interest.
    pub(crate) fn to_mio(self) -> mio::Interest {
        let mut interest = None;
        let mut want = |wanted: bool, more: mio::Interest| {
            if wanted {
                interest = Some(interest.map_or(more, |known: mio::Interest| known | more));
            }
        };
        want(self.is_readable(), mio::Interest::READABLE);
        want(self.is_writable(), mio::Interest::WRITABLE);
        #[cfg(any(target_os = "linux", target_os = "android"))]
        want(self.is_priority(), mio::Interest::PRIORITY);
        interest.unwrap_or(mio::Interest::READABLE)
    }
}

impl BitOr for Interest {
    type Output = Interest;

    fn bitor(self, other: Interest) -> Interest {
        self.add(other)
    }
}

impl BitOrAssign for Interest {
    fn bitor_assign(&mut self, other: Interest) {
        *self = self.add(other);
    }
}

impl fmt::Debug for Interest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = NAMES.iter().filter(|(flag, _)| self.0 & flag != 0);
        for (n, (_, name)) in set.enumerate() {
            let separator = if n == 0 { "" } else { " | " };
            write!(f, "{separator}{name}")?;
        }
        Ok(())
    }
}
