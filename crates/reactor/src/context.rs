//! The reactor of the current thread.

use raddle_leaf::misuse::Misuse;
use raddle_primitives::current::{self, EnterGuard, HandleFrame};

use crate::{Handle, error};

impl Handle {
    /// The handle that was entered last on this thread.
    ///
    /// # Panics
    ///
    /// Panics if no handle is current.
    #[track_caller]
    pub fn current() -> Handle {
        match Handle::try_current() {
            Some(handle) => handle,
            None => error::no_reactor().panic(),
        }
    }

    /// Checks that a handle is current, for the body of an async function, whose panics
    /// [`at_caller`](raddle_leaf::misuse::at_caller) moves to its caller.
    ///
    /// # Errors
    ///
    /// Returns a [`Misuse`] if no handle is current.
    pub fn check_current() -> Result<(), Misuse> {
        current::with(|_: &Handle| ()).ok_or_else(error::no_reactor)
    }

    /// The handle that was entered last on this thread, if there is one.
    pub fn try_current() -> Option<Handle> {
        current::get()
    }

    /// Makes this the thread's current reactor until the guard is dropped, which restores the
    /// former one. Drop guards in the reverse order. On a thread that is ending it may do nothing.
    ///
    /// An owner of several layers enters them in one [`Frame`](current::Frame), which offers this
    /// handle.
    ///
    /// ```
    /// use raddle_reactor::{Handle, Reactor};
    ///
    /// let reactor = Reactor::new()?;
    /// let handle = reactor.handle();
    /// let entered = handle.enter();
    /// assert!(Handle::current().is_same_reactor(&handle));
    /// drop(entered);
    /// assert!(Handle::try_current().is_none());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        current::enter(HandleFrame(Some(self.clone())))
    }
}
