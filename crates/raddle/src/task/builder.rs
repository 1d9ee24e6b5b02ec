//! Tasks with names.

use std::future::Future;
use std::io;

use crate::runtime::Handle;
use crate::task::{JoinHandle, LocalSet};

/// Spawns a task that has a name.
///
/// The name is the field `task.name` of the task's span, which it has with the feature `tracing`,
/// and what the runtime's observers receive. The methods are those of Tokio's type, which may fail;
/// these do not, but panic where the functions of the same names do.
///
/// ```
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let task = raddle::task::Builder::new().name("sum").spawn(async { 1 + 1 })?;
/// assert_eq!(task.await.unwrap(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[must_use = "a builder spawns nothing by itself"]
pub struct Builder<'a> {
    name: Option<&'a str>,
}

impl<'a> Builder<'a> {
    /// For a task without a name.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::Builder;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let task = Builder::new().spawn(async { 42 })?;
    /// assert_eq!(task.await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::Builder;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let task = Builder::new().name("answer").spawn(async { 42 })?;
    /// assert_eq!(task.await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn name(self, name: &'a str) -> Self {
        Self { name: Some(name) }
    }

    /// Spawns a task on the current runtime, as [`spawn`](crate::task::spawn) does.
    ///
    /// # Errors
    ///
    /// None: the result is Tokio's.
    ///
    /// # Panics
    ///
    /// As [`spawn`](crate::task::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::Builder;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let task = Builder::new().name("answer").spawn(async { 42 })?;
    /// assert_eq!(task.await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let _name = raddle_task::name_next(self.name);
        Ok(crate::task::spawn(future))
    }

    /// Spawns a task on the runtime of `handle`.
    ///
    /// # Errors
    ///
    /// None: the result is Tokio's.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Handle;
    /// use raddle::task::Builder;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let task = Builder::new().spawn_on(async { 42 }, &Handle::current())?;
    /// assert_eq!(task.await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let _name = raddle_task::name_next(self.name);
        Ok(handle.spawn(future))
    }

    /// Spawns a task on the current local set, as
    /// [`spawn_local`](crate::task::spawn_local) does.
    ///
    /// # Errors
    ///
    /// None: the result is Tokio's.
    ///
    /// # Panics
    ///
    /// As [`spawn_local`](crate::task::spawn_local).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::{Builder, LocalSet};
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() {
    /// LocalSet::new().run_until(async {
    ///     let text = std::rc::Rc::new("not Send");
    ///     let task = Builder::new().spawn_local(async move { text.len() }).unwrap();
    ///     assert_eq!(task.await.unwrap(), 8);
    /// }).await;
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let _name = raddle_task::name_next(self.name);
        Ok(crate::task::spawn_local(future))
    }

    /// Spawns a task on `local_set`.
    ///
    /// # Errors
    ///
    /// None: the result is Tokio's.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::{Builder, LocalSet};
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let set = LocalSet::new();
    /// let task = Builder::new().spawn_local_on(async { 42 }, &set)?;
    /// assert_eq!(set.run_until(task).await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_local_on<F>(
        self,
        future: F,
        local_set: &LocalSet,
    ) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let _name = raddle_task::name_next(self.name);
        Ok(local_set.spawn_local(future))
    }

    /// Runs a function that may block, as
    /// [`spawn_blocking`](crate::task::spawn_blocking) does.
    ///
    /// # Errors
    ///
    /// None: the result is Tokio's.
    ///
    /// # Panics
    ///
    /// As [`spawn_blocking`](crate::task::spawn_blocking).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::Builder;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let call = Builder::new().name("answer").spawn_blocking(|| 42)?;
    /// assert_eq!(call.await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, R>(self, f: F) -> io::Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let _name = raddle_task::name_next(self.name);
        Ok(crate::task::spawn_blocking(f))
    }

    /// Runs a function that may block on the runtime of `handle`.
    ///
    /// # Errors
    ///
    /// None: the result is Tokio's.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Handle;
    /// use raddle::task::Builder;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let call = Builder::new().spawn_blocking_on(|| 42, &Handle::current())?;
    /// assert_eq!(call.await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_blocking_on<F, R>(self, f: F, handle: &Handle) -> io::Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let _name = raddle_task::name_next(self.name);
        Ok(handle.spawn_blocking(f))
    }
}
