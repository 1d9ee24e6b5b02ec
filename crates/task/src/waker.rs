//! Wakers: the cell's pointer and one static table.

use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable};

use crate::cell::Header;
use crate::current;
use crate::span;
use crate::state::{Release, Wake};

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop);

/// Makes a raw waker of the cell. The waker is one of the cell's references.
#[inline]
pub(crate) fn raw(header: NonNull<Header>) -> RawWaker {
    RawWaker::new(header.as_ptr().cast(), &VTABLE)
}

/// # Safety
///
/// `data` comes from [`raw`], whose reference is still there.
#[inline]
unsafe fn header(data: *const ()) -> NonNull<Header> {
    // SAFETY: `raw` made it from a non-null pointer.
    unsafe { NonNull::new_unchecked(data.cast_mut().cast()) }
}

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker that is cloned holds a reference.
    let header = unsafe { header(data) };
    // SAFETY: as above.
    unsafe { header.as_ref() }.state.retain();
    raw(header)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the waker holds a reference, given up here or by the transition.
    let header = unsafe { header(data) };
    // SAFETY: as above.
    span::woken(unsafe { header.as_ref() }.span, "waker.wake");
    if current::wake_itself(header) {
        // SAFETY: as above.
        return unsafe { release(header) };
    }
    // SAFETY: as above.
    match unsafe { header.as_ref() }.state.wake_by_value() {
        // SAFETY: the transition made a runnable.
        Wake::Enqueue => unsafe { Header::schedule(header) },
        // SAFETY: the transition took the count to zero.
        Wake::Dealloc => unsafe { Header::dealloc(header) },
        Wake::Nothing => {}
    }
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker holds a reference.
    let header = unsafe { header(data) };
    // SAFETY: as above.
    span::woken(unsafe { header.as_ref() }.span, "waker.wake_by_ref");
    if current::wake_itself(header) {
        return;
    }
    // SAFETY: as above.
    if unsafe { header.as_ref() }.state.wake_by_ref() == Wake::Enqueue {
        // SAFETY: the transition made a runnable.
        unsafe { Header::schedule(header) };
    }
}

unsafe fn drop(data: *const ()) {
    // SAFETY: the waker holds a reference, given up here.
    unsafe { release(header(data)) };
}

/// Drops a reference.
///
/// # Safety
///
/// The caller holds a reference, and does not use the cell again.
#[inline]
pub(crate) unsafe fn release(header: NonNull<Header>) {
    // SAFETY: the caller holds a reference.
    if unsafe { header.as_ref() }.state.release() == Release::Dealloc {
        // SAFETY: the last reference is given up.
        unsafe { Header::dealloc(header) };
    }
}
