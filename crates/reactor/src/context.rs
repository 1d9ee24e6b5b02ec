//! The reactor of the current thread.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use raddle_std::NotSend;

use crate::{Handle, error};

raddle_std::thread_local! {
    static CURRENT: RefCell<Option<Handle>> = RefCell::new(None);
}

impl Handle {
    /// The handle that was entered last on this thread.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[track_caller]
    pub fn current() -> Handle {
        match Handle::try_current() {
            Some(handle) => handle,
            None => panic!("{}", error::NO_REACTOR),
        }
    }

    /// The handle that was entered last on this thread, if there is one.
    pub fn try_current() -> Option<Handle> {
        CURRENT
            .try_with(|current| current.borrow().clone())
            .ok()
            .flatten()
    }

    /// Makes this the thread's current reactor until the guard is dropped,
    /// which restores the former one. Drop guards in the reverse order. On a
    /// thread that is ending it may do nothing.
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard::restoring(replace(Some(self.clone())))
    }

    /// Leaves the thread without a current reactor until the guard is dropped:
    /// for an owner without one inside one that has one.
    pub fn enter_none() -> EnterGuard<'static> {
        EnterGuard::restoring(replace(None))
    }
}

/// Keeps a reactor current; made by [`Handle::enter`].
#[must_use = "the reactor is current only while the guard lives"]
pub struct EnterGuard<'a> {
    _former: Former,
    handle: PhantomData<&'a Handle>,
}

impl EnterGuard<'_> {
    fn restoring(handle: Option<Handle>) -> Self {
        EnterGuard {
            _former: Former {
                handle,
                thread: PhantomData,
            },
            handle: PhantomData,
        }
    }
}

/// What was current before. It borrows nothing, so that an owner may be ended
/// while a guard is still there to be dropped.
struct Former {
    handle: Option<Handle>,
    /// Belongs to the thread whose variable it restores.
    thread: NotSend,
}

impl Drop for Former {
    fn drop(&mut self) {
        drop(replace(self.handle.take()));
    }
}

/// Exchanges the current handle. While a thread ends its variables may be
/// gone; then it has no current handle, and is given none.
fn replace(handle: Option<Handle>) -> Option<Handle> {
    CURRENT
        .try_with(|current| current.replace(handle))
        .ok()
        .flatten()
}

impl fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("reactor::EnterGuard")
            .finish_non_exhaustive()
    }
}
