//! Wakers: a pointer to the header of a slot.

use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use core::task::{RawWaker, RawWakerVTable, Waker};

use crate::header::Header;
use crate::state::{Vacated, Wake};

/// The functions of wakers that check that they are on their executor's thread.
#[cfg(feature = "std")]
pub(crate) static CHECKED: RawWakerVTable = table::<true>();

/// The functions of wakers that do not check their thread: the caller of `new_unchecked` promises
/// that they stay on it.
pub(crate) static UNCHECKED: RawWakerVTable = table::<false>();

const fn table<const CHECK: bool>() -> RawWakerVTable {
    RawWakerVTable::new(
        clone::<CHECK>,
        wake::<CHECK>,
        wake_by_ref::<CHECK>,
        drop_waker::<CHECK>,
    )
}

/// Returns a waker for one poll. It is not counted, so it must not be dropped.
///
/// # Safety
///
/// `slot` belongs to an attached executor and stays valid while the waker is used; `table` is
/// [`UNCHECKED`] only if the executor was made by `new_unchecked`.
#[inline]
pub(crate) unsafe fn borrowed(
    slot: NonNull<Header>,
    table: &'static RawWakerVTable,
) -> ManuallyDrop<Waker> {
    let data = slot.as_ptr().cast_const().cast();
    // SAFETY: the functions of the table fulfil the contract of a waker on the only thread that
    // they accept. The caller promises that the slot is valid; from the first clone on it is,
    // because clones are counted.
    ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(data, table)) })
}

/// Returns the header that a waker's data points at, on the executor's thread.
///
/// # Safety
///
/// `data` is that of a waker, counted or borrowed, that lives for `'a`.
#[inline]
unsafe fn header<'a, const CHECK: bool>(data: *const ()) -> &'a Header {
    // SAFETY: the memory of a slot is not freed while the slot has a waker.
    let header = unsafe { &*data.cast::<Header>() };
    #[cfg(feature = "std")]
    if CHECK && crate::thread::current() != header.thread() {
        foreign();
    }
    header
}

#[cfg(feature = "std")]
#[cold]
#[inline(never)]
fn foreign() -> ! {
    panic!(
        "a waker of raddle-bare was used on another thread than its executor's; \
         wake through something that crosses threads"
    )
}

unsafe fn clone<const CHECK: bool>(data: *const ()) -> RawWaker {
    // SAFETY: the waker that is cloned lives during this call.
    let header = unsafe { header::<CHECK>(data) };
    header.state.add_waker();
    #[cfg(feature = "std")]
    let table = if CHECK { &CHECKED } else { &UNCHECKED };
    #[cfg(not(feature = "std"))]
    let table = &UNCHECKED;
    RawWaker::new(data, table)
}

unsafe fn wake<const CHECK: bool>(data: *const ()) {
    // SAFETY: the waker lives until the second call drops it.
    unsafe { wake_by_ref::<CHECK>(data) };
    // SAFETY: as above.
    unsafe { drop_waker::<CHECK>(data) };
}

unsafe fn wake_by_ref<const CHECK: bool>(data: *const ()) {
    // SAFETY: the waker lives during this call.
    let header = unsafe { header::<CHECK>(data) };
    if header.state.transition_to_woken() == Wake::Enqueue {
        header.lists().push_ready(slot(data));
    }
}

unsafe fn drop_waker<const CHECK: bool>(data: *const ()) {
    // SAFETY: only a counted waker is dropped. Its slot is valid until the count is reduced, and no
    // slot is freed during this call.
    let header = unsafe { header::<CHECK>(data) };
    if header.state.drop_waker() == Vacated::Release {
        header.lists().push_free(slot(data));
    }
}

/// Returns the slot of a waker's data, with the provenance of the whole slot.
#[inline]
fn slot(data: *const ()) -> NonNull<Header> {
    // SAFETY: a waker's data is never null.
    unsafe { NonNull::new_unchecked(data.cast_mut().cast()) }
}
