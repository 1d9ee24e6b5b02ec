//! The guard of a reader that keeps the lock alive.

use std::sync::Arc;

use super::RwLock;
use super::held::Held;
use crate::guard::{Shared, guard_traits, map_methods};

/// A read lock on an [`RwLock`] that the guard keeps alive, released on drop.
///
/// Returned by [`RwLock::read_owned`], [`RwLock::try_read_owned`] and
/// [`OwnedRwLockWriteGuard::downgrade`](crate::OwnedRwLockWriteGuard::downgrade). `U` is the part
/// of the value that it is narrowed to.
#[clippy::has_significant_drop]
pub struct OwnedRwLockReadGuard<T: ?Sized, U: ?Sized = T> {
    /// The lock's value, or a part of it.
    guarded: Shared<U, Held<Arc<RwLock<T>>>>,
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockReadGuard<T, U> {
    #[inline]
    pub(super) fn new(guarded: Shared<U, Held<Arc<RwLock<T>>>>) -> Self {
        Self { guarded }
    }

    map_methods! {
        "the value", <F, V>(&U => &V) -> OwnedRwLockReadGuard<T, V> where V: ?Sized;
        map,
        try_map,
    }

    /// Returns the lock that this guard reads.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.guarded.held().lock()
    }
}

guard_traits!(impl<T> Deref<Target = U> for OwnedRwLockReadGuard<T, U>);
