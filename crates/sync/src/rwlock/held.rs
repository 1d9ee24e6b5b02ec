//! The permits of a guard, which passes them on when it is mapped or downgraded.

use std::mem;
use std::ops::Deref;
use std::ptr::NonNull;

use raddle_leaf::wait::Holding;

use crate::guard::{Exclusive, Lock, Shared};

/// Permits of a lock, released on drop. `L` borrows the semaphore of the lock, or keeps the lock
/// alive.
pub(super) struct Held<L: Deref<Target: Lock>> {
    lock: L,
    permits: usize,
    holding: Holding,
}

impl<L: Deref<Target: Lock>> Held<L> {
    #[inline]
    pub(super) fn new(lock: L, permits: usize, holding: Holding) -> Self {
        Self {
            lock,
            permits,
            holding,
        }
    }

    pub(super) fn lock(&self) -> &L {
        &self.lock
    }

    /// Releases all permits but one: a writer becomes a reader.
    fn keep_one(&mut self) {
        let others = mem::replace(&mut self.permits, 1) - 1;
        self.holding.keep(1);
        self.lock.release(others);
    }
}

impl<L: Deref<Target: Lock>> Drop for Held<L> {
    #[inline]
    fn drop(&mut self) {
        self.holding.release();
        self.lock.release(self.permits);
    }
}

impl<T: ?Sized, L: Deref<Target: Lock>> Exclusive<T, Held<L>> {
    /// Keeps read access to the value.
    pub(super) fn downgrade(self) -> Shared<T, Held<L>> {
        let (value, held) = self.into_parts();
        // SAFETY: the value is that of these permits.
        unsafe { downgraded(value, held) }
    }

    /// Keeps read access to a part of the value.
    pub(super) fn downgrade_map<U: ?Sized>(
        self,
        part: impl FnOnce(&T) -> &U,
    ) -> Shared<U, Held<L>> {
        let part = NonNull::from(part(&self));
        let (_, held) = self.into_parts();
        // SAFETY: the value that the part belongs to is that of these permits.
        unsafe { downgraded(part, held) }
    }

    /// Keeps read access to a part of the value, if there is one.
    pub(super) fn try_downgrade_map<U: ?Sized>(
        self,
        part: impl FnOnce(&T) -> Option<&U>,
    ) -> Result<Shared<U, Held<L>>, Self> {
        let Some(part) = part(&self).map(NonNull::from) else {
            return Err(self);
        };
        let (_, held) = self.into_parts();
        // SAFETY: as above.
        Ok(unsafe { downgraded(part, held) })
    }
}

/// Lets other readers in.
///
/// # Safety
///
/// The value, or the one that it is a part of, is that of the lock of these permits.
unsafe fn downgraded<T: ?Sized, L: Deref<Target: Lock>>(
    value: NonNull<T>,
    mut held: Held<L>,
) -> Shared<T, Held<L>> {
    held.keep_one();
    // SAFETY: the permit that is left excludes writers.
    unsafe { Shared::new(value, held) }
}

/// Writes the methods of a write guard with the field `guarded` that turn it into a read guard of
/// the value or of a part of it. The caller writes the examples.
macro_rules! downgrade_methods {
    (
        $Read:ty, $ReadPart:ty;
        $(#[$downgrade:meta])* downgrade,
        $(#[$downgrade_map:meta])* downgrade_map,
        try_downgrade_map,
    ) => {
        /// Turns the write lock into a read lock; no other writer gets the lock in between. Waiting
        /// readers get the lock, too.
        ///
        $(#[$downgrade])*
        pub fn downgrade(self) -> $Read {
            <$Read>::new(self.guarded.downgrade())
        }

        /// Turns the write lock into a read lock on a part of the value; no other writer gets the
        /// lock in between.
        ///
        /// `part` runs while there is no other reader, but it cannot change the value.
        ///
        $(#[$downgrade_map])*
        pub fn downgrade_map<F, U>(this: Self, part: F) -> $ReadPart
        where
            F: FnOnce(&T) -> &U,
            U: ?Sized,
        {
            <$ReadPart>::new(this.guarded.downgrade_map(part))
        }

        /// Turns the write lock into a read lock on a part of the value, if there is one; no other
        /// writer gets the lock in between.
        ///
        /// # Errors
        ///
        /// Returns the guard itself, which can still write, if `part` returns `None`.
        pub fn try_downgrade_map<F, U>(this: Self, part: F) -> Result<$ReadPart, Self>
        where
            F: FnOnce(&T) -> Option<&U>,
            U: ?Sized,
        {
            match this.guarded.try_downgrade_map(part) {
                Ok(guarded) => Ok(<$ReadPart>::new(guarded)),
                Err(guarded) => Err(Self::new(guarded)),
            }
        }
    };
}

pub(super) use downgrade_methods;
