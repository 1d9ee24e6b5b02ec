//! A handle whose drop aborts the task.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::{AbortHandle, Id, JoinError, JoinHandle};

/// A [`JoinHandle`] whose drop aborts the task, instead of detaching it. It comes from
/// [`JoinHandle::abort_on_drop`].
///
/// A task that is owned this way does not outlive the future that waits for it: if that future is
/// dropped, as by a timeout, a `select!` or an abort of its own task, this task is aborted too. The
/// drop does not wait: the task's future is dropped on a thread of its scheduler, as by
/// [`JoinHandle::abort`], and a call of `spawn_blocking` that has started runs to its end.
///
/// # Cancel safety
///
/// Awaiting `&mut handle` is cancel safe: if another future is ready first, the task runs on, and
/// its output is still there. Awaiting `handle` by value moves it into the future that awaits it:
/// if that is dropped, the task is aborted.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let background = raddle::spawn(std::future::pending::<()>()).abort_on_drop();
/// let watched = background.abort_handle();
/// // As an early return of the function would.
/// drop(background);
/// while !watched.is_finished() {
///     raddle::task::yield_now().await;
/// }
///
/// // Awaited, it gives the output; detached, it is an ordinary handle again.
/// assert_eq!(raddle::spawn(async { 42 }).abort_on_drop().await?, 42);
/// let detached = raddle::spawn(async { 7 }).abort_on_drop().detach();
/// assert_eq!(detached.await?, 7);
/// # Ok(())
/// # }) }
/// ```
#[must_use = "dropping the handle aborts the task"]
pub struct AbortOnDropHandle<T> {
    /// `None` once the handle is detached.
    handle: Option<JoinHandle<T>>,
}

impl<T> AbortOnDropHandle<T> {
    /// The same as [`JoinHandle::abort_on_drop`].
    pub fn new(handle: JoinHandle<T>) -> Self {
        Self {
            handle: Some(handle),
        }
    }

    /// Aborts the task now; see [`JoinHandle::abort`].
    pub fn abort(&self) {
        self.handle().abort();
    }

    /// Returns a handle that can abort the task, but not wait for it. Dropping that one does not
    /// abort the task.
    pub fn abort_handle(&self) -> AbortHandle {
        self.handle().abort_handle()
    }

    /// Returns whether the task has completed, by itself or because it was aborted.
    pub fn is_finished(&self) -> bool {
        self.handle().is_finished()
    }

    /// Returns the task's id.
    pub fn id(&self) -> Id {
        self.handle().id()
    }

    /// Returns the ordinary handle, whose drop does not abort the task.
    pub fn detach(mut self) -> JoinHandle<T> {
        match self.handle.take() {
            Some(handle) => handle,
            None => unreachable!("only this takes the handle, and it consumes self"),
        }
    }

    fn handle(&self) -> &JoinHandle<T> {
        match &self.handle {
            Some(handle) => handle,
            None => unreachable!("only `detach` takes the handle, and it consumes self"),
        }
    }
}

impl<T> JoinHandle<T> {
    /// Converts this handle into one whose drop aborts the task.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let task = raddle::spawn(async { 6 * 7 }).abort_on_drop();
    /// // The `?` of another operation here would abort the task.
    /// assert_eq!(task.await?, 42);
    /// # Ok(())
    /// # }) }
    /// ```
    pub fn abort_on_drop(self) -> AbortOnDropHandle<T> {
        AbortOnDropHandle::new(self)
    }
}

impl<T> Future for AbortOnDropHandle<T> {
    type Output = Result<T, JoinError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.handle {
            Some(handle) => Pin::new(handle).poll(cx),
            None => unreachable!("only `detach` takes the handle, and it consumes self"),
        }
    }
}

impl<T> Drop for AbortOnDropHandle<T> {
    fn drop(&mut self) {
        if let Some(handle) = &self.handle {
            handle.abort();
        }
    }
}

impl<T> AsRef<JoinHandle<T>> for AbortOnDropHandle<T> {
    fn as_ref(&self) -> &JoinHandle<T> {
        self.handle()
    }
}

impl<T> From<JoinHandle<T>> for AbortOnDropHandle<T> {
    fn from(handle: JoinHandle<T>) -> Self {
        Self::new(handle)
    }
}

impl<T> fmt::Debug for AbortOnDropHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortOnDropHandle")
            .field("id", &self.id())
            .finish()
    }
}
