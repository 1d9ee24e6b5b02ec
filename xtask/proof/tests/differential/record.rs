//! What a run of a program shows: one line of text for each step.
//!
//! Both libraries run the same source, so equal texts mean equal results. The text is the
//! thread's, so that futures and values can write to it too.

use std::cell::{Cell, RefCell};
use std::fmt;

thread_local! {
    static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
    static NEEDLESS_WAKES: Cell<usize> = const { Cell::new(0) };
    /// How many there are of each value that was made.
    static VALUES: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Adds to the line of the current step, as `write!` would.
macro_rules! note {
    ($($argument:tt)*) => {
        $crate::record::write(format_args!($($argument)*))
    };
}
pub(crate) use note;

pub(crate) fn write(what: fmt::Arguments<'_>) {
    TEXT.with_borrow_mut(|text| {
        let start = text.is_empty() || text.ends_with('\n');
        if !start {
            text.push(' ');
        }
        fmt::write(text, what).expect("a string takes everything");
    });
}

/// Ends the line of the current step.
pub(crate) fn end_line() {
    TEXT.with_borrow_mut(|text| text.push('\n'));
}

/// Takes back what was noted in the current step.
pub(crate) fn forget_line() {
    TEXT.with_borrow_mut(|text| text.truncate(text.rfind('\n').map_or(0, |end| end + 1)));
}

/// Begins a record; the old one is lost.
pub(crate) fn begin() {
    TEXT.with_borrow_mut(String::clear);
    NEEDLESS_WAKES.set(0);
    VALUES.with_borrow_mut(Vec::clear);
}

/// The record of the run that has ended, and the number of its needless wake-ups.
pub(crate) fn take() -> (String, usize) {
    (TEXT.take(), NEEDLESS_WAKES.get())
}

/// Counts wake-ups that are not due, of which Raddle may make as many as Tokio, or fewer.
pub(crate) fn needless_wakes(count: usize) {
    NEEDLESS_WAKES.set(NEEDLESS_WAKES.get() + count);
}

/// A message, a lock's content: numbered in the order they are made. The record shows when
/// one is dropped.
pub(crate) struct Value(usize);

impl Value {
    pub(crate) fn next() -> Self {
        Self(VALUES.with_borrow_mut(|values| {
            values.push(1);
            values.len()
        }))
    }

    pub(crate) fn is_third(&self) -> bool {
        self.0.is_multiple_of(3)
    }

    pub(crate) fn is_seventh(&self) -> bool {
        self.0.is_multiple_of(7)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        VALUES.with_borrow_mut(|values| values[self.0 - 1] += 1);
        Self(self.0)
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        let left = VALUES.with_borrow_mut(|values| {
            values[self.0 - 1] -= 1;
            values[self.0 - 1]
        });
        // Where the last reader gets the value, and not a clone, there is one less to drop.
        if left == 0 {
            note!("(drop {self:?})");
        }
    }
}
