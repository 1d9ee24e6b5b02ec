//! Members of a set that have names.

use std::future::Future;
use std::io;

use super::JoinSet;
use crate::{AbortHandle, Builder, Spawn, SpawnMeta, box_if_large};

/// Spawns a task that has a name into a [`JoinSet`]; from
/// [`JoinSet::build_task`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::task::JoinSet;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut set = JoinSet::new();
/// set.build_task().name("answer").spawn(async { 42 })?;
/// assert_eq!(set.join_next().await.unwrap()?, 42);
/// # Ok(())
/// # }) }
/// ```
#[derive(Debug)]
#[must_use = "a builder spawns nothing by itself"]
pub struct JoinSetBuilder<'a, T, R> {
    set: &'a mut JoinSet<T, R>,
    task: Builder<'a, R>,
}

impl<'a, T: 'static, R: Spawn> JoinSetBuilder<'a, T, R> {
    pub(super) fn new(set: &'a mut JoinSet<T, R>) -> Self {
        let task = Builder::new();
        Self { set, task }
    }

    /// Sets the name.
    pub fn name(self, name: &'a str) -> Self {
        let task = self.task.name(name);
        Self { task, ..self }
    }

    /// Like [`JoinSet::spawn`].
    ///
    /// # Errors
    ///
    /// Never returns an error; the result type is that of Tokio.
    ///
    /// # Panics
    ///
    /// Like [`JoinSet::spawn`].
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        let _name = self.task.name_next();
        let meta = SpawnMeta::of::<F>();
        let task = box_if_large!(future: F, Box::pin => R::spawn(future, meta));
        Ok(self.set.insert(task))
    }

    /// Like [`JoinSet::spawn_on`].
    ///
    /// # Errors
    ///
    /// Never returns an error; the result type is that of Tokio.
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &R) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        let _name = self.task.name_next();
        let meta = SpawnMeta::of::<F>();
        let task = box_if_large!(future: F, Box::pin => handle.spawn_on(future, meta));
        Ok(self.set.insert(task))
    }

    /// Like [`JoinSet::spawn_blocking`].
    ///
    /// # Errors
    ///
    /// Never returns an error; the result type is that of Tokio.
    ///
    /// # Panics
    ///
    /// Like [`JoinSet::spawn_blocking`].
    #[track_caller]
    pub fn spawn_blocking<F>(self, f: F) -> io::Result<AbortHandle>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        let _name = self.task.name_next();
        let meta = SpawnMeta::of::<F>();
        let task = box_if_large!(f: F, Box::new => R::spawn_blocking(f, meta));
        Ok(self.set.insert(task))
    }

    /// Like [`JoinSet::spawn_blocking_on`].
    ///
    /// # Errors
    ///
    /// Never returns an error; the result type is that of Tokio.
    #[track_caller]
    pub fn spawn_blocking_on<F>(self, f: F, handle: &R) -> io::Result<AbortHandle>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        let _name = self.task.name_next();
        let meta = SpawnMeta::of::<F>();
        let task = box_if_large!(f: F, Box::new => handle.spawn_blocking_on(f, meta));
        Ok(self.set.insert(task))
    }

    /// Like [`JoinSet::spawn_local`].
    ///
    /// # Errors
    ///
    /// Never returns an error; the result type is that of Tokio.
    ///
    /// # Panics
    ///
    /// Like [`JoinSet::spawn_local`].
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + 'static,
    {
        let _name = self.task.name_next();
        let meta = SpawnMeta::of::<F>();
        let task = box_if_large!(future: F, Box::pin => R::spawn_local(future, meta));
        Ok(self.set.insert(task))
    }

    /// Like [`JoinSet::spawn_local_on`].
    ///
    /// # Errors
    ///
    /// Never returns an error; the result type is that of Tokio.
    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, local_set: &R::LocalSet) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + 'static,
    {
        let _name = self.task.name_next();
        let meta = SpawnMeta::of::<F>();
        let task = box_if_large!(future: F, Box::pin => R::spawn_local_on(local_set, future, meta));
        Ok(self.set.insert(task))
    }
}
