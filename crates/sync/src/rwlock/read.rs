//! The guard of a reader.

use std::marker::PhantomData;

use super::held::Held;
use crate::guard::{Shared, guard_traits, map_methods};
use crate::semaphore::core::Core;

/// A read lock on an [`RwLock`](crate::RwLock), released on drop.
///
/// Returned by [`RwLock::read`](crate::RwLock::read), by its `try_` and `blocking_` forms, and by
/// [`RwLockWriteGuard::downgrade`](crate::RwLockWriteGuard::downgrade). It may be held across an
/// `.await`, and dropped on another thread.
#[must_use = "dropping it gives up the lock at once"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    /// The lock's value, or a part of it.
    guarded: Shared<T, Held<&'a Core>>,
    marker: PhantomData<&'a T>,
}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    #[inline]
    pub(super) fn new(guarded: Shared<T, Held<&'a Core>>) -> Self {
        Self {
            guarded,
            marker: PhantomData,
        }
    }

    map_methods! {
        "the value", <F, U>(&T => &U) -> RwLockReadGuard<'a, U> where U: ?Sized;

        /// # Examples
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
        /// use raddle::sync::{RwLock, RwLockReadGuard};
        ///
        /// # fn main() { raddle::run(async {
        /// let lock = RwLock::new((1, 2));
        /// let first = RwLockReadGuard::map(lock.read().await, |pair| &pair.0);
        /// assert_eq!(*first, 1);
        /// # }) }
        /// ```
        map,

        try_map,
    }
}

guard_traits!(impl Deref<Target = T> for RwLockReadGuard<'_, T>);
