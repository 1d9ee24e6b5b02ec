//! Waiting for a task, and aborting it.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, ready};

use raddle_leaf::wait::Resource;

use crate::cell::Header;
use crate::error::JoinError;
use crate::id::Id;
use crate::state::{Detach, Wake};
use crate::waker;

/// Owned permission to wait for a task.
///
/// The handle is a future that returns the task's output. Dropping the handle detaches the task: it
/// continues to run, and its output is dropped. If that drop panics, the panic is caught and does
/// not reach the code that drops the handle.
///
/// # Cancel safety
///
/// Awaiting `&mut handle` is cancel safe: if another future is ready first, the output is still
/// there.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let task = raddle::spawn(async { 6 * 7 });
/// assert_eq!(task.await?, 42);
/// # Ok(())
/// # }) }
/// ```
pub struct JoinHandle<T> {
    header: NonNull<Header>,
    output: PhantomData<T>,
}

// SAFETY: the handle moves an output of type `T` between threads; it accesses the rest of the cell
// through the state word.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: a shared handle reaches no output.
unsafe impl<T: Send> Sync for JoinHandle<T> {}
impl<T> UnwindSafe for JoinHandle<T> {}
impl<T> RefUnwindSafe for JoinHandle<T> {}
impl<T> Unpin for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// # Safety
    ///
    /// The task is new, its output is a `T`, and this is its only handle.
    pub(crate) unsafe fn new(header: NonNull<Header>) -> Self {
        Self {
            header,
            output: PhantomData,
        }
    }

    /// Aborts the task: its future is dropped on a thread of its scheduler, when the task would run
    /// next, and awaiting the handle returns an error that
    /// [`is_cancelled`](JoinError::is_cancelled). A task that completes before that keeps its
    /// output.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// # fn main() { raddle::run(async {
    /// let task = raddle::spawn(std::future::pending::<()>());
    /// task.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # }) }
    /// ```
    pub fn abort(&self) {
        // SAFETY: the handle holds a reference.
        unsafe { abort(self.header) };
    }

    /// Returns a handle that can abort the task, but not wait for it.
    pub fn abort_handle(&self) -> AbortHandle {
        self.header().state.retain();
        AbortHandle(self.header)
    }

    /// Returns whether the task has completed, by itself or because it was aborted.
    pub fn is_finished(&self) -> bool {
        self.header().state.load().is_complete()
    }

    /// Returns the task's id.
    pub fn id(&self) -> Id {
        self.header().id
    }

    fn header(&self) -> &Header {
        // SAFETY: the handle holds a reference.
        unsafe { self.header.as_ref() }
    }

    #[inline]
    fn resource(&self) -> Resource {
        Resource::Task(NonZeroU64::from(self.id()).get())
    }

    /// Panics because the handle has returned the output of its task before.
    #[cold]
    #[track_caller]
    fn polled_again(&self) -> ! {
        let (id, vtable) = (self.id(), self.header().vtable);
        let future = (vtable.future_name)();
        // SAFETY: the handle's reference keeps the cell alive.
        let spawned_at = match unsafe { (vtable.spawned_at)(self.header) } {
            Some(location) => format!(", spawned at {location}"),
            None => String::new(),
        };
        panic!(
            "the join handle of task {id} (`{future}`{spawned_at}) was polled after it had \
             completed; await it once"
        )
    }

    /// Registers `waker` to be woken by the completion. Returns false if the task has completed.
    fn store_waker(&self, waker: &std::task::Waker) -> bool {
        let state = &self.header().state;
        let snapshot = state.load();
        if snapshot.is_complete() || (snapshot.has_join_waker() && !state.unset_join_waker()) {
            return false;
        }
        // SAFETY: while the bit is clear the field is the handle's, and only the handle sets it.
        let former = unsafe { Header::take_join_waker(self.header) };
        let waker = match former {
            Some(former) if former.will_wake(waker) => former,
            former => {
                drop(former);
                waker.clone()
            }
        };
        // SAFETY: the handle's reference keeps the cell alive.
        unsafe { Header::trailer(self.header) }
            .join_waker
            // SAFETY: the bit is still clear.
            .with_mut(|field| unsafe { *field = Some(waker) });
        if state.set_join_waker() {
            return true;
        }
        // SAFETY: the task completed while the bit was clear, so this thread still owns the field.
        drop(unsafe { Header::take_join_waker(self.header) });
        false
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[inline]
    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let budget = ready!(raddle_leaf::coop::poll_proceed(cx));
        if self.store_waker(cx.waker()) {
            raddle_leaf::wait::note(cx, "JoinHandle", None, self.resource());
            return Poll::Pending;
        }
        budget.made_progress();
        let mut output = Poll::Pending;
        // SAFETY: the task has completed, and found the handle's bit set, so the runner has left
        // the output to the handle; its type is that of the task.
        unsafe {
            (self.header().vtable.take_output)(self.header, (&raw mut output).cast());
        }
        if output.is_pending() {
            self.polled_again();
        }
        output
    }
}

impl<T> Drop for JoinHandle<T> {
    #[inline]
    fn drop(&mut self) {
        raddle_leaf::wait::withdraw("JoinHandle", self.resource());
        match self.header().state.detach() {
            Detach::Nothing => {}
            Detach::DropWaker => {
                let _reference = Reference(self.header);
                // SAFETY: the transition cleared the bit before the task completed, so the runner
                // does not touch the waker.
                drop(unsafe { Header::take_join_waker(self.header) });
            }
            Detach::DropOutput => {
                let _reference = Reference(self.header);
                // SAFETY: the task has completed, and found the handle's bit set, so the runner has
                // left the output to the handle.
                unsafe { (self.header().vtable.drop_output)(self.header) };
            }
        }
    }
}

/// Drops a reference to the task when it is dropped, even if user code panics.
struct Reference(NonNull<Header>);

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: the handle gives up its own reference.
        unsafe { waker::release(self.0) };
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("id", &self.id())
            .finish()
    }
}

/// Owned permission to abort a task, without waiting for it.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// # fn main() { raddle::run(async {
/// let task = raddle::spawn(std::future::pending::<()>());
/// let abort = task.abort_handle();
/// abort.abort();
/// assert!(task.await.unwrap_err().is_cancelled());
/// # }) }
/// ```
pub struct AbortHandle(NonNull<Header>);

// SAFETY: only the state word and the id are accessed through it.
unsafe impl Send for AbortHandle {}
// SAFETY: as above.
unsafe impl Sync for AbortHandle {}
impl UnwindSafe for AbortHandle {}
impl RefUnwindSafe for AbortHandle {}

impl AbortHandle {
    /// Aborts the task; see [`JoinHandle::abort`].
    pub fn abort(&self) {
        // SAFETY: the handle holds a reference.
        unsafe { abort(self.0) };
    }

    /// Returns whether the task has completed.
    pub fn is_finished(&self) -> bool {
        self.header().state.load().is_complete()
    }

    /// Returns the task's id.
    pub fn id(&self) -> Id {
        self.header().id
    }

    fn header(&self) -> &Header {
        // SAFETY: the handle holds a reference.
        unsafe { self.0.as_ref() }
    }
}

impl Clone for AbortHandle {
    fn clone(&self) -> Self {
        self.header().state.retain();
        Self(self.0)
    }
}

impl Drop for AbortHandle {
    fn drop(&mut self) {
        drop(Reference(self.0));
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle")
            .field("id", &self.id())
            .finish()
    }
}

/// Counts the wakers of a task, from any thread. It keeps the memory of the task, as a waker does.
///
/// [`Runnable::waker_count`](crate::Runnable::waker_count) makes it.
pub struct WakerCount(AbortHandle);

impl WakerCount {
    /// # Safety
    ///
    /// The caller holds a reference.
    pub(crate) unsafe fn new(header: NonNull<Header>) -> Self {
        // SAFETY: the caller holds a reference.
        unsafe { header.as_ref() }.state.retain();
        Self(AbortHandle(header))
    }

    /// Returns the number of the task's wakers and abort handles. Other values of this type count
    /// as wakers. While the task waits, a new waker can only be a clone of one of them.
    ///
    /// ```
    /// use std::future::pending;
    ///
    /// use raddle_task::{Outcome, Runnable};
    ///
    /// let (task, handle) = raddle_task::spawn(pending::<()>(), drop::<Runnable>);
    /// let wakers = task.waker_count();
    /// assert!(matches!(task.run(), Outcome::Idle));
    /// assert_eq!(wakers.get(), 0);
    /// let abort = handle.abort_handle();
    /// assert_eq!(wakers.get(), 1);
    /// # abort.abort();
    /// ```
    pub fn get(&self) -> usize {
        self.0.header().state.wakers()
    }
}

impl fmt::Debug for WakerCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WakerCount").field(&self.get()).finish()
    }
}

/// # Safety
///
/// The caller holds a reference.
unsafe fn abort(header: NonNull<Header>) {
    // SAFETY: the caller holds a reference.
    if unsafe { header.as_ref() }.state.abort() == Wake::Enqueue {
        // SAFETY: the transition made a runnable.
        unsafe { Header::schedule(header) };
    }
}
