//! Making a value on the heap without moving it there.

use std::mem::MaybeUninit;

use crate::sync::Arc;

/// Makes an `Arc` whose value `init` writes where it stays. A large value would overflow the stack
/// on its way to [`Arc::new`].
///
/// # Safety
///
/// `init` must initialise the value.
///
/// # Examples
///
/// ```
/// use raddle_primitives::sync::arc_in_place;
///
/// // SAFETY: all bytes of the array are written.
/// let zeroes = unsafe {
///     arc_in_place::<[u8; 1 << 24]>(|place| place.as_mut_ptr().write_bytes(0, 1))
/// };
/// assert_eq!(zeroes[1 << 23], 0);
/// ```
pub unsafe fn arc_in_place<T>(init: impl FnOnce(&mut MaybeUninit<T>)) -> Arc<T> {
    #[cfg(not(any(raddle_loom, raddle_count)))]
    {
        let mut value = Arc::new_uninit();
        init(Arc::get_mut(&mut value).expect("it is not shared yet"));
        // SAFETY: the caller ensures that `init` has initialised it.
        unsafe { value.assume_init() }
    }
    // The `Arc`s of these builds have no place to write to before they exist.
    #[cfg(any(raddle_loom, raddle_count))]
    {
        let mut value = Box::new_uninit();
        init(&mut value);
        // SAFETY: as above.
        Arc::new(*unsafe { value.assume_init() })
    }
}
