//! Identifies the calling thread in one instruction.

std::thread_local! {
    /// Only the address is used. It differs between threads that live at the same time, and is the
    /// thread's register plus a constant.
    static HERE: u8 = const { 0 };
}

/// Returns a number that no other living thread has.
#[inline]
pub(crate) fn current() -> usize {
    HERE.with(|here| core::ptr::from_ref(here).addr())
}
