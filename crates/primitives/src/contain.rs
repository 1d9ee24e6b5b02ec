//! Runs user code whose panic must not unwind into the caller.

use ::std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `code` and returns whether it returned. A panic ends here, after the panic hook has
/// reported it. If the drop of the payload panics too, the payload is leaked.
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
        // The drop of the payload may panic again, and the drop of that payload too.
        ::std::mem::forget(payload);
    }
}
