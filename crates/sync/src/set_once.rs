//! A cell that is set once, with a wait for the value.

use std::error::Error;
use std::fmt;

use raddle_leaf::wait::Resource;
use raddle_primitives::sync::{Mutex, Rank};

use crate::Notify;
use crate::once_slot::OnceSlot;

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

impl<T> SetOnce<T> {
    /// Makes an empty cell.
    pub fn new() -> Self {
        Self::with_slot(OnceSlot::new())
    }

    /// Makes a cell that holds `value`, if there is one.
    pub fn new_with(value: Option<T>) -> Self {
        Self::with_slot(value.map_or_else(OnceSlot::new, OnceSlot::with_value))
    }

    /// Makes an empty cell, for a static. This function does not exist under loom.
    #[cfg(not(raddle_loom))]
    pub const fn const_new() -> Self {
        Self {
            slot: OnceSlot::new(),
            setting: Mutex::ranked(Rank::leaf("setting once"), ()),
            was_set: Notify::const_new(),
        }
    }

    /// Makes a cell that holds `value`, for a static. This function does not exist under loom.
    #[cfg(not(raddle_loom))]
    pub const fn const_new_with(value: T) -> Self {
        Self {
            slot: OnceSlot::with_value(value),
            setting: Mutex::ranked(Rank::leaf("setting once"), ()),
            was_set: Notify::const_new(),
        }
    }

    fn with_slot(slot: OnceSlot<T>) -> Self {
        Self {
            slot,
            setting: Mutex::ranked(Rank::leaf("setting once"), ()),
            was_set: Notify::new(),
        }
    }

    /// Returns whether a value is set.
    pub fn initialized(&self) -> bool {
        self.slot.is_set()
    }

    /// Returns the value, if one is set.
    pub fn get(&self) -> Option<&T> {
        self.slot.get()
    }

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

    /// Consumes the cell and returns the value.
    pub fn into_inner(mut self) -> Option<T> {
        self.slot.take()
    }

    /// Waits until a value is set.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing; the value stays in the cell.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> {
        raddle_leaf::wait::located("SetOnce::wait", Resource::Unknown, async move {
            raddle_leaf::coop::cooperative(async {
                loop {
                    // Created before the check, so that a `set` between the two notifies it.
                    let was_set = self.was_set.notified();
                    if let Some(value) = self.get() {
                        return value;
                    }
                    was_set.await;
                }
            })
            .await
        })
    }
}

impl<T> Default for SetOnce<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SetOnce").field(&self.get()).finish()
    }
}

impl<T: Clone> Clone for SetOnce<T> {
    fn clone(&self) -> Self {
        Self::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for SetOnce<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for SetOnce<T> {}

impl<T> From<T> for SetOnce<T> {
    fn from(value: T) -> Self {
        Self::new_with(Some(value))
    }
}

impl<T> fmt::Display for SetOnceError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the cell is set already")
    }
}

impl<T: fmt::Debug> Error for SetOnceError<T> {}
