//! The guards that keep a mutex alive.

use std::marker::PhantomData;
use std::sync::Arc;

use super::Mutex;
use super::locked::Locked;
use crate::guard::{Exclusive, guard_traits, map_methods};

/// The lock of a [`Mutex`] that the guard keeps alive, released on drop.
///
/// Returned by [`Mutex::lock_owned`], [`Mutex::try_lock_owned`] and [`Mutex::blocking_lock_owned`].
#[clippy::has_significant_drop]
pub struct OwnedMutexGuard<T: ?Sized> {
    guarded: Locked<Arc<Mutex<T>>>,
    /// Makes the guard `Sync` only if the value is. The value does not move with the guard.
    marker: PhantomData<Box<T>>,
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    #[inline]
    pub(super) fn new(guarded: Locked<Arc<Mutex<T>>>) -> Self {
        Self {
            guarded,
            marker: PhantomData,
        }
    }

    map_methods! {
        "the value", <U, F>(&mut T => &mut U) -> OwnedMappedMutexGuard<T, U> where U: ?Sized;
        map,
        try_map,
    }

    /// Returns the mutex of this guard.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        this.guarded.mutex()
    }
}

guard_traits!(impl DerefMut<Target = T> for OwnedMutexGuard<T>);

/// The lock of a [`Mutex`] that the guard keeps alive, narrowed to a part of its value; released on
/// drop.
///
/// Comes from [`OwnedMutexGuard::map`].
#[must_use = "dropping it releases the lock at once"]
#[clippy::has_significant_drop]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized = T> {
    guarded: Exclusive<U, Locked<Arc<Mutex<T>>>>,
}

// SAFETY: the fields are `Sync` if this guard is. `T: Sync` is not needed; it is required as for
// the guard of the whole value.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Sync for OwnedMappedMutexGuard<T, U> {}

impl<T: ?Sized, U: ?Sized> OwnedMappedMutexGuard<T, U> {
    #[inline]
    fn new(guarded: Exclusive<U, Locked<Arc<Mutex<T>>>>) -> Self {
        Self { guarded }
    }

    map_methods! {
        "its part", <S, F>(&mut U => &mut S) -> OwnedMappedMutexGuard<T, S> where S: ?Sized;
        map,
        try_map,
    }
}

guard_traits!(impl<T> DerefMut<Target = U> for OwnedMappedMutexGuard<T, U>);
