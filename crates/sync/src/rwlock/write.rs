//! The guards of a writer.

use std::marker::PhantomData;

use super::held::{Held, downgrade_methods};
use super::read::RwLockReadGuard;
use crate::guard::{Exclusive, guard_traits, map_methods};
use crate::semaphore::core::Core;

/// A write lock on an [`RwLock`](crate::RwLock), released on drop.
///
/// Returned by [`RwLock::write`](crate::RwLock::write) and by its `try_` and `blocking_` forms. It
/// may be held across an `.await`, and dropped on another thread.
#[must_use = "dropping it gives up the lock at once"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    guarded: Exclusive<T, Held<&'a Core>>,
    marker: PhantomData<&'a mut T>,
}

// SAFETY: the fields are `Send` if this guard is. `T: Sync` is required because the guard can
// become a shared one on another thread.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockWriteGuard<'_, T> {}
// SAFETY: the fields are `Sync` if this guard is.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    #[inline]
    pub(super) fn new(guarded: Exclusive<T, Held<&'a Core>>) -> Self {
        Self {
            guarded,
            marker: PhantomData,
        }
    }

    map_methods! {
        "the value", <F, U>(&mut T => &mut U) -> RwLockMappedWriteGuard<'a, U> where U: ?Sized;

        /// # Examples
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
        /// use raddle::sync::{RwLock, RwLockWriteGuard};
        ///
        /// # fn main() { raddle::run(async {
        /// let lock = RwLock::new((1, 2));
        /// let mut first = RwLockWriteGuard::map(lock.write().await, |pair| &mut pair.0);
        /// *first += 10;
        /// drop(first);
        /// assert_eq!(*lock.read().await, (11, 2));
        /// # }) }
        /// ```
        map,

        try_map,
    }

    /// Converts the guard into a mapped guard of the whole value.
    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T> {
        RwLockMappedWriteGuard::new(this.guarded)
    }

    downgrade_methods! {
        RwLockReadGuard<'a, T>, RwLockReadGuard<'a, U>;

        /// # Examples
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
        /// use raddle::sync::RwLock;
        ///
        /// # fn main() { raddle::run(async {
        /// let lock = RwLock::new((1, 2));
        /// let mut writer = lock.write().await;
        /// writer.0 += 10;
        /// // No other writer comes in between.
        /// let reader = writer.downgrade();
        /// assert_eq!(reader.0, 11);
        /// assert!(lock.try_read().is_ok());
        /// # }) }
        /// ```
        downgrade,

        /// # Examples
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
        /// use raddle::sync::{RwLock, RwLockWriteGuard};
        ///
        /// # fn main() { raddle::run(async {
        /// let lock = RwLock::new((1, 2));
        /// let first = RwLockWriteGuard::downgrade_map(lock.write().await, |pair| &pair.0);
        /// assert_eq!(*first, 1);
        /// assert!(lock.try_read().is_ok());
        /// # }) }
        /// ```
        downgrade_map,

        try_downgrade_map,
    }
}

guard_traits!(impl DerefMut<Target = T> for RwLockWriteGuard<'_, T>);

/// A write lock on an [`RwLock`](crate::RwLock), narrowed to a part of its value; released on drop.
///
/// Comes from [`RwLockWriteGuard::map`]. It cannot be downgraded: the type of the part could allow
/// what the type of the value forbids.
#[clippy::has_significant_drop]
pub struct RwLockMappedWriteGuard<'a, T: ?Sized> {
    guarded: Exclusive<T, Held<&'a Core>>,
    marker: PhantomData<&'a mut T>,
}

// SAFETY: the fields are `Send` if this guard is. `T: Sync` is not needed; it is required as for
// the guard of the whole value.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockMappedWriteGuard<'_, T> {}
// SAFETY: the fields are `Sync` if this guard is.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockMappedWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockMappedWriteGuard<'a, T> {
    #[inline]
    fn new(guarded: Exclusive<T, Held<&'a Core>>) -> Self {
        Self {
            guarded,
            marker: PhantomData,
        }
    }

    map_methods! {
        "its part", <F, U>(&mut T => &mut U) -> RwLockMappedWriteGuard<'a, U> where U: ?Sized;
        map,
        try_map,
    }
}

guard_traits!(impl DerefMut<Target = T> for RwLockMappedWriteGuard<'_, T>);
