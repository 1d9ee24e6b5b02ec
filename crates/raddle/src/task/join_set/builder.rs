//! Members of a set that have names.

use std::future::Future;
use std::io;

use super::JoinSet;
use crate::runtime::Handle;
use crate::task::{AbortHandle, Builder as TaskBuilder, LocalSet};

/// Spawns a task that has a name into a [`JoinSet`]; from
/// [`JoinSet::build_task`].
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
