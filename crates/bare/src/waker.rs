//! Wakers: a pointer to the header of a slot.

use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use core::task::{RawWaker, RawWakerVTable, Waker};

use crate::header::Header;
use crate::state::{Vacated, Wake};

/// The functions of wakers that check that they are on their executor's thread.
#[cfg(feature = "std")]
pub(crate) static CHECKED: RawWakerVTable = table::<true>();

/// The functions of wakers that do not check their thread: the caller of `new_unchecked` has
/// promised that they stay on it.
pub(crate) static UNCHECKED: RawWakerVTable = table::<false>();

const fn table<const CHECK: bool>() -> RawWakerVTable {
    RawWakerVTable::new(
        clone::<CHECK>,
        wake::<CHECK>,
        wake_by_ref::<CHECK>,
        drop_waker::<CHECK>,
    )
}

/// A waker for one poll, which is not counted and so must not be dropped.
///
/// # Safety
///
/// `slot` is one of an executor that is attached, and stays while the waker is
/// used; `table` is [`UNCHECKED`] only if its promise was made.
#[inline]
pub(crate) unsafe fn borrowed(
    slot: NonNull<Header>,
    table: &'static RawWakerVTable,
) -> ManuallyDrop<Waker> {
    let data = slot.as_ptr().cast_const().cast();
    // SAFETY: the functions of the table do what a waker's contract asks for,
    // on the one thread that they let in; the slot is there by the caller's word,
    // and from the first clone on because clones are counted.
    ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(data, table)) })
}

/// The header that a waker's data points at, on the executor's thread.
///
/// # Safety
///
/// `data` is that of a waker, counted or borrowed, that is not gone before `'a`
/// is over.
#[inline]
unsafe fn header<'a, const CHECK: bool>(data: *const ()) -> &'a Header {
    // SAFETY: rule 2 of docs/bare.md: where there is a waker there is its slot.
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
    // SAFETY: the waker that is cloned lasts for this call.
    let header = unsafe { header::<CHECK>(data) };
    header.state.add_waker();
    #[cfg(feature = "std")]
    let table = if CHECK { &CHECKED } else { &UNCHECKED };
    #[cfg(not(feature = "std"))]
    let table = &UNCHECKED;
    RawWaker::new(data, table)
}

unsafe fn wake<const CHECK: bool>(data: *const ()) {
    // SAFETY: the waker is used up by the second call.
    unsafe { wake_by_ref::<CHECK>(data) };
    // SAFETY: as above.
    unsafe { drop_waker::<CHECK>(data) };
}

unsafe fn wake_by_ref<const CHECK: bool>(data: *const ()) {
    // SAFETY: the waker lasts for this call.
    let header = unsafe { header::<CHECK>(data) };
    if header.state.transition_to_woken() == Wake::Enqueue {
        header.lists().push_ready(slot(data));
    }
}

unsafe fn drop_waker<const CHECK: bool>(data: *const ()) {
    // SAFETY: only a counted waker is dropped, and until the count says that it
    // is gone its slot is there; nothing frees slots during this call.
    let header = unsafe { header::<CHECK>(data) };
    if header.state.drop_waker() == Vacated::Release {
        header.lists().push_free(slot(data));
    }
}

/// The data, which keeps the provenance of the whole slot.
#[inline]
fn slot(data: *const ()) -> NonNull<Header> {
    // SAFETY: a waker's data is never null.
    unsafe { NonNull::new_unchecked(data.cast_mut().cast()) }
}
