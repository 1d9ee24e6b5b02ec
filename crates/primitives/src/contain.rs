//! Running code of users whose panic must not unwind into the caller.

use ::std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `code` and returns whether it returned. If it panics, the panic ends
/// here, reported by the panic hook. A payload whose drop panics in turn is
/// forgotten.
///
/// ```
/// assert!(raddle_primitives::contain(|| ()));
/// assert!(!raddle_primitives::contain(|| panic!("ends here")));
/// ```
#[inline]
pub fn contain(code: impl FnOnce()) -> bool {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(()) => true,
        Err(payload) => {
            drop_payload(payload);
            false
        }
    }
}

#[cold]
fn drop_payload(payload: Box<dyn ::std::any::Any + Send>) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // Its drop may panic again, and so for ever.
        ::std::mem::forget(payload);
    }
}
