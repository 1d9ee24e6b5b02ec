//! An `Arc` that counts the operations on its reference count.

use std::fmt;
use std::mem::offset_of;
use std::ops::Deref;

use super::tag::{Tag, Tagged};

/// std's `Arc`, whose reference count is counted like any other word.
pub struct Arc<T>(std::sync::Arc<Inner<T>>);

#[repr(C)]
struct Inner<T> {
    tag: Tag,
    value: T,
}

impl<T> Arc<T> {
    /// Makes the first reference.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self(std::sync::Arc::new(Inner {
            tag: Tag::made_here(),
            value,
        }))
    }

    /// Returns whether both refer to the same value.
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        std::sync::Arc::ptr_eq(&this.0, &other.0)
    }

    /// The number of references.
    pub fn strong_count(this: &Self) -> usize {
        this.0.tag.load();
        std::sync::Arc::strong_count(&this.0)
    }

    /// Returns a pointer to the value.
    pub fn as_ptr(this: &Self) -> *const T {
        let inner = std::sync::Arc::as_ptr(&this.0);
        inner
            .cast::<u8>()
            .wrapping_add(offset_of!(Inner<T>, value))
            .cast()
    }

    /// Converts the reference to a pointer to the value.
    pub fn into_raw(this: Self) -> *const T {
        let value = Self::as_ptr(&this);
        std::mem::forget(this);
        value
    }

    /// Takes a reference back.
    ///
    /// # Safety
    ///
    /// The contract is std's: the pointer comes from [`into_raw`](Self::into_raw), and each
    /// reference is taken back once.
    pub unsafe fn from_raw(value: *const T) -> Self {
        // SAFETY: `into_raw` returned a pointer to the value of an `Inner` in an `Arc` of std, and
        // the caller gives up one reference.
        Self(unsafe { std::sync::Arc::from_raw(Self::inner(value)) })
    }

    /// Adds a reference.
    ///
    /// # Safety
    ///
    /// The contract is std's: the pointer comes from an `Arc` that has a reference left.
    pub unsafe fn increment_strong_count(value: *const T) {
        let inner = Self::inner(value);
        // SAFETY: the caller ensures that the value exists.
        unsafe { &*inner }.tag.read_modify_write();
        // SAFETY: the caller upholds the same contract.
        unsafe { std::sync::Arc::increment_strong_count(inner) };
    }

    fn inner(value: *const T) -> *const Inner<T> {
        value
            .cast::<u8>()
            .wrapping_sub(offset_of!(Inner<T>, value))
            .cast()
    }
}

impl<T> Clone for Arc<T> {
    fn clone(&self) -> Self {
        self.0.tag.read_modify_write();
        Self(self.0.clone())
    }
}

impl<T> Drop for Arc<T> {
    fn drop(&mut self) {
        self.0.tag.read_modify_write();
    }
}

impl<T> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> Tagged for Arc<T> {
    #[expect(private_interfaces, reason = "only this crate calls it")]
    fn tag(&self) -> &Tag {
        &self.0.tag
    }
}
