//! What the guards of [`Mutex`](crate::Mutex) and [`RwLock`](crate::RwLock) share.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::semaphore::core::Core;

/// A lock, or its semaphore alone.
pub(crate) trait Lock {
    /// Returns the semaphore whose permits allow access to the value.
    fn core(&self) -> &Core;

    /// Releases permits of a guard. The caller has recorded it, before the next task gets them.
    #[inline]
    fn release(&self, permits: usize) {
        self.core().release(permits);
    }
}

impl Lock for Core {
    #[inline]
    fn core(&self) -> &Core {
        self
    }
}

/// Shared access to the value of a lock, or to a part of it, while `held` lives.
pub(crate) struct Shared<T: ?Sized, H> {
    value: NonNull<T>,
    held: H,
}

// SAFETY: it acts as a shared reference to the value, next to `held`.
unsafe impl<T: ?Sized + Sync, H: Send> Send for Shared<T, H> {}
// SAFETY: a reference to it only gives access to references to the value and to `held`.
unsafe impl<T: ?Sized + Sync, H: Sync> Sync for Shared<T, H> {}

impl<T: ?Sized, H> Shared<T, H> {
    /// Makes the access that `held` allows.
    ///
    /// # Safety
    ///
    /// While `held` lives, the value lives and no other code writes it.
    #[inline]
    pub(crate) unsafe fn new(value: NonNull<T>, held: H) -> Self {
        Self { value, held }
    }

    /// Narrows the access to a part of the value.
    #[inline]
    pub(crate) fn map<U: ?Sized>(self, part: impl FnOnce(&T) -> &U) -> Shared<U, H> {
        Shared {
            value: NonNull::from(part(&self)),
            held: self.held,
        }
    }

    /// Narrows the access to a part of the value, if there is one.
    #[inline]
    pub(crate) fn try_map<U: ?Sized>(
        self,
        part: impl FnOnce(&T) -> Option<&U>,
    ) -> Result<Shared<U, H>, Self> {
        match part(&self).map(NonNull::from) {
            Some(value) => Ok(Shared {
                value,
                held: self.held,
            }),
            None => Err(self),
        }
    }

    #[inline]
    pub(crate) fn held(&self) -> &H {
        &self.held
    }
}

impl<T: ?Sized, H> Deref for Shared<T, H> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: `held` lives and this is borrowed, so no other code writes while the reference
        // lives.
        unsafe { self.value.as_ref() }
    }
}

/// Exclusive access to the value of a lock, or to a part of it, while `held` lives.
pub(crate) struct Exclusive<T: ?Sized, H> {
    value: NonNull<T>,
    held: H,
    /// Makes it invariant in `T`, as an exclusive reference is.
    marker: PhantomData<*mut T>,
}

// SAFETY: it acts as an exclusive reference to the value, next to `held`.
unsafe impl<T: ?Sized + Send, H: Send> Send for Exclusive<T, H> {}
// SAFETY: a reference to it only gives access to references to the value and to `held`.
unsafe impl<T: ?Sized + Sync, H: Sync> Sync for Exclusive<T, H> {}

impl<T: ?Sized, H> Exclusive<T, H> {
    /// Makes the access that `held` allows.
    ///
    /// # Safety
    ///
    /// While `held` lives, the value lives and no other code accesses it.
    #[inline]
    pub(crate) unsafe fn new(value: NonNull<T>, held: H) -> Self {
        Self {
            value,
            held,
            marker: PhantomData,
        }
    }

    /// Narrows the access to a part of the value.
    #[inline]
    pub(crate) fn map<U: ?Sized>(mut self, part: impl FnOnce(&mut T) -> &mut U) -> Exclusive<U, H> {
        Exclusive {
            value: NonNull::from(part(&mut self)),
            held: self.held,
            marker: PhantomData,
        }
    }

    /// Narrows the access to a part of the value, if there is one.
    #[inline]
    pub(crate) fn try_map<U: ?Sized>(
        mut self,
        part: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<Exclusive<U, H>, Self> {
        match part(&mut self).map(NonNull::from) {
            Some(value) => Ok(Exclusive {
                value,
                held: self.held,
                marker: PhantomData,
            }),
            None => Err(self),
        }
    }

    #[inline]
    pub(crate) fn held(&self) -> &H {
        &self.held
    }

    /// Returns the pointer to the value, which is valid while `held` lives, and `held`.
    #[inline]
    pub(crate) fn into_parts(self) -> (NonNull<T>, H) {
        (self.value, self.held)
    }
}

impl<T: ?Sized, H> Deref for Exclusive<T, H> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: `held` lives and this is borrowed, so no other code writes while the reference
        // lives.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized, H> DerefMut for Exclusive<T, H> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: `held` lives and this is borrowed exclusively, so there is no other reference
        // while this one lives.
        unsafe { self.value.as_mut() }
    }
}

/// Writes `map` and `try_map` of a guard with the field `guarded` and the function `new`. The
/// caller gives the references that the function takes and returns, and writes the examples.
macro_rules! map_methods {
    (
        $whole:literal, <$A:ident, $B:ident>($Whole:ty => $Part:ty) -> $Mapped:ty where $U:ident: ?Sized;
        $(#[$map:meta])* map,
        $(#[$try_map:meta])* try_map,
    ) => {
        #[doc = concat!("Narrows the guard to a part of ", $whole, ".")]
        ///
        /// This is an associated function, so that it does not hide a method of the value.
        ///
        $(#[$map])*
        #[inline]
        pub fn map<$A, $B>(this: Self, part: F) -> $Mapped
        where
            F: FnOnce($Whole) -> $Part,
            $U: ?Sized,
        {
            <$Mapped>::new(this.guarded.map(part))
        }

        #[doc = concat!("Narrows the guard to a part of ", $whole, ", if there is one.")]
        ///
        /// # Errors
        ///
        /// Returns the guard itself if `part` returns `None`.
        ///
        $(#[$try_map])*
        #[inline]
        pub fn try_map<$A, $B>(this: Self, part: F) -> Result<$Mapped, Self>
        where
            F: FnOnce($Whole) -> Option<$Part>,
            $U: ?Sized,
        {
            match this.guarded.try_map(part) {
                Ok(guarded) => Ok(<$Mapped>::new(guarded)),
                Err(guarded) => Err(Self::new(guarded)),
            }
        }
    };
}

/// Implements `Deref`, or `Deref` and `DerefMut`, of a guard with the field `guarded`, and formats
/// the guard as its value.
macro_rules! guard_traits {
    (impl $(<$T:ident>)? Deref<Target = $Value:ident> for $Guard:ty) => {
        impl<$($T: ?Sized,)? $Value: ?Sized> std::ops::Deref for $Guard {
            type Target = $Value;

            #[inline]
            fn deref(&self) -> &$Value {
                &self.guarded
            }
        }

        impl<$($T: ?Sized,)? $Value: ?Sized + std::fmt::Debug> std::fmt::Debug for $Guard {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<$($T: ?Sized,)? $Value: ?Sized + std::fmt::Display> std::fmt::Display for $Guard {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    };
    (impl $(<$T:ident>)? DerefMut<Target = $Value:ident> for $Guard:ty) => {
        $crate::guard::guard_traits!(impl $(<$T>)? Deref<Target = $Value> for $Guard);

        impl<$($T: ?Sized,)? $Value: ?Sized> std::ops::DerefMut for $Guard {
            #[inline]
            fn deref_mut(&mut self) -> &mut $Value {
                &mut self.guarded
            }
        }
    };
}

pub(crate) use {guard_traits, map_methods};
