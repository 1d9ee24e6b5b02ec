//! The error of a task without an output.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::Id;

/// The reason why a task has no output: it was cancelled, or it panicked.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// # fn main() { raddle::run(async {
/// let task = raddle::spawn(async { panic!("a bug") });
/// let error = task.await.unwrap_err();
/// match error.try_into_panic() {
///     Ok(payload) => assert_eq!(payload.downcast_ref::<&str>(), Some(&"a bug")),
///     Err(error) => println!("task {} was cancelled", error.id()),
/// }
/// # }) }
/// ```
pub struct JoinError {
    id: Id,
    /// The panic's payload; `None` if the task was cancelled. It is boxed again, so that an error
    /// is small wherever an output is stored.
    payload: Option<Box<Payload>>,
}

/// A payload that is taken out once, or whose drop is contained.
struct Payload(Option<Box<dyn Any + Send>>);

// SAFETY: a shared payload is only ever read as a `&'static str` or a `String`, which are `Sync`.
unsafe impl Sync for Payload {}

impl Payload {
    fn message(&self) -> Option<&str> {
        let payload = self.0.as_ref()?;
        match payload.downcast_ref::<&'static str>() {
            Some(text) => Some(text),
            None => payload.downcast_ref::<String>().map(String::as_str),
        }
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        if let Some(payload) = self.0.take() {
            drop_payload(payload);
        }
    }
}

/// Drops a panic's payload. If its drop panics, the second payload is leaked, because its drop
/// might panic again.
pub(crate) fn drop_payload(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
}

impl JoinError {
    pub(crate) fn cancelled(id: Id) -> Self {
        Self { id, payload: None }
    }

    pub(crate) fn panicked(id: Id, payload: Box<dyn Any + Send>) -> Self {
        Self {
            id,
            payload: Some(Box::new(Payload(Some(payload)))),
        }
    }

    /// Returns whether the task was aborted, or its runtime shut down.
    pub fn is_cancelled(&self) -> bool {
        self.payload.is_none()
    }

    /// Returns whether the task panicked.
    pub fn is_panic(&self) -> bool {
        self.payload.is_some()
    }

    /// Returns the payload of the panic, for [`std::panic::resume_unwind`].
    ///
    /// # Panics
    ///
    /// Panics if the task did not panic.
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        self.try_into_panic()
            .expect("the task was cancelled; check is_panic before calling into_panic")
    }

    /// Returns the payload of the panic.
    ///
    /// # Errors
    ///
    /// Returns the error itself if the task did not panic.
    pub fn try_into_panic(mut self) -> Result<Box<dyn Any + Send + 'static>, Self> {
        match self.payload.take().and_then(|mut payload| payload.0.take()) {
            Some(payload) => Ok(payload),
            None => Err(self),
        }
    }

    /// Returns the id of the task.
    pub fn id(&self) -> Id {
        self.id
    }

    /// The message of the panic, if its payload is text.
    fn message(&self) -> Option<&str> {
        self.payload.as_deref()?.message()
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_cancelled() {
            return write!(f, "task {} was cancelled", self.id);
        }
        match self.message() {
            Some(message) => write!(f, "task {} panicked with message {message:?}", self.id),
            None => write!(f, "task {} panicked", self.id),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_cancelled() {
            return write!(f, "JoinError::Cancelled({:?})", self.id);
        }
        match self.message() {
            Some(message) => write!(f, "JoinError::Panic({:?}, {message:?}, ...)", self.id),
            None => write!(f, "JoinError::Panic({:?}, ...)", self.id),
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for std::io::Error {
    fn from(error: JoinError) -> Self {
        std::io::Error::other(if error.is_cancelled() {
            "task was cancelled"
        } else {
            "task panicked"
        })
    }
}
