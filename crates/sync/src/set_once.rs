//! A cell that is set once, with a wait for the value.

use std::error::Error;
use std::fmt;

use raddle_leaf::wait::Resource;
use raddle_primitives::sync::{Mutex, Rank};

use crate::Notify;
use crate::once_slot::{OnceSlot, slot_cell};

/// A cell whose value is set once, by any task; other tasks can wait for it.
///
/// Reading a value that is set is one load.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::SetOnce;
///
/// static PORT: SetOnce<u16> = SetOnce::const_new();
///
/// # fn main() { raddle::run(async {
/// std::thread::spawn(|| PORT.set(8080).unwrap());
/// assert_eq!(*PORT.wait().await, 8080);
/// # }) }
/// ```
pub struct SetOnce<T> {
    slot: OnceSlot<T>,
    /// Held while the value is moved in, so that a `set` that fails finds the value.
    setting: Mutex<()>,
    was_set: Notify,
}

/// The error of [`SetOnce::set`]: a value was set before. Contains the refused value.
#[derive(Debug, PartialEq, Eq)]
pub struct SetOnceError<T>(pub T);

slot_cell! {
    SetOnce {
        setting: Mutex::ranked(Rank::leaf("setting once"), ()),
        was_set: Notify::new(),
    }
}

impl<T> SetOnce<T> {
    /// Sets the value and wakes all tasks that wait for it.
    ///
    /// # Errors
    ///
    /// Returns an error with the value if another value is already set; [`get`](Self::get) returns
    /// that value.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::SetOnce;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let cell = SetOnce::new();
    /// cell.set(7)?;
    /// // The error contains the refused value.
    /// assert_eq!(cell.set(8).unwrap_err().0, 8);
    /// assert_eq!(cell.get(), Some(&7));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        if self.initialized() {
            return Err(SetOnceError(value));
        }
        {
            let _setting = self.setting.lock();
            self.slot.set(value).map_err(SetOnceError)?;
        }
        self.was_set.notify_waiters();
        Ok(())
    }

    /// Waits until a value is set.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing; the value stays in the cell.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> {
        let set = self.was_set.wait_for(|| self.get());
        raddle_leaf::wait::located("SetOnce::wait", Resource::Unknown, set)
    }
}

impl<T> fmt::Display for SetOnceError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the cell is set already")
    }
}

impl<T: fmt::Debug> Error for SetOnceError<T> {}
