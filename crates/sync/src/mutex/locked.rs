//! The permit of a guard, which passes it on when it is mapped.

use std::mem::{self, ManuallyDrop};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use raddle_leaf::wait::Holding;

use super::Mutex;
use crate::guard::{Exclusive, Lock};
use crate::semaphore::core::Core;

/// The permit of a mutex, released on drop. `L` borrows the mutex or its semaphore, or keeps the
/// mutex alive.
pub(super) struct Locked<L: Deref<Target: Lock>> {
    mutex: L,
    holding: Holding,
}

impl<L: Deref<Target: Lock>> Locked<L> {
    /// Makes the owner of a permit that the caller has acquired.
    #[inline]
    pub(super) fn new(mutex: L, holding: Holding) -> Self {
        Self { mutex, holding }
    }

    pub(super) fn mutex(&self) -> &L {
        &self.mutex
    }
}

impl<L: Deref<Target: Lock>> Drop for Locked<L> {
    #[inline]
    fn drop(&mut self) {
        self.holding.release();
        self.mutex.release(1);
    }
}

impl<'a, T: ?Sized> From<Locked<&'a Mutex<T>>> for Locked<&'a Core> {
    #[inline]
    fn from(locked: Locked<&'a Mutex<T>>) -> Self {
        let mut locked = ManuallyDrop::new(locked);
        Self {
            mutex: &locked.mutex.core,
            holding: mem::take(&mut locked.holding),
        }
    }
}

// These reach the value through the mutex, so that a model checks each access.

impl<T: ?Sized, L: Deref<Target = Mutex<T>>> Locked<L> {
    /// Narrows the access to a part of the value. `H` is the permit.
    #[inline]
    pub(super) fn map<U: ?Sized, H: From<Self>>(
        mut self,
        part: impl FnOnce(&mut T) -> &mut U,
    ) -> Exclusive<U, H> {
        let part = NonNull::from(part(&mut self));
        // SAFETY: the part belongs to the value of this mutex, and `H` keeps the permit.
        unsafe { Exclusive::new(part, H::from(self)) }
    }

    /// Narrows the access to a part of the value, if there is one.
    #[inline]
    pub(super) fn try_map<U: ?Sized, H: From<Self>>(
        mut self,
        part: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<Exclusive<U, H>, Self> {
        match part(&mut self).map(NonNull::from) {
            // SAFETY: as above.
            Some(part) => Ok(unsafe { Exclusive::new(part, H::from(self)) }),
            None => Err(self),
        }
    }
}

impl<T: ?Sized, L: Deref<Target = Mutex<T>>> Deref for Locked<L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.mutex.value.with(|value| {
            // SAFETY: this has the permit and is borrowed, so no other task writes while the
            // reference lives.
            unsafe { &*value }
        })
    }
}

impl<T: ?Sized, L: Deref<Target = Mutex<T>>> DerefMut for Locked<L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.mutex.value.with_mut(|value| {
            // SAFETY: this has the permit and is borrowed exclusively, so there is no other
            // reference while this one lives.
            unsafe { &mut *value }
        })
    }
}
