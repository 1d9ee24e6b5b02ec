//! The task that runs on this thread, and whether it has woken itself.

use std::cell::Cell;
use std::ptr::{self, NonNull};

use crate::cell::Header;
use crate::id::Id;

struct Current {
    /// The task that is being run, or null.
    task: Cell<*const Header>,
    /// Whether the task was woken on this thread since its run began.
    woken: Cell<bool>,
}

raddle_primitives::thread_local! {
    static CURRENT: Current = Current {
        task: Cell::new(ptr::null()),
        woken: Cell::new(false),
    };
}

/// Returns the id of the task that runs on this thread.
///
/// # Panics
///
/// Panics outside a task.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let task = raddle::spawn(async { raddle::task::id() });
/// let id = task.id();
/// assert_eq!(task.await?, id);
/// # Ok(())
/// # }) }
/// ```
#[track_caller]
pub fn id() -> Id {
    try_id().expect("no task runs on this thread; call try_id if there may be none")
}

/// Returns the id of the task that runs on this thread, if there is one.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// assert_eq!(raddle::task::try_id(), None);
/// let task = raddle::spawn(async { raddle::task::try_id() });
/// assert!(task.await?.is_some());
/// # Ok(())
/// # }) }
/// ```
pub fn try_id() -> Option<Id> {
    // SAFETY: the pointer is that of the innermost guard of `enter` on this thread. While code that
    // can call this runs under the guard, the function that made the guard holds a reference to the
    // task: `run` the liveness reference, `drop_output` that of the join handle. The reference that
    // is made here ends in this expression.
    task().map(|task| unsafe { task.as_ref() }.id)
}

/// Returns the innermost task that runs on this thread, if any. It is alive: the pointer is null or
/// that of the running task, whose runner holds its liveness reference until the guard is dropped,
/// or until the pointer is not read any more.
pub(crate) fn task() -> Option<NonNull<Header>> {
    CURRENT
        .try_with(|current| NonNull::new(current.task.get().cast_mut()))
        .ok()
        .flatten()
}

/// Makes a task the running task of this thread until the guard is dropped.
#[inline]
pub(crate) fn enter(header: NonNull<Header>) -> Entered {
    Entered {
        outer: CURRENT
            .try_with(|current| {
                (
                    current.task.replace(header.as_ptr()),
                    current.woken.replace(false),
                )
            })
            .unwrap_or((ptr::null(), false)),
    }
}

/// Records the wake of a task that this thread is running. Such a wake need not change the task's
/// state, since only the runner, on this thread, must see it. Returns false if the task is not the
/// running one.
#[inline]
pub(crate) fn wake_itself(header: NonNull<Header>) -> bool {
    CURRENT
        .try_with(|current| {
            let runs = ptr::eq(current.task.get(), header.as_ptr());
            if runs {
                current.woken.set(true);
            }
            runs
        })
        .unwrap_or(false)
}

/// Restores the outer task when dropped.
#[derive(Debug)]
pub(crate) struct Entered {
    outer: (*const Header, bool),
}

impl Entered {
    /// Returns whether the task has woken itself.
    #[inline]
    pub(crate) fn was_woken(&self) -> bool {
        CURRENT
            .try_with(|current| current.woken.get())
            .unwrap_or(false)
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        // A thread that is exiting has no current task any more.
        let _ = CURRENT.try_with(|current| {
            current.task.set(self.outer.0);
            current.woken.set(self.outer.1);
        });
    }
}
