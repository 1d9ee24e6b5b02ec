//! The guards of a writer.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::held::Held;
use super::read::RwLockReadGuard;

/// A writer's hold on an [`RwLock`](crate::RwLock), given up on drop.
///
/// Comes from [`RwLock::write`](crate::RwLock::write) and its relatives. It may
/// be held across an `.await`, and dropped on another thread.
#[must_use = "dropping it gives up the lock at once"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    value: NonNull<T>,
    held: Held<'a>,
    marker: PhantomData<&'a mut T>,
}

// SAFETY: it stands for an exclusive reference to the value, and can become a
// shared one; the permits can be given back from any thread.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockWriteGuard<'_, T> {}
// SAFETY: a reference to it gives no more than a reference to the value.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
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
    /// This is a function of the type, so as not to hide a method of the value.
    #[inline]
    pub fn map<F, U>(mut this: Self, part: F) -> RwLockMappedWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
        U: ?Sized,
    {
        let part = NonNull::from(part(&mut *this));
        RwLockMappedWriteGuard::new(part, this.held)
    }

    /// Narrows the guard to a part of the value, if there is one.
    ///
    /// # Errors
    ///
    /// The guard itself, if there is none.
    #[inline]
    pub fn try_map<F, U>(mut this: Self, part: F) -> Result<RwLockMappedWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
        U: ?Sized,
    {
        match part(&mut *this).map(NonNull::from) {
            Some(part) => Ok(RwLockMappedWriteGuard::new(part, this.held)),
            None => Err(this),
        }
    }

    /// The same hold as a narrowed guard, of the whole value.
    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T> {
        RwLockMappedWriteGuard::new(this.value, this.held)
    }

    /// Becomes a reader, without a writer in between. Readers who wait are
    /// admitted, in their order.
    pub fn downgrade(mut self) -> RwLockReadGuard<'a, T> {
        self.held.keep_one();
        RwLockReadGuard::new(self.value, self.held)
    }

    /// Becomes a reader of a part of the value, without a writer in between.
    ///
    /// The part is chosen while nobody else reads yet, but it cannot be
    /// written.
    pub fn downgrade_map<F, U>(this: Self, part: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
        U: ?Sized,
    {
        let part = NonNull::from(part(&*this));
        let mut held = this.held;
        held.keep_one();
        RwLockReadGuard::new(part, held)
    }

    /// Becomes a reader of a part of the value, if there is one, without a
    /// writer in between.
    ///
    /// # Errors
    ///
    /// The guard itself, which can still write, if there is none.
    pub fn try_downgrade_map<F, U>(this: Self, part: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
        U: ?Sized,
    {
        match part(&*this).map(NonNull::from) {
            Some(part) => {
                let mut held = this.held;
                held.keep_one();
                Ok(RwLockReadGuard::new(part, held))
            }
            None => Err(this),
        }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the permits are this guard's, which is borrowed, so nobody
        // writes as long as the reference lives.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the permits are this guard's, which is borrowed exclusively,
        // so nobody else has a reference as long as this lives.
        unsafe { self.value.as_mut() }
    }
}

/// A writer's hold on an [`RwLock`](crate::RwLock), narrowed to a part of its
/// value; given up on drop.
///
/// Comes from [`RwLockWriteGuard::map`]. It cannot become a reader: the type of
/// the part could allow what the value forbids.
#[must_use = "dropping it gives up the lock at once"]
#[clippy::has_significant_drop]
pub struct RwLockMappedWriteGuard<'a, T: ?Sized> {
    /// Reached through the guard that was narrowed, of which it took the place.
    value: NonNull<T>,
    held: Held<'a>,
    marker: PhantomData<&'a mut T>,
}

// SAFETY: it stands for an exclusive reference to the part; the permits can be
// given back from any thread. `Sync` is not needed; it is asked for as of the
// guard of the whole.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockMappedWriteGuard<'_, T> {}
// SAFETY: a reference to it gives no more than a reference to the part.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockMappedWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockMappedWriteGuard<'a, T> {
    #[inline]
    fn new(value: NonNull<T>, held: Held<'a>) -> Self {
        Self {
            value,
            held,
            marker: PhantomData,
        }
    }

    /// Narrows the guard to a part of its part.
    ///
    /// This is a function of the type, so as not to hide a method of the value.
    #[inline]
    pub fn map<F, U>(mut this: Self, part: F) -> RwLockMappedWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
        U: ?Sized,
    {
        let part = NonNull::from(part(&mut *this));
        RwLockMappedWriteGuard::new(part, this.held)
    }

    /// Narrows the guard to a part of its part, if there is one.
    ///
    /// # Errors
    ///
    /// The guard itself, if there is none.
    #[inline]
    pub fn try_map<F, U>(mut this: Self, part: F) -> Result<RwLockMappedWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
        U: ?Sized,
    {
        match part(&mut *this).map(NonNull::from) {
            Some(part) => Ok(RwLockMappedWriteGuard::new(part, this.held)),
            None => Err(this),
        }
    }
}

impl<T: ?Sized> Deref for RwLockMappedWriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the permits are this guard's, which is borrowed, so nobody
        // writes as long as the reference lives.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for RwLockMappedWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the permits are this guard's, which is borrowed exclusively,
        // so nobody else has a reference as long as this lives.
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockMappedWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockMappedWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
