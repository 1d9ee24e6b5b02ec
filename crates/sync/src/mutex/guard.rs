//! The guards that borrow a mutex.

use std::marker::PhantomData;

use super::Mutex;
use super::locked::Locked;
use crate::guard::{Exclusive, guard_traits, map_methods};
use crate::semaphore::core::Core;

/// The lock of a [`Mutex`], released on drop.
///
/// Returned by [`Mutex::lock`], [`Mutex::try_lock`] and [`Mutex::blocking_lock`]. It may be held
/// across an `.await`, and dropped on another thread.
#[must_use = "dropping it releases the lock at once"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized> {
    guarded: Locked<&'a Mutex<T>>,
    /// Makes the guard `Sync` only if the value is, because a reference to the guard gives access
    /// to the value.
    marker: PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    #[inline]
    pub(super) fn new(guarded: Locked<&'a Mutex<T>>) -> Self {
        Self {
            guarded,
            marker: PhantomData,
        }
    }

    map_methods! {
        "the value", <U, F>(&mut T => &mut U) -> MappedMutexGuard<'a, U> where U: ?Sized;

        /// # Examples
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
        /// use raddle::sync::{Mutex, MutexGuard};
        ///
        /// # fn main() { raddle::run(async {
        /// let mutex = Mutex::new((1, 2));
        /// let guard = mutex.lock().await;
        /// let mut first = MutexGuard::map(guard, |pair| &mut pair.0);
        /// *first += 10;
        /// drop(first);
        /// assert_eq!(*mutex.lock().await, (11, 2));
        /// # }) }
        /// ```
        map,

        /// # Examples
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
        /// use raddle::sync::{Mutex, MutexGuard};
        ///
        /// # fn main() { raddle::run(async {
        /// let mutex = Mutex::new(vec![1, 2]);
        /// let guard = mutex.lock().await;
        /// match MutexGuard::try_map(guard, |numbers| numbers.first_mut()) {
        ///     Ok(mut first) => *first += 10,
        ///     Err(guard) => assert!(guard.is_empty()),
        /// }
        /// assert_eq!(*mutex.lock().await, [11, 2]);
        /// # }) }
        /// ```
        try_map,
    }

    /// Returns the mutex of this guard.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.guarded.mutex()
    }
}

guard_traits!(impl DerefMut<Target = T> for MutexGuard<'_, T>);

/// The lock of a [`Mutex`], narrowed to a part of its value; released on drop.
///
/// Comes from [`MutexGuard::map`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::{MappedMutexGuard, Mutex, MutexGuard};
///
/// async fn first(pair: &Mutex<(u32, u32)>) -> MappedMutexGuard<'_, u32> {
///     MutexGuard::map(pair.lock().await, |pair| &mut pair.0)
/// }
///
/// # fn main() {
/// # raddle::run(async {
/// let mutex = Mutex::new((1, 2));
/// *first(&mutex).await += 10;
/// assert_eq!(*mutex.lock().await, (11, 2));
/// # });
/// # }
/// ```
#[must_use = "dropping it releases the lock at once"]
#[clippy::has_significant_drop]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    guarded: Exclusive<T, Locked<&'a Core>>,
    marker: PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    #[inline]
    fn new(guarded: Exclusive<T, Locked<&'a Core>>) -> Self {
        Self {
            guarded,
            marker: PhantomData,
        }
    }

    map_methods! {
        "its part", <U, F>(&mut T => &mut U) -> MappedMutexGuard<'a, U> where U: ?Sized;
        map,
        try_map,
    }
}

guard_traits!(impl DerefMut<Target = T> for MappedMutexGuard<'_, T>);
