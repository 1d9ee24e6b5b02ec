//! The guards of a writer that keep the lock alive.

use std::sync::Arc;

use super::RwLock;
use super::held::{Held, downgrade_methods};
use super::owned_read::OwnedRwLockReadGuard;
use crate::guard::{Exclusive, guard_traits, map_methods};

/// A write lock on an [`RwLock`] that the guard keeps alive, released on drop.
///
/// Returned by [`RwLock::write_owned`] and [`RwLock::try_write_owned`].
#[clippy::has_significant_drop]
pub struct OwnedRwLockWriteGuard<T: ?Sized> {
    guarded: Exclusive<T, Held<Arc<RwLock<T>>>>,
}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    #[inline]
    pub(super) fn new(guarded: Exclusive<T, Held<Arc<RwLock<T>>>>) -> Self {
        Self { guarded }
    }

    map_methods! {
        "the value", <F, U>(&mut T => &mut U) -> OwnedRwLockMappedWriteGuard<T, U> where U: ?Sized;
        map,
        try_map,
    }

    /// Converts the guard into a mapped guard of the whole value.
    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T> {
        OwnedRwLockMappedWriteGuard::new(this.guarded)
    }

    /// Returns the lock that this guard writes.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.guarded.held().lock()
    }

    downgrade_methods! {
        OwnedRwLockReadGuard<T>, OwnedRwLockReadGuard<T, U>;
        downgrade,
        downgrade_map,
        try_downgrade_map,
    }
}

guard_traits!(impl DerefMut<Target = T> for OwnedRwLockWriteGuard<T>);

/// A write lock on an [`RwLock`] that the guard keeps alive, narrowed to a part of its value;
/// released on drop.
///
/// Comes from [`OwnedRwLockWriteGuard::map`]. It cannot be downgraded: the type of the part could
/// allow what the type of the value forbids.
#[clippy::has_significant_drop]
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized, U: ?Sized = T> {
    guarded: Exclusive<U, Held<Arc<RwLock<T>>>>,
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockMappedWriteGuard<T, U> {
    #[inline]
    fn new(guarded: Exclusive<U, Held<Arc<RwLock<T>>>>) -> Self {
        Self { guarded }
    }

    map_methods! {
        "its part", <F, V>(&mut U => &mut V) -> OwnedRwLockMappedWriteGuard<T, V> where V: ?Sized;
        map,
        try_map,
    }

    /// Returns the lock that this guard writes.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.guarded.held().lock()
    }
}

guard_traits!(impl<T> DerefMut<Target = U> for OwnedRwLockMappedWriteGuard<T, U>);
