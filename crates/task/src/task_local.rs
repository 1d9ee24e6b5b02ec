//! Variables that each task has for itself.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use pin_project_lite::pin_project;

/// Declares variables that are set for the length of a future, or of a call.
///
/// Each becomes a static [`LocalKey`] of the given name and visibility, without a value.
/// [`LocalKey::scope`] makes a future during whose polls the variable has a value. A task that is
/// spawned inside has none, unless it is given its own scope.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// raddle::task_local! {
///     /// The number of the request that is being served.
///     static REQUEST: u32;
/// }
///
/// async fn greet() -> String {
///     format!("hello, {}", REQUEST.get())
/// }
///
/// # fn main() { raddle::run(async {
/// let task = raddle::spawn(REQUEST.scope(1, greet()));
/// assert_eq!(task.await.unwrap(), "hello, 1");
/// assert!(REQUEST.try_get().is_err());
/// # }) }
/// ```
#[macro_export]
macro_rules! task_local {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty);* $(;)?) => {
        $(
            $(#[$attribute])*
            $visibility static $name: $crate::LocalKey<$type> = {
                ::std::thread_local! {
                    static __RADDLE_VALUE: ::std::cell::RefCell<::std::option::Option<$type>> =
                        const { ::std::cell::RefCell::new(::std::option::Option::None) };
                }
                $crate::LocalKey::__new(&__RADDLE_VALUE)
            };
        )*
    };
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty $(= $value:expr)?);* $(;)?) => {
        ::core::compile_error!(
            "a task-local variable has no value of its own; write `static NAME: Type;`, and give \
             it a value by `NAME.scope(value, future)`"
        );
    };
}

/// A variable that each task has for itself; made by
/// [`task_local!`](crate::task_local).
///
/// It has a value inside [`scope`](Self::scope) and
/// [`sync_scope`](Self::sync_scope), and none elsewhere. Scopes may be nested:
/// the innermost value is seen, and the outer one again after it.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// raddle::task_local! {
///     static NAME: &'static str;
/// }
///
/// # fn main() { raddle::run(async {
/// NAME.scope("outer", async {
///     assert_eq!(NAME.scope("inner", async { NAME.get() }).await, "inner");
///     assert_eq!(NAME.get(), "outer");
/// }).await;
/// # }) }
/// ```
pub struct LocalKey<T: 'static> {
    /// The value of the scope that this thread is in.
    current: &'static thread::LocalKey<RefCell<Option<T>>>,
}

impl<T: 'static> LocalKey<T> {
    /// Used by the macro.
    #[doc(hidden)]
    pub const fn __new(current: &'static thread::LocalKey<RefCell<Option<T>>>) -> Self {
        Self { current }
    }

    /// Makes a future during whose polls, and whose drop, the variable has `value`.
    ///
    /// # Panics
    ///
    /// The future panics when it is polled inside [`with`](Self::with) of the same variable.
    pub fn scope<F: Future>(&'static self, value: T, future: F) -> TaskLocalFuture<T, F> {
        TaskLocalFuture {
            key: self,
            value: Some(value),
            future: Some(future),
        }
    }

    /// Calls `f`, during which the variable has `value`.
    ///
    /// # Panics
    ///
    /// Panics inside [`with`](Self::with) of the same variable, and while the thread ends and its
    /// variables are gone; and if `f` panics.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// raddle::task_local! {
    ///     static NAME: &'static str;
    /// }
    ///
    /// # fn main() {
    /// let length = NAME.sync_scope("raddle", || NAME.with(|name| name.len()));
    /// assert_eq!(length, 6);
    /// # }
    /// ```
    #[track_caller]
    pub fn sync_scope<F, R>(&'static self, value: T, f: F) -> R
    where
        F: FnOnce() -> R,
    {
        match self.scoped(&mut Some(value), f) {
            Ok(result) => result,
            Err(error) => error.panic(),
        }
    }

    /// Calls `f` with the value.
    ///
    /// # Panics
    ///
    /// Panics outside any scope of the variable; and if `f` panics.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => panic!("{error}"),
        }
    }

    /// Calls `f` with the value.
    ///
    /// # Errors
    ///
    /// Returns an error outside any scope of the variable.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        // A thread that is exiting has no value any more.
        self.current
            .try_with(|current| current.borrow().as_ref().map(f))
            .ok()
            .flatten()
            .ok_or(AccessError(()))
    }

    /// Returns a copy of the value.
    ///
    /// # Panics
    ///
    /// Panics outside any scope of the variable.
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }

    /// Returns a copy of the value.
    ///
    /// # Errors
    ///
    /// Returns an error outside any scope of the variable.
    pub fn try_get(&'static self) -> Result<T, AccessError>
    where
        T: Clone,
    {
        self.try_with(T::clone)
    }

    /// Calls `f` with `value` in place of the outer value, and restores both, even if `f` panics.
    fn scoped<R>(
        &'static self,
        value: &mut Option<T>,
        f: impl FnOnce() -> R,
    ) -> Result<R, ScopeError> {
        self.swap(value)?;
        let _swapped = Swapped { key: self, value };
        Ok(f())
    }

    fn swap(&'static self, value: &mut Option<T>) -> Result<(), ScopeError> {
        self.current
            .try_with(|current| {
                let mut current = current.try_borrow_mut().map_err(|_| ScopeError::Borrowed)?;
                mem::swap(&mut *current, value);
                Ok(())
            })
            .unwrap_or(Err(ScopeError::ThreadEnds))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// Restores the outer value, and the scope's own value, when dropped.
struct Swapped<'a, T: 'static> {
    key: &'static LocalKey<T>,
    value: &'a mut Option<T>,
}

impl<T> Drop for Swapped<'_, T> {
    fn drop(&mut self) {
        // All borrows have ended, and the thread had the value before, so there is no error to
        // report.
        let _ = self.key.swap(self.value);
    }
}

/// Why a scope cannot be entered.
enum ScopeError {
    Borrowed,
    ThreadEnds,
}

impl ScopeError {
    #[cold]
    #[track_caller]
    fn panic(self) -> ! {
        match self {
            Self::Borrowed => panic!(
                "a scope of a task-local variable was entered while LocalKey::with borrows its \
                 value; enter it after that has returned"
            ),
            Self::ThreadEnds => panic!(
                "a scope of a task-local variable was entered while the thread ends, when its \
                 variables are gone"
            ),
        }
    }
}

/// A task-local variable was asked for outside any of its scopes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccessError(());

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task-local variable has no value here; set one with LocalKey::scope")
    }
}

impl Error for AccessError {}

pin_project! {
    /// The future of [`LocalKey::scope`].
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct TaskLocalFuture<T, F>
    where
        T: 'static,
    {
        key: &'static LocalKey<T>,
        // `Some` between the polls, until it is taken.
        value: Option<T>,
        // Dropped inside the scope: when it is ready, or together with this struct.
        #[pin]
        future: Option<F>,
    }

    impl<T: 'static, F> PinnedDrop for TaskLocalFuture<T, F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            if this.future.is_some() {
                let mut future = this.future.as_mut();
                // If no scope can be entered, the future is dropped after this, outside a scope.
                let _ = this.key.scoped(this.value, || future.set(None));
            }
        }
    }
}

impl<T: 'static, F> TaskLocalFuture<T, F> {
    /// Takes the value out. From then on the future is polled and dropped without one, even inside
    /// an outer scope. Returns `None` if the value was taken before.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use std::cell::Cell;
    /// use std::pin::pin;
    ///
    /// raddle::task_local! {
    ///     static STEPS: Cell<u32>;
    /// }
    ///
    /// # fn main() { raddle::run(async {
    /// let mut walk = pin!(STEPS.scope(Cell::new(0), async {
    ///     STEPS.with(|steps| steps.set(steps.get() + 1));
    /// }));
    /// walk.as_mut().await;
    /// assert_eq!(walk.take_value().unwrap().get(), 1);
    /// # }) }
    /// ```
    pub fn take_value(self: Pin<&mut Self>) -> Option<T> {
        self.project().value.take()
    }
}

impl<T: 'static, F: Future> Future for TaskLocalFuture<T, F> {
    type Output = F::Output;

    /// # Panics
    ///
    /// Panics if it is polled after it was ready, inside [`LocalKey::with`] of the same variable,
    /// or while the thread ends.
    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let mut slot = this.future;
        assert!(
            slot.is_some(),
            "the future of a task-local scope was polled after it had completed; await it once"
        );
        let polled = this.key.scoped(this.value, || {
            let Some(future) = slot.as_mut().as_pin_mut() else {
                unreachable!("it was there before");
            };
            let polled = future.poll(cx);
            if polled.is_ready() {
                slot.set(None);
            }
            polled
        });
        match polled {
            Ok(polled) => polled,
            Err(error) => error.panic(),
        }
    }
}

impl<T: 'static + fmt::Debug, F> fmt::Debug for TaskLocalFuture<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskLocalFuture")
            .field("value", &self.value)
            .finish_non_exhaustive()
    }
}
