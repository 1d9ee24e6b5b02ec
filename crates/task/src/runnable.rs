//! A task that is ready to run.

use std::fmt;
use std::mem;
use std::panic::Location;
use std::ptr::NonNull;

use raddle_primitives::Pointer;
use raddle_primitives::cell::UnsafeCell;

use crate::cell::Header;
use crate::id::Id;
use crate::join::WakerCount;
use crate::live::LiveList;

/// The right to run a task once. A scheduled task has exactly one runnable.
///
/// It is one pointer. Dropping it without running the task cancels the task: the future is dropped
/// at once.
///
/// ```
/// use raddle_task::{Outcome, Runnable};
///
/// let (task, handle) = raddle_task::spawn(async { 42 }, drop::<Runnable>);
/// assert_eq!(task.id(), handle.id());
/// assert!(matches!(task.run(), Outcome::Complete));
/// assert_eq!(raddle_testing::ready(handle).unwrap(), 42);
///
/// // A scheduler that drops its queue cancels the tasks in it.
/// let (task, handle) = raddle_task::spawn(async { 42 }, drop::<Runnable>);
/// drop(task);
/// assert!(raddle_testing::ready(handle).unwrap_err().is_cancelled());
/// ```
pub struct Runnable(NonNull<Header>);

// SAFETY: a runnable moves the future to another thread, and `spawn` requires that it be `Send` (or
// the caller of `spawn_unchecked` ensures it). It is not `Sync`: two lists that adopt it at once
// would race for the owner.
unsafe impl Send for Runnable {}

/// The result of running a task.
///
/// ```
/// use std::future::poll_fn;
/// use std::mem;
/// use std::task::Poll;
///
/// use raddle_task::{Outcome, Runnable};
///
/// let mut has_yielded = false;
/// let yields_once = poll_fn(move |cx| {
///     if mem::replace(&mut has_yielded, true) {
///         return Poll::Ready(());
///     }
///     cx.waker().wake_by_ref();
///     Poll::Pending
/// });
/// let (task, _handle) = raddle_task::spawn(yields_once, drop::<Runnable>);
/// // The task has woken itself, so the scheduler runs it once more.
/// let Outcome::Again(task) = task.run() else {
///     panic!("the task was woken while it ran")
/// };
/// assert!(matches!(task.run(), Outcome::Complete));
/// ```
#[must_use]
#[derive(Debug)]
pub enum Outcome {
    /// The task waits to be woken.
    Idle,
    /// The task was woken while it ran, and is ready to run again. The scheduler's `schedule` was
    /// not called.
    Again(Runnable),
    /// The task has completed.
    Complete,
    /// The task has completed, and has left its live list, which belongs to another thread.
    CompleteElsewhere,
}

impl Runnable {
    /// # Safety
    ///
    /// The caller's transition made the runnable, or it comes from [`into_raw`](Self::into_raw).
    #[inline]
    pub(crate) unsafe fn from_header(header: NonNull<Header>) -> Self {
        Self(header)
    }

    #[inline]
    pub(crate) fn header(&self) -> NonNull<Header> {
        self.0
    }

    /// Polls the task; if it was aborted, drops its future instead. The join handle returns panics
    /// of the future.
    #[inline]
    pub fn run(self) -> Outcome {
        self.run_with(None)
    }

    /// Like [`run`](Self::run), on the thread that owns `live`: a task that is in no list and does
    /// not complete is added to `live`, and a task of `live` is removed when it completes.
    #[inline]
    pub fn run_in(self, live: &LiveList) -> Outcome {
        live.begin_run(self.id());
        self.run_with(Some(live))
    }

    /// Cancels the task: drops the future on this thread. If `live` is given, this thread owns it.
    pub fn cancel(self, live: Option<&LiveList>) -> Outcome {
        // SAFETY: the runnable keeps the cell alive.
        unsafe { self.0.as_ref() }.state.cancel();
        self.run_with(live)
    }

    /// Returns the task's id.
    #[inline]
    pub fn id(&self) -> Id {
        // SAFETY: the runnable keeps the cell alive.
        unsafe { self.0.as_ref() }.id
    }

    /// Returns the address that the task's wakers point to
    /// ([`Waker::data`](std::task::Waker::data)). It shows whether a future is polled with the
    /// task's own waker, or with that of a part of the task.
    #[inline]
    pub fn waker_address(&self) -> usize {
        self.0.addr().get()
    }

    /// Returns an object that counts the task's wakers, also after the runnable is gone.
    pub fn waker_count(&self) -> WakerCount {
        // SAFETY: the runnable keeps the cell alive.
        unsafe { WakerCount::new(self.0) }
    }

    /// Returns where the task was spawned, if its scheduler [knows](crate::Schedule::spawned_at).
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        // SAFETY: the runnable keeps the cell alive.
        unsafe { (self.0.as_ref().vtable.spawned_at)(self.0) }
    }

    /// Returns the name of the future's type, as [`type_name`](std::any::type_name) gives it. That
    /// of an async block has the path of its function.
    pub fn future_name(&self) -> &'static str {
        // SAFETY: the runnable keeps the cell alive.
        unsafe { (self.0.as_ref().vtable.future_name)() }
    }

    /// Converts the runnable to a pointer that owns it.
    #[inline]
    pub fn into_raw(self) -> NonNull<()> {
        let raw = self.0.cast();
        mem::forget(self);
        raw
    }

    /// Converts a pointer back to a runnable.
    ///
    /// # Safety
    ///
    /// `raw` comes from [`into_raw`](Self::into_raw), and is taken back once.
    #[inline]
    pub unsafe fn from_raw(raw: NonNull<()>) -> Self {
        Self(raw.cast())
    }

    /// Returns the field of the task in which a queue links it to the next task.
    ///
    /// # Safety
    ///
    /// `raw` comes from [`into_raw`](Self::into_raw) and has not been taken back for as long as the
    /// reference is used.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_task::Runnable;
    ///
    /// let spawn = || raddle_task::spawn(async {}, drop::<Runnable>);
    /// let ((first, first_handle), (second, second_handle)) = (spawn(), spawn());
    /// let (first, second) = (first.into_raw(), second.into_raw());
    ///
    /// // A list of tasks that needs no memory of its own.
    /// // SAFETY: `first` is taken back below, after the last use of the link.
    /// let link = unsafe { Runnable::queue_link(first) };
    /// // SAFETY: only this thread uses the link.
    /// link.with_mut(|next| unsafe { *next = Some(second) });
    ///
    /// let mut head = Some(first);
    /// while let Some(task) = head {
    ///     // SAFETY: the list has the task, and this thread alone uses its link.
    ///     head = unsafe { Runnable::queue_link(task) }.with(|next| unsafe { *next });
    ///     // SAFETY: the task was taken out of the list.
    ///     drop(unsafe { Runnable::from_raw(task) }.run());
    /// }
    /// assert!(first_handle.is_finished() && second_handle.is_finished());
    /// ```
    #[inline]
    pub unsafe fn queue_link<'a>(raw: NonNull<()>) -> &'a UnsafeCell<Option<NonNull<()>>> {
        // SAFETY: the runnable keeps the cell alive.
        &unsafe { raw.cast::<Header>().as_ref() }.queue_link
    }

    #[inline]
    fn run_with(self, live: Option<&LiveList>) -> Outcome {
        let header = self.0;
        mem::forget(self);
        // SAFETY: the runnable was forgotten, and is given up to `run`.
        unsafe { (header.as_ref().vtable.run)(header, live) }
    }
}

// SAFETY: `into_raw` and `from_raw` are inverses, and run no code of the task.
unsafe impl Pointer for Runnable {
    #[inline]
    fn into_ptr(self) -> NonNull<()> {
        self.into_raw()
    }

    #[inline]
    unsafe fn from_ptr(ptr: NonNull<()>) -> Self {
        // SAFETY: the caller passes what `into_ptr` returned, once.
        unsafe { Self::from_raw(ptr) }
    }
}

impl Drop for Runnable {
    fn drop(&mut self) {
        // SAFETY: `self` is not used again.
        let again = Self(self.0);
        let _ = again.cancel(None);
    }
}

impl fmt::Debug for Runnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Runnable").field(&self.id()).finish()
    }
}
