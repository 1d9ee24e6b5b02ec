//! The record of a run: one line of text for each step.
//!
//! Both libraries run the same source, so equal texts mean equal results. The text is thread-local,
//! so futures and values can also write to it.

use std::cell::{Cell, RefCell};
use std::fmt;

thread_local! {
    static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
    static NEEDLESS_WAKES: Cell<usize> = const { Cell::new(0) };
    /// The number of clones of each value that was made.
    static VALUES: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Appends to the line of the current step, like `write!`.
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

/// Discards the text of the current step.
pub(crate) fn forget_line() {
    TEXT.with_borrow_mut(|text| text.truncate(text.rfind('\n').map_or(0, |end| end + 1)));
}

/// Begins a record and discards the old one.
pub(crate) fn begin() {
    TEXT.with_borrow_mut(String::clear);
    NEEDLESS_WAKES.set(0);
    VALUES.with_borrow_mut(Vec::clear);
}

/// Returns the record of the run that has ended, and the number of its needless wake-ups.
pub(crate) fn take() -> (String, usize) {
    (TEXT.take(), NEEDLESS_WAKES.get())
}

/// Counts wake-ups that are not due. Raddle may make at most as many as Tokio.
pub(crate) fn needless_wakes(count: usize) {
    NEEDLESS_WAKES.set(NEEDLESS_WAKES.get() + count);
}

/// A message or the content of a lock, numbered in the order of creation. The record shows its
/// drop.
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
        // If the last reader gets the value instead of a clone, one drop fewer happens.
        if left == 0 {
            note!("(drop {self:?})");
        }
    }
}
