//! The mutex.

mod guard;
mod locked;
mod owned;

pub use guard::{MappedMutexGuard, MutexGuard};
pub use owned::{OwnedMappedMutexGuard, OwnedMutexGuard};

use std::fmt;
use std::ptr;
use std::sync::Arc;

use raddle_leaf::wait::{Caller, GuardKind, Holding, Resource, ResourceSpan};
use raddle_primitives::cell::UnsafeCell;

use self::locked::Locked;
use crate::blocking::block_on;
use crate::guard::Lock;
use crate::semaphore::core::Core;
use crate::try_lock_error::TryLockError;

/// A mutual exclusion lock that a task may hold across an `.await`.
///
/// It is fair: waiting tasks get the lock in the order of their first polls. It is not poisoned
/// when a task panics while it holds the lock.
///
/// If the lock is never held across an `.await`, use `std::sync::Mutex`, which is faster.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::Mutex;
///
/// # fn main() { raddle::run(async {
/// let mutex = Mutex::new(1);
/// *mutex.lock().await += 1;
/// assert_eq!(*mutex.lock().await, 2);
/// # }) }
/// ```
pub struct Mutex<T: ?Sized> {
    /// A semaphore of one permit, whose holder may use the value.
    core: Core,
    /// The span that tokio-console shows.
    _span: ResourceSpan,
    value: UnsafeCell<T>,
}

// SAFETY: the permit allows one thread at a time to access the value, as if the value were sent
// there. A shared reference to the value needs a guard, which is `Sync` only if the value is.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// Makes an unlocked mutex.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self {
            core: Core::new(1),
            _span: ResourceSpan::new("Mutex", "Sync"),
            value: UnsafeCell::new(value),
        }
    }

    /// Like [`new`](Self::new), but `const`, for statics.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Mutex;
    ///
    /// static COUNT: Mutex<u32> = Mutex::const_new(0);
    ///
    /// fn main() {
    ///     assert_eq!(*COUNT.try_lock().unwrap(), 0);
    /// }
    /// ```
    #[cfg(not(raddle_loom))]
    pub const fn const_new(value: T) -> Self {
        Self {
            core: Core::new(1),
            _span: ResourceSpan::none(),
            value: UnsafeCell::new(value),
        }
    }

    /// Consumes the mutex and returns the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before completion does not hold the lock. The task
    /// loses its place in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Mutex;
    /// use std::sync::Arc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let count = Arc::new(Mutex::new(0));
    /// let tasks: Vec<_> = (0..10)
    ///     .map(|_| {
    ///         let count = Arc::clone(&count);
    ///         raddle::spawn(async move { *count.lock().await += 1 })
    ///     })
    ///     .collect();
    /// for task in tasks {
    ///     task.await?;
    /// }
    /// assert_eq!(*count.lock().await, 10);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    #[inline]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        let caller = Caller::here();
        raddle_leaf::wait::located("Mutex::lock", self.resource(), async move {
            self.acquire().await;
            let holding = Holding::new(self.address(), 1, caller, GuardKind::BORROWED_ALONE);
            MutexGuard::new(Locked::new(self, holding))
        })
    }

    /// Like [`lock`](Self::lock), but the guard keeps the mutex alive, and can be moved to another
    /// task.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before completion does not hold the lock. The task
    /// loses its place in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Mutex;
    /// use std::sync::Arc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mutex = Arc::new(Mutex::new(5));
    /// let mut guard = Arc::clone(&mutex).lock_owned().await;
    /// // The guard borrows nothing, so that it can go to a task.
    /// raddle::spawn(async move { *guard += 1 }).await?;
    /// assert_eq!(*mutex.lock().await, 6);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    #[inline]
    pub fn lock_owned(self: Arc<Self>) -> impl Future<Output = OwnedMutexGuard<T>> {
        let caller = Caller::here();
        raddle_leaf::wait::located("Mutex::lock_owned", self.resource(), async move {
            self.acquire().await;
            let holding = Holding::new(self.address(), 1, caller, GuardKind::OWNED_ALONE);
            OwnedMutexGuard::new(Locked::new(self, holding))
        })
    }

    fn resource(&self) -> Resource {
        Resource::Lock(self.address())
    }

    /// The address by which a task dump knows the lock.
    #[inline]
    fn address(&self) -> usize {
        ptr::from_ref(&self.core).addr()
    }

    #[inline]
    async fn acquire(&self) {
        if self.core.acquire(1).await.is_err() {
            unreachable!("a mutex is never closed");
        }
    }

    /// Blocks the thread until it has the lock.
    ///
    /// For threads outside async code. Tasks and blocked threads wait in the same queue.
    ///
    /// # Panics
    ///
    /// Panics inside the poll of a task, which must not block: there, await [`lock`](Self::lock).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Mutex;
    /// use std::sync::Arc;
    ///
    /// # fn main() { raddle::run(async {
    /// let mutex = Arc::new(Mutex::new(5));
    /// let guard = mutex.lock().await;
    /// let thread = std::thread::spawn({
    ///     let mutex = Arc::clone(&mutex);
    ///     move || *mutex.blocking_lock() += 1
    /// });
    /// drop(guard);
    /// thread.join().unwrap();
    /// assert_eq!(*mutex.lock().await, 6);
    /// # }) }
    /// ```
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        block_on(self.lock())
    }

    /// Like [`blocking_lock`](Self::blocking_lock), but the guard keeps the mutex alive.
    ///
    /// # Panics
    ///
    /// Panics inside the poll of a task, which must not block: there, await
    /// [`lock_owned`](Self::lock_owned).
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        block_on(self.lock_owned())
    }

    /// Takes the lock if it is free and no task waits for it.
    ///
    /// # Errors
    ///
    /// Returns [`TryLockError`] if the caller would have to wait.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Mutex;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mutex = Mutex::new(5);
    /// let _guard = mutex.try_lock()?;
    /// assert!(mutex.try_lock().is_err());
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    #[inline]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        self.core.try_acquire(1)?;
        let holding = Holding::new(self.address(), 1, Caller::here(), GuardKind::BORROWED_ALONE);
        Ok(MutexGuard::new(Locked::new(self, holding)))
    }

    /// Like [`try_lock`](Self::try_lock), but the guard keeps the mutex alive.
    ///
    /// # Errors
    ///
    /// Returns [`TryLockError`] if the caller would have to wait.
    #[track_caller]
    #[inline]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        self.core.try_acquire(1)?;
        let holding = Holding::new(self.address(), 1, Caller::here(), GuardKind::OWNED_ALONE);
        Ok(OwnedMutexGuard::new(Locked::new(self, holding)))
    }

    /// Returns the value without locking: the mutable borrow excludes other users.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.with_mut(|value| {
            // SAFETY: the mutex is borrowed exclusively, so there is no guard.
            unsafe { &mut *value }
        })
    }
}

impl<T: ?Sized> Lock for Mutex<T> {
    #[inline]
    fn core(&self) -> &Core {
        &self.core
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
