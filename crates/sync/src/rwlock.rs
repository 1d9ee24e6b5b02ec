//! The lock for many readers or one writer.

mod held;
mod owned_read;
mod owned_write;
mod read;
mod write;

pub use owned_read::OwnedRwLockReadGuard;
pub use owned_write::{OwnedRwLockMappedWriteGuard, OwnedRwLockWriteGuard};
pub use read::RwLockReadGuard;
pub use write::{RwLockMappedWriteGuard, RwLockWriteGuard};

use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use raddle_leaf::wait::{Caller, GuardKind, Holding, Resource, ResourceSpan};
use raddle_primitives::cell::UnsafeCell;

use self::held::Held;
use crate::blocking::block_on;
use crate::guard::{Exclusive, Lock, Shared};
use crate::semaphore::core::Core;
use crate::try_lock_error::TryLockError;

/// The maximum number of readers of a lock at a time.
const MAX_READS: u32 = u32::MAX >> 3;

/// A lock that many readers or one writer may hold, also across an `.await`.
///
/// It is fair: waiting tasks get the lock in the order of their first polls, and no reader passes a
/// writer that waits. So a task that holds a read lock and asks for another one deadlocks if a
/// writer waits in between. The lock is not poisoned when a task panics while it holds the lock.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::RwLock;
///
/// # fn main() { raddle::run(async {
/// let lock = RwLock::new(1);
/// {
///     let one = lock.read().await;
///     let other = lock.read().await;
///     assert_eq!(*one + *other, 2);
/// }
/// *lock.write().await += 1;
/// assert_eq!(*lock.read().await, 2);
/// # }) }
/// ```
pub struct RwLock<T: ?Sized> {
    /// A semaphore of `max_readers` permits: a reader has one, a writer has all of them.
    core: Core,
    max_readers: u32,
    /// The span that tokio-console shows.
    _span: ResourceSpan,
    value: UnsafeCell<T>,
}

// SAFETY: readers on several threads share the value, and a writer on any thread has exclusive
// access.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T> RwLock<T> {
    /// Makes an unlocked lock, for up to `u32::MAX >> 3` readers at a time.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self::with_max_readers(value, MAX_READS)
    }

    /// Makes an unlocked lock for up to `max_readers` at a time; further readers wait.
    ///
    /// # Panics
    ///
    /// Panics if `max_readers` is zero or above `u32::MAX >> 3`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::RwLock;
    ///
    /// # fn main() { raddle::run(async {
    /// let lock = RwLock::with_max_readers(5, 1);
    /// let _reader = lock.read().await;
    /// assert!(lock.try_read().is_err());
    /// # }) }
    /// ```
    #[track_caller]
    pub fn with_max_readers(value: T, max_readers: u32) -> Self {
        check(max_readers);
        Self {
            core: Core::new(max_readers as usize),
            max_readers,
            _span: ResourceSpan::new("RwLock", "Sync"),
            value: UnsafeCell::new(value),
        }
    }

    /// Like [`new`](Self::new), but `const`, for statics.
    #[cfg(not(raddle_loom))]
    pub const fn const_new(value: T) -> Self {
        Self::const_with_max_readers(value, MAX_READS)
    }

    /// Like [`with_max_readers`](Self::with_max_readers), but `const`, for statics.
    ///
    /// # Panics
    ///
    /// Panics if `max_readers` is zero or above `u32::MAX >> 3`.
    #[cfg(not(raddle_loom))]
    #[track_caller]
    pub const fn const_with_max_readers(value: T, max_readers: u32) -> Self {
        check(max_readers);
        Self {
            core: Core::new(max_readers as usize),
            max_readers,
            _span: ResourceSpan::none(),
            value: UnsafeCell::new(value),
        }
    }

    /// Consumes the lock and returns the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

/// With zero permits a writer would not exclude other users.
#[track_caller]
const fn check(max_readers: u32) {
    assert!(
        max_readers > 0 && max_readers <= MAX_READS,
        "the number of readers is out of range; use 1 to u32::MAX >> 3"
    );
}

impl<T: ?Sized> RwLock<T> {
    /// Waits for a read lock, which other readers may hold too.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before completion does not hold the lock. The task
    /// loses its place in the queue.
    #[track_caller]
    #[inline]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        let caller = Caller::here();
        raddle_leaf::wait::located("RwLock::read", self.resource(), async move {
            self.acquire(1).await;
            self.read_guard(caller)
        })
    }

    /// Waits for the write lock, which excludes all other users.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before completion does not hold the lock. The task
    /// loses its place in the queue.
    #[track_caller]
    #[inline]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        let caller = Caller::here();
        raddle_leaf::wait::located("RwLock::write", self.resource(), async move {
            self.acquire(self.max_readers).await;
            self.write_guard(caller)
        })
    }

    /// Like [`read`](Self::read), but the guard keeps the lock alive, and can be moved to another
    /// task.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before completion does not hold the lock. The task
    /// loses its place in the queue.
    #[track_caller]
    #[inline]
    pub fn read_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockReadGuard<T>> {
        let caller = Caller::here();
        raddle_leaf::wait::located("RwLock::read_owned", self.resource(), async move {
            self.acquire(1).await;
            self.owned_read_guard(caller)
        })
    }

    /// Like [`write`](Self::write), but the guard keeps the lock alive, and can be moved to another
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
    /// use raddle::sync::RwLock;
    /// use std::sync::Arc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let lock = Arc::new(RwLock::new(5));
    /// let mut guard = Arc::clone(&lock).write_owned().await;
    /// raddle::spawn(async move { *guard += 1 }).await?;
    /// assert_eq!(*lock.read().await, 6);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    #[inline]
    pub fn write_owned(self: Arc<Self>) -> impl Future<Output = OwnedRwLockWriteGuard<T>> {
        let caller = Caller::here();
        raddle_leaf::wait::located("RwLock::write_owned", self.resource(), async move {
            self.acquire(self.max_readers).await;
            self.owned_write_guard(caller)
        })
    }

    #[inline]
    fn resource(&self) -> Resource {
        Resource::Lock(self.address())
    }

    /// The address by which a task dump knows the lock.
    #[inline]
    fn address(&self) -> usize {
        ptr::from_ref(&self.core).addr()
    }

    #[inline]
    async fn acquire(&self, permits: u32) {
        if self.core.acquire(permits as usize).await.is_err() {
            unreachable!("a lock is never closed");
        }
    }

    #[inline]
    fn try_acquire(&self, permits: u32) -> Result<(), TryLockError> {
        Ok(self.core.try_acquire(permits as usize)?)
    }

    /// Takes a read lock if there is no writer and no task waits.
    ///
    /// # Errors
    ///
    /// Returns [`TryLockError`] if the caller would have to wait.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::RwLock;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let lock = RwLock::new(5);
    /// let _reader = lock.try_read()?;
    /// assert!(lock.try_read().is_ok() && lock.try_write().is_err());
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    #[inline]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        self.try_acquire(1)?;
        Ok(self.read_guard(Caller::here()))
    }

    /// Takes the write lock if it is free and no task waits for it.
    ///
    /// # Errors
    ///
    /// Returns [`TryLockError`] if the caller would have to wait.
    #[track_caller]
    #[inline]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        self.try_acquire(self.max_readers)?;
        Ok(self.write_guard(Caller::here()))
    }

    /// Like [`try_read`](Self::try_read), but the guard keeps the lock alive.
    ///
    /// # Errors
    ///
    /// Returns [`TryLockError`] if the caller would have to wait.
    #[track_caller]
    #[inline]
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        self.try_acquire(1)?;
        Ok(self.owned_read_guard(Caller::here()))
    }

    /// Like [`try_write`](Self::try_write), but the guard keeps the lock alive.
    ///
    /// # Errors
    ///
    /// Returns [`TryLockError`] if the caller would have to wait.
    #[track_caller]
    #[inline]
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        self.try_acquire(self.max_readers)?;
        Ok(self.owned_write_guard(Caller::here()))
    }

    /// Blocks the thread until it has a read lock.
    ///
    /// # Panics
    ///
    /// Panics inside the poll of a task, which must not block: there, await [`read`](Self::read).
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        block_on(self.read())
    }

    /// Blocks the thread until it has the write lock.
    ///
    /// # Panics
    ///
    /// Panics inside the poll of a task, which must not block: there, await [`write`](Self::write).
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        block_on(self.write())
    }

    /// Returns the value without locking: the mutable borrow excludes other users.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.with_mut(|value| {
            // SAFETY: the lock is borrowed exclusively, so there is no guard.
            unsafe { &mut *value }
        })
    }

    // The guards below own the permits that the caller has taken.

    #[inline]
    fn read_guard(&self, caller: Caller) -> RwLockReadGuard<'_, T> {
        let holding = Holding::new(self.address(), 1, caller, GuardKind::BORROWED);
        let held = Held::new(&self.core, 1, holding);
        // SAFETY: the permit excludes writers.
        RwLockReadGuard::new(unsafe { Shared::new(self.to_read(), held) })
    }

    #[inline]
    fn write_guard(&self, caller: Caller) -> RwLockWriteGuard<'_, T> {
        let permits = self.max_readers as usize;
        let holding = Holding::new(self.address(), permits, caller, GuardKind::BORROWED_ALONE);
        let held = Held::new(&self.core, permits, holding);
        // SAFETY: the permits are all that there are.
        RwLockWriteGuard::new(unsafe { Exclusive::new(self.to_write(), held) })
    }

    #[inline]
    fn owned_read_guard(self: Arc<Self>, caller: Caller) -> OwnedRwLockReadGuard<T> {
        let holding = Holding::new(self.address(), 1, caller, GuardKind::OWNED);
        let value = self.to_read();
        // SAFETY: the permit excludes writers, and the lock stays alive with it.
        OwnedRwLockReadGuard::new(unsafe { Shared::new(value, Held::new(self, 1, holding)) })
    }

    #[inline]
    fn owned_write_guard(self: Arc<Self>, caller: Caller) -> OwnedRwLockWriteGuard<T> {
        let permits = self.max_readers as usize;
        let holding = Holding::new(self.address(), permits, caller, GuardKind::OWNED_ALONE);
        let value = self.to_write();
        // SAFETY: the permits are all that there are, and the lock stays alive with them.
        let guarded = unsafe { Exclusive::new(value, Held::new(self, permits, holding)) };
        OwnedRwLockWriteGuard::new(guarded)
    }

    /// Returns the value for reading. In a model this access fails if there is a writer.
    fn to_read(&self) -> NonNull<T> {
        self.value.with(|value| {
            // SAFETY: the address of a field is not null.
            unsafe { NonNull::new_unchecked(value.cast_mut()) }
        })
    }

    /// Returns the value for writing. In a model this access fails if there is another access.
    fn to_write(&self) -> NonNull<T> {
        self.value.with_mut(|value| {
            // SAFETY: the address of a field is not null.
            unsafe { NonNull::new_unchecked(value) }
        })
    }
}

impl<T: ?Sized> Lock for RwLock<T> {
    #[inline]
    fn core(&self) -> &Core {
        &self.core
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(value) => shown.field("data", &&*value),
            Err(_) => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}
