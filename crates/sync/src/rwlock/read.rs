//! The guard of a reader.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

use super::held::Held;

/// A read lock on an [`RwLock`](crate::RwLock), released on drop.
///
/// Returned by [`RwLock::read`](crate::RwLock::read), by its `try_` and `blocking_` forms, and by
/// [`RwLockWriteGuard::downgrade`](crate::RwLockWriteGuard::downgrade). It may be held across an
/// `.await`, and dropped on another thread.
#[must_use = "dropping it gives up the lock at once"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    /// The lock's value, or a part of it.
    value: NonNull<T>,
    held: Held<'a>,
    marker: PhantomData<&'a T>,
}

// SAFETY: the guard acts as a shared reference to the value, and the permit can be released from
// any thread.
unsafe impl<T: ?Sized + Sync> Send for RwLockReadGuard<'_, T> {}
// SAFETY: a reference to the guard only gives access to a reference to the value.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    #[inline]
    pub(super) fn new(value: NonNull<T>, held: Held<'a>) -> Self {
        Self {
            value,
            held,
            marker: PhantomData,
        }
    }

    /// Narrows the guard to a part of the value.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    ///
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
    #[inline]
    pub fn map<F, U>(this: Self, part: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
        U: ?Sized,
    {
        let part = NonNull::from(part(&*this));
        RwLockReadGuard::new(part, this.held)
    }

    /// Narrows the guard to a part of the value, if there is one.
    ///
    /// # Errors
    ///
    /// Returns the guard itself if `part` returns `None`.
    #[inline]
    pub fn try_map<F, U>(this: Self, part: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
        U: ?Sized,
    {
        match part(&*this).map(NonNull::from) {
            Some(part) => Ok(RwLockReadGuard::new(part, this.held)),
            None => Err(this),
        }
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard has the permit and is borrowed, so no other task writes while the
        // reference lives.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
