//! A cell that is initialised once, by an async function.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;

use raddle_leaf::wait::Resource;

use crate::once_slot::{OnceSlot, slot_cell};
use crate::semaphore::core::{Closed, Core, Refused};

/// A cell that is initialised at its first use, by an async function.
///
/// When several tasks ask for the value, one runs its function and the others wait. If that
/// function fails or panics, or its future is dropped, one of the waiting tasks runs its own
/// function. Reading an initialised value is one load, and costs no budget.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::OnceCell;
///
/// async fn connect() -> String {
///     "connected".to_owned()
/// }
///
/// static CONNECTION: OnceCell<String> = OnceCell::const_new();
///
/// # fn main() { raddle::run(async {
/// assert_eq!(CONNECTION.get_or_init(connect).await, "connected");
/// # }) }
/// ```
pub struct OnceCell<T> {
    slot: OnceSlot<T>,
    /// One permit: the right to initialise the cell. Closed once the value is set.
    init_permits: Core,
}

/// The error of [`OnceCell::set`]: why the value was refused. Contains the value.
#[derive(Debug, PartialEq, Eq)]
pub enum SetError<T> {
    /// The cell already holds a value.
    AlreadyInitializedError(T),

    /// The cell is being initialised.
    InitializingError(T),
}

slot_cell! {
    OnceCell {
        init_permits: Core::new(1),
    }
}

impl<T> OnceCell<T> {
    /// Returns the value, if there is one.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.slot.get_mut()
    }

    /// Sets the value of an empty cell.
    ///
    /// # Errors
    ///
    /// Returns [`SetError`] with the value, if the cell is initialised or is being initialised.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::OnceCell;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let cell = OnceCell::new();
    /// cell.set(7)?;
    /// let error = cell.set(8).unwrap_err();
    /// assert!(error.is_already_init_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        if self.initialized() {
            return Err(SetError::AlreadyInitializedError(value));
        }
        match self.init_permits.try_acquire(1) {
            Ok(()) => {
                InitPermit(self).succeed(value);
                Ok(())
            }
            Err(Refused::Closed) => Err(SetError::AlreadyInitializedError(value)),
            Err(Refused::NoPermits) => Err(SetError::InitializingError(value)),
        }
    }

    /// Returns the value. If there is none, initialises the cell with the result of `f`.
    ///
    /// # Panics
    ///
    /// Panics if `f` or its future panics. The cell stays empty then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future also drops the future of `f`, if it is running, and leaves the cell
    /// empty for the next initialiser.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::OnceCell;
    ///
    /// # fn main() { raddle::run(async {
    /// let cell = OnceCell::new();
    /// assert_eq!(*cell.get_or_init(|| async { 7 }).await, 7);
    /// // The function is not called again.
    /// assert_eq!(*cell.get_or_init(|| async { 8 }).await, 7);
    /// # }) }
    /// ```
    pub async fn get_or_init<F, Fut>(&self, f: F) -> &T
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        // Checked here too, so that an existing value costs one load and one unit of the budget.
        if let Some(value) = self.get() {
            raddle_leaf::coop::consume_budget().await;
            return value;
        }
        let made = self.get_or_try_init(async || Ok::<_, Infallible>(f().await));
        let Ok(value) = made.await;
        value
    }

    /// Returns the value. If there is none, initialises the cell with the result of `f`.
    ///
    /// # Errors
    ///
    /// Returns the error of `f` if `f` fails. The cell stays empty in that case.
    ///
    /// # Panics
    ///
    /// Panics if `f` or its future panics. The cell stays empty then.
    ///
    /// # Cancel safety
    ///
    /// The same as for [`get_or_init`](Self::get_or_init).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::OnceCell;
    ///
    /// # fn main() { raddle::run(async {
    /// let cell = OnceCell::new();
    /// assert!(cell.get_or_try_init(|| async { Err("no network") }).await.is_err());
    /// // Still empty, and tried again.
    /// assert_eq!(cell.get_or_try_init(|| async { Ok::<_, ()>(7) }).await, Ok(&7));
    /// # }) }
    /// ```
    pub async fn get_or_try_init<E, F, Fut>(&self, f: F) -> Result<&T, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        if let Some(value) = self.get() {
            raddle_leaf::coop::consume_budget().await;
            return Ok(value);
        }
        let acquire = self.init_permits.acquire(1);
        match raddle_leaf::wait::located("OnceCell", Resource::Unknown, acquire).await {
            Ok(()) => {
                let permit = InitPermit(self);
                Ok(permit.succeed(f().await?))
            }
            Err(Closed) => Ok(self.value()),
        }
    }

    /// Returns the value, which exists once the semaphore is closed.
    fn value(&self) -> &T {
        self.get()
            .expect("the value is set before the semaphore is closed")
    }

    /// Takes the value out, and leaves the cell empty.
    pub fn take(&mut self) -> Option<T> {
        self.init_permits = Core::new(1);
        self.slot.take()
    }
}

/// The right to initialise the cell. Its drop passes it to the next waiter.
struct InitPermit<'a, T>(&'a OnceCell<T>);

impl<'a, T> InitPermit<'a, T> {
    fn succeed(self, value: T) -> &'a T {
        let cell = self.0;
        let refused = cell.slot.set(value);
        debug_assert!(refused.is_ok(), "one initialiser at a time has the permit");
        cell.init_permits.close();
        cell.value()
    }
}

impl<T> Drop for InitPermit<'_, T> {
    fn drop(&mut self) {
        self.0.init_permits.release(1);
    }
}

impl<T> SetError<T> {
    /// Returns whether the cell already held a value.
    pub fn is_already_init_err(&self) -> bool {
        matches!(self, Self::AlreadyInitializedError(_))
    }

    /// Returns whether a task was initialising the cell.
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
