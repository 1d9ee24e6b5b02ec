//! A cell that is initialised once, by an async function.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;

use crate::Notify;
use crate::once_slot::{Claim, OnceSlot};

/// A cell whose value is made at its first use, by an async function.
///
/// Of all who ask for the value one runs its function, and the others wait. If
/// that function fails or panics, or its future is dropped, one of those who
/// wait runs its own. Reading a value that is there is one load, which takes
/// nothing from the poll budget.
///
/// # Examples
///
/// ```
/// use raddle_sync::OnceCell;
///
/// async fn connect() -> String {
///     "connected".to_owned()
/// }
///
/// static CONNECTION: OnceCell<String> = OnceCell::const_new();
///
/// # futures_lite::future::block_on(async {
/// assert_eq!(CONNECTION.get_or_init(connect).await, "connected");
/// # });
/// ```
pub struct OnceCell<T> {
    slot: OnceSlot<T>,
    /// Notifies one when an initialiser gave up, and all when the value is there.
    ended: Notify,
}

/// Why [`OnceCell::set`] refused a value, which it carries.
#[derive(Debug, PartialEq, Eq)]
pub enum SetError<T> {
    /// The cell holds a value already.
    AlreadyInitializedError(T),

    /// Somebody is making the cell's value at this moment.
    InitializingError(T),
}

impl<T> OnceCell<T> {
    /// Makes an empty cell.
    pub fn new() -> Self {
        Self::with_slot(OnceSlot::new())
    }

    /// Makes a cell that holds `value`, if there is one.
    pub fn new_with(value: Option<T>) -> Self {
        Self::with_slot(value.map_or_else(OnceSlot::new, OnceSlot::with_value))
    }

    /// Makes an empty cell, for a static. A model of loom has none.
    #[cfg(not(raddle_loom))]
    pub const fn const_new() -> Self {
        Self {
            slot: OnceSlot::new(),
            ended: Notify::const_new(),
        }
    }

    /// Makes a cell that holds `value`, for a static. A model of loom has none.
    #[cfg(not(raddle_loom))]
    pub const fn const_new_with(value: T) -> Self {
        Self {
            slot: OnceSlot::with_value(value),
            ended: Notify::const_new(),
        }
    }

    fn with_slot(slot: OnceSlot<T>) -> Self {
        Self {
            slot,
            ended: Notify::new(),
        }
    }

    /// Whether the cell holds a value.
    pub fn initialized(&self) -> bool {
        self.slot.is_set()
    }

    /// The value, if there is one.
    pub fn get(&self) -> Option<&T> {
        self.slot.get()
    }

    /// The value, if there is one.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.slot.get_mut()
    }

    /// Sets the value of an empty cell.
    ///
    /// # Errors
    ///
    /// If there is a value already, or one is being made.
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        match Attempt::start(self) {
            Some(attempt) => {
                attempt.succeed(value);
                Ok(())
            }
            None if self.initialized() => Err(SetError::AlreadyInitializedError(value)),
            None => Err(SetError::InitializingError(value)),
        }
    }

    /// The value; if there is none, what `f` makes.
    ///
    /// # Panics
    ///
    /// If `f` or its future panics. The cell stays empty then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops that of `f`, if it was running, and leaves the
    /// cell empty for the next.
    pub async fn get_or_init<F, Fut>(&self, f: F) -> &T
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        // Here too, so that a value that is there costs one load.
        if let Some(value) = self.get() {
            return value;
        }
        let made = self.get_or_try_init(async || Ok::<_, Infallible>(f().await));
        let Ok(value) = made.await;
        value
    }

    /// The value; if there is none, what `f` makes.
    ///
    /// # Errors
    ///
    /// That of `f`, if it fails. The cell stays empty then.
    ///
    /// # Panics
    ///
    /// If `f` or its future panics. The cell stays empty then.
    ///
    /// # Cancel safety
    ///
    /// As [`get_or_init`](Self::get_or_init).
    pub async fn get_or_try_init<E, F, Fut>(&self, f: F) -> Result<&T, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        // A read, not a wait, so it costs no budget.
        if let Some(value) = self.get() {
            return Ok(value);
        }
        raddle_coop::cooperative(async {
            let attempt = loop {
                // Before the look: an end that comes between the two counts.
                let ended = self.ended.notified();
                if let Some(value) = self.get() {
                    return Ok(value);
                }
                if let Some(attempt) = Attempt::start(self) {
                    break attempt;
                }
                ended.await;
            };
            Ok(attempt.succeed(f().await?))
        })
        .await
    }

    /// Takes the value out of a cell that nobody shares any more.
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// Takes the value out, and leaves the cell empty.
    pub fn take(&mut self) -> Option<T> {
        self.slot.take()
    }
}

/// Somebody who makes the value. Its drop lets the next try.
struct Attempt<'a, T> {
    cell: &'a OnceCell<T>,
    claim: Option<Claim<'a, T>>,
}

impl<'a, T> Attempt<'a, T> {
    fn start(cell: &'a OnceCell<T>) -> Option<Self> {
        let claim = Some(cell.slot.claim()?);
        Some(Self { cell, claim })
    }

    fn succeed(mut self, value: T) -> &'a T {
        if let Some(claim) = self.claim.take() {
            claim.set(value);
        }
        self.cell.ended.notify_waiters();
        self.cell.get().expect("it was set just now")
    }
}

impl<T> Drop for Attempt<'_, T> {
    fn drop(&mut self) {
        if let Some(claim) = self.claim.take() {
            drop(claim);
            self.cell.ended.notify_one();
        }
    }
}

impl<T> Default for OnceCell<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnceCell").field(&self.get()).finish()
    }
}

impl<T: Clone> Clone for OnceCell<T> {
    fn clone(&self) -> Self {
        Self::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for OnceCell<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceCell<T> {}

impl<T> From<T> for OnceCell<T> {
    fn from(value: T) -> Self {
        Self::new_with(Some(value))
    }
}

impl<T> SetError<T> {
    /// Whether the cell held a value already.
    pub fn is_already_init_err(&self) -> bool {
        matches!(self, Self::AlreadyInitializedError(_))
    }

    /// Whether somebody was making the value.
    pub fn is_initializing_err(&self) -> bool {
        matches!(self, Self::InitializingError(_))
    }
}

impl<T> fmt::Display for SetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AlreadyInitializedError(_) => "the cell holds a value already",
            Self::InitializingError(_) => "the cell's value is being made",
        })
    }
}

impl<T: fmt::Debug> Error for SetError<T> {}
