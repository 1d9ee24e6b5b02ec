//! Values that convert to one pointer.

use std::ptr::NonNull;
use std::sync::Arc;

/// A value that turns into one untagged pointer and back.
///
/// `raddle_queue::Slot` keeps the pointer in an atomic word, so that any thread can exchange it.
///
/// # Safety
///
/// [`from_ptr`](Self::from_ptr) of a pointer that [`into_ptr`](Self::into_ptr) returned must be the
/// same value, even on another thread (if `Self` is `Send`). `into_ptr` must give up ownership
/// without running code of the value. Neither may use the place that the value is moved into.
///
/// # Examples
///
/// ```
/// use std::ptr::NonNull;
///
/// use raddle_primitives::Pointer;
///
/// struct Task(Box<u32>);
///
/// // SAFETY: the conversions of the box, which are inverses and run no code of its value.
/// unsafe impl Pointer for Task {
///     fn into_ptr(self) -> NonNull<()> {
///         self.0.into_ptr()
///     }
///
///     unsafe fn from_ptr(ptr: NonNull<()>) -> Self {
///         // SAFETY: the pointer comes from `into_ptr` above, and the caller uses it once.
///         Self(unsafe { Pointer::from_ptr(ptr) })
///     }
/// }
///
/// let ptr = Task(Box::new(7)).into_ptr();
/// // SAFETY: the pointer was just made, and is taken back once.
/// assert_eq!(*unsafe { Task::from_ptr(ptr) }.0, 7);
/// ```
pub unsafe trait Pointer: Sized {
    /// Converts the value to a pointer that owns it.
    fn into_ptr(self) -> NonNull<()>;

    /// Takes the value back.
    ///
    /// # Safety
    ///
    /// `ptr` must come from [`into_ptr`](Self::into_ptr) of this type, and must be taken back only
    /// once.
    unsafe fn from_ptr(ptr: NonNull<()>) -> Self;
}

// SAFETY: `Box::into_raw` and `from_raw` are inverses and run no code of `T`.
unsafe impl<T> Pointer for Box<T> {
    fn into_ptr(self) -> NonNull<()> {
        // SAFETY: a box is never null.
        unsafe { NonNull::new_unchecked(Box::into_raw(self).cast()) }
    }

    unsafe fn from_ptr(ptr: NonNull<()>) -> Self {
        // SAFETY: the caller passes what `into_ptr` returned, once.
        unsafe { Box::from_raw(ptr.cast().as_ptr()) }
    }
}

// SAFETY: `Arc::into_raw` and `from_raw` are inverses and run no code of `T`.
unsafe impl<T> Pointer for Arc<T> {
    fn into_ptr(self) -> NonNull<()> {
        // SAFETY: an `Arc`'s pointer is never null.
        unsafe { NonNull::new_unchecked(Arc::into_raw(self).cast_mut().cast()) }
    }

    unsafe fn from_ptr(ptr: NonNull<()>) -> Self {
        // SAFETY: the caller passes what `into_ptr` returned, once.
        unsafe { Arc::from_raw(ptr.cast().as_ptr()) }
    }
}

// SAFETY: `from_ptr` reverses the cast of `into_ptr`.
unsafe impl<T> Pointer for NonNull<T> {
    fn into_ptr(self) -> NonNull<()> {
        self.cast()
    }

    unsafe fn from_ptr(ptr: NonNull<()>) -> Self {
        ptr.cast()
    }
}

// SAFETY: `from_ptr` reverses the cast of `into_ptr`.
unsafe impl<T> Pointer for &'static T {
    fn into_ptr(self) -> NonNull<()> {
        NonNull::from(self).cast()
    }

    unsafe fn from_ptr(ptr: NonNull<()>) -> Self {
        // SAFETY: the pointer was a `&'static T`.
        unsafe { ptr.cast().as_ref() }
    }
}
