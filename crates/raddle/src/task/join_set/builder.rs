//! Members of a set that have names.

use std::future::Future;
use std::io;

use super::JoinSet;
use crate::runtime::Handle;
use crate::task::{AbortHandle, Builder as TaskBuilder, LocalSet};

/// Spawns a task that has a name into a [`JoinSet`]; from
/// [`JoinSet::build_task`].
///
/// # Examples
///
/// ```
/// use raddle::task::JoinSet;
///
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut set = JoinSet::new();
/// set.build_task().name("answer").spawn(async { 42 })?;
/// assert_eq!(set.join_next().await.unwrap()?, 42);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a builder spawns nothing by itself"]
pub struct Builder<'a, T> {
    set: &'a mut JoinSet<T>,
    task: TaskBuilder<'a>,
}

impl<'a, T: 'static> Builder<'a, T> {
    pub(super) fn new(set: &'a mut JoinSet<T>) -> Self {
        let task = TaskBuilder::new();
        Self { set, task }
    }

    /// Sets the name.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut set = JoinSet::new();
    /// set.build_task().name("answer").spawn(async { 42 })?;
    /// assert_eq!(set.join_next().await.unwrap()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn name(self, name: &'a str) -> Self {
        let task = self.task.name(name);
        Self { task, ..self }
    }

    /// As [`JoinSet::spawn`].
    ///
    /// # Errors
    ///
    /// None: the result is Tokio's.
    ///
    /// # Panics
    ///
    /// As [`JoinSet::spawn`].
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut set = JoinSet::new();
    /// set.build_task().spawn(async { 42 })?;
    /// assert_eq!(set.join_next().await.unwrap()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.task.spawn(future)?))
    }

    /// As [`JoinSet::spawn_on`].
    ///
    /// # Errors
    ///
    /// None: the result is Tokio's.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Handle;
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut set = JoinSet::new();
    /// set.build_task().spawn_on(async { 42 }, &Handle::current())?;
    /// assert_eq!(set.join_next().await.unwrap()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.task.spawn_on(future, handle)?))
    }

    /// As [`JoinSet::spawn_blocking`].
    ///
    /// # Errors
    ///
    /// None: the result is Tokio's.
    ///
    /// # Panics
    ///
    /// As [`JoinSet::spawn_blocking`].
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut set = JoinSet::new();
    /// set.build_task().spawn_blocking(|| 42)?;
    /// assert_eq!(set.join_next().await.unwrap()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F>(self, f: F) -> io::Result<AbortHandle>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.task.spawn_blocking(f)?))
    }

    /// As [`JoinSet::spawn_blocking_on`].
    ///
    /// # Errors
    ///
    /// None: the result is Tokio's.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Handle;
    /// use raddle::task::JoinSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut set = JoinSet::new();
    /// set.build_task().spawn_blocking_on(|| 42, &Handle::current())?;
    /// assert_eq!(set.join_next().await.unwrap()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_blocking_on<F>(self, f: F, handle: &Handle) -> io::Result<AbortHandle>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        Ok(self.set.insert(self.task.spawn_blocking_on(f, handle)?))
    }

    /// As [`JoinSet::spawn_local`].
    ///
    /// # Errors
    ///
    /// None: the result is Tokio's.
    ///
    /// # Panics
    ///
    /// As [`JoinSet::spawn_local`].
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::{JoinSet, LocalSet};
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let local = LocalSet::new();
    /// local.run_until(async {
    ///     let mut set = JoinSet::new();
    ///     set.build_task().spawn_local(async { 42 }).unwrap();
    ///     assert_eq!(set.join_next().await.unwrap().unwrap(), 42);
    /// }).await;
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + 'static,
    {
        Ok(self.set.insert(self.task.spawn_local(future)?))
    }

    /// As [`JoinSet::spawn_local_on`].
    ///
    /// # Errors
    ///
    /// None: the result is Tokio's.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::{JoinSet, LocalSet};
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let local = LocalSet::new();
    /// let mut set = JoinSet::new();
    /// set.build_task().spawn_local_on(async { 42 }, &local)?;
    /// assert_eq!(local.run_until(set.join_next()).await.unwrap()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, local_set: &LocalSet) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + 'static,
    {
        Ok(self
            .set
            .insert(self.task.spawn_local_on(future, local_set)?))
    }
}
