//! The mutex.

mod guard;
mod owned;

pub use guard::{MappedMutexGuard, MutexGuard};
pub use owned::{OwnedMappedMutexGuard, OwnedMutexGuard};

use std::fmt;
use std::sync::Arc;

use raddle_std::cell::UnsafeCell;

use crate::blocking::block_on;
use crate::semaphore::core::Core;
use crate::try_lock_error::TryLockError;

/// A value that one task at a time can reach, also across an `.await`.
///
/// It is fair: the lock goes to those who wait in the order of their first
/// polls. It is not poisoned when a task panics while it has the lock.
///
/// A lock that is never held across an `.await` is better a `std::sync::Mutex`.
///
/// # Examples
///
/// ```
/// # #[cfg(not(raddle_loom))]
/// # futures_lite::future::block_on(async {
/// use raddle_sync::Mutex;
///
/// let mutex = Mutex::new(1);
/// *mutex.lock().await += 1;
/// assert_eq!(*mutex.lock().await, 2);
/// # });
/// ```
///
/// What only one thread may touch does not become shared by it:
///
/// ```compile_fail
/// fn shared<T: Sync>() {}
/// shared::<raddle_sync::Mutex<std::rc::Rc<u32>>>();
/// ```
///
/// ```compile_fail
/// fn shared<T: Sync>() {}
/// shared::<raddle_sync::MutexGuard<'static, std::cell::Cell<u32>>>();
/// ```
pub struct Mutex<T: ?Sized> {
    /// One permit, and who has it has the value.
    core: Core,
    value: UnsafeCell<T>,
}

// SAFETY: the permit lets one thread at a time reach the value, which is as if
// it were sent there; a shared reference to it needs a guard, which is `Sync`
// only if the value is.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// An unlocked mutex.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self {
            core: Core::new(1),
            value: UnsafeCell::new(value),
        }
    }

    /// As [`new`](Self::new), for statics.
    #[cfg(not(raddle_loom))]
    pub const fn const_new(value: T) -> Self {
        Self {
            core: Core::new(1),
            value: UnsafeCell::new(value),
        }
    }

    /// Takes the value out of a mutex that nobody shares any more.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropped before completion, it does not have the lock. It
    /// gives up its place in line.
    #[inline]
    pub async fn lock(&self) -> MutexGuard<'_, T> {
        self.acquire().await;
        MutexGuard::new(self)
    }

    /// As [`lock`](Self::lock), with a guard that keeps the mutex alive, and can
    /// go to another task.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropped before completion, it does not have the lock. It
    /// gives up its place in line.
    #[inline]
    pub async fn lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        self.acquire().await;
        OwnedMutexGuard::new(self)
    }

    #[inline]
    async fn acquire(&self) {
        if self.core.acquire(1).await.is_err() {
            unreachable!("a mutex is never closed");
        }
    }

    /// Blocks the thread until it has the lock.
    ///
    /// For threads without an executor; those who wait asynchronously and those
    /// who block stand in the same line.
    ///
    /// # Panics
    ///
    /// Inside the poll of a task, which must not block: there, await
    /// [`lock`](Self::lock).
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        block_on(self.lock())
    }

    /// As [`blocking_lock`](Self::blocking_lock), with a guard that keeps the
    /// mutex alive.
    ///
    /// # Panics
    ///
    /// Inside the poll of a task, which must not block: there, await
    /// [`lock_owned`](Self::lock_owned).
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        block_on(self.lock_owned())
    }

    /// Takes the lock, if nobody has it or waits for it.
    ///
    /// # Errors
    ///
    /// [`TryLockError`] if one would have to wait.
    #[inline]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        self.core.try_acquire(1)?;
        Ok(MutexGuard::new(self))
    }

    /// As [`try_lock`](Self::try_lock), with a guard that keeps the mutex alive.
    ///
    /// # Errors
    ///
    /// [`TryLockError`] if one would have to wait.
    #[inline]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        self.core.try_acquire(1)?;
        Ok(OwnedMutexGuard::new(self))
    }

    /// The value, without locking: the borrow proves that nobody else can reach
    /// it.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.with_mut(|value| {
            // SAFETY: the mutex is borrowed exclusively, so there is no guard.
            unsafe { &mut *value }
        })
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(value) => shown.field("data", &&*value),
            Err(_) => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}
