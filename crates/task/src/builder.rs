//! A builder of tasks with names.

use std::fmt;
use std::future::Future;
use std::io;
use std::marker::PhantomData;

use crate::name::NameGuard;
use crate::{JoinHandle, Spawn, SpawnMeta, box_if_large, name_next};

/// Spawns tasks with a name.
///
/// The name is the field `task.name` of the task's span, which it has with the feature `tracing`,
/// and what the runtime's observers receive. The methods return results because Tokio's do. They
/// never fail, but panic where the functions of the same names do.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// # fn main() -> std::io::Result<()> { raddle::run(async {
/// let task = raddle::task::Builder::new().name("sum").spawn(async { 1 + 1 })?;
/// assert_eq!(task.await.unwrap(), 2);
/// # Ok(())
/// # }) }
/// ```
#[must_use = "a builder spawns nothing by itself"]
pub struct Builder<'a, R> {
    name: Option<&'a str>,
    runtime: PhantomData<fn(R)>,
}

impl<'a, R> Builder<'a, R> {
    /// Returns a builder of a task without a name.
    pub fn new() -> Self {
        Self {
            name: None,
            runtime: PhantomData,
        }
    }

    /// Sets the name of the task. Of a name above 256 bytes only the beginning is kept, and `…`
    /// follows it.
    pub fn name(self, name: &'a str) -> Self {
        Self {
            name: Some(name),
            ..self
        }
    }

    /// Gives the next task of this thread the name, until the guard is dropped.
    pub(crate) fn name_next(&self) -> NameGuard {
        name_next(self.name)
    }
}

impl<R: Spawn> Builder<'_, R> {
    /// Spawns a task on the current runtime, as `task::spawn` does.
    ///
    /// # Errors
    ///
    /// Never returns an error; the result type is that of Tokio.
    ///
    /// # Panics
    ///
    /// Like `task::spawn`.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let _name = self.name_next();
        let meta = SpawnMeta::of::<F>();
        Ok(box_if_large!(future: F, Box::pin => R::spawn(future, meta)))
    }

    /// Spawns a task on the runtime of `handle`.
    ///
    /// # Errors
    ///
    /// Never returns an error; the result type is that of Tokio.
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &R) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let _name = self.name_next();
        let meta = SpawnMeta::of::<F>();
        Ok(box_if_large!(future: F, Box::pin => handle.spawn_on(future, meta)))
    }

    /// Spawns a task on the current local set, as `task::spawn_local` does.
    ///
    /// # Errors
    ///
    /// Never returns an error; the result type is that of Tokio.
    ///
    /// # Panics
    ///
    /// Like `task::spawn_local`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::task::{Builder, LocalSet};
    ///
    /// # fn main() { raddle::run(async {
    /// LocalSet::new().run_until(async {
    ///     let text = std::rc::Rc::new("not Send");
    ///     let task = Builder::new().spawn_local(async move { text.len() }).unwrap();
    ///     assert_eq!(task.await.unwrap(), 8);
    /// }).await;
    /// # }) }
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let _name = self.name_next();
        let meta = SpawnMeta::of::<F>();
        Ok(box_if_large!(future: F, Box::pin => R::spawn_local(future, meta)))
    }

    /// Spawns a task on `local_set`.
    ///
    /// # Errors
    ///
    /// Never returns an error; the result type is that of Tokio.
    #[track_caller]
    pub fn spawn_local_on<F>(
        self,
        future: F,
        local_set: &R::LocalSet,
    ) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let _name = self.name_next();
        let meta = SpawnMeta::of::<F>();
        Ok(box_if_large!(future: F, Box::pin => R::spawn_local_on(local_set, future, meta)))
    }

    /// Runs a function that may block, as `task::spawn_blocking` does.
    ///
    /// # Errors
    ///
    /// Never returns an error; the result type is that of Tokio.
    ///
    /// # Panics
    ///
    /// Like `task::spawn_blocking`.
    #[track_caller]
    pub fn spawn_blocking<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let _name = self.name_next();
        let meta = SpawnMeta::of::<F>();
        Ok(box_if_large!(f: F, Box::new => R::spawn_blocking(f, meta)))
    }

    /// Runs a function that may block on the runtime of `handle`.
    ///
    /// # Errors
    ///
    /// Never returns an error; the result type is that of Tokio.
    #[track_caller]
    pub fn spawn_blocking_on<F, T>(self, f: F, handle: &R) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let _name = self.name_next();
        let meta = SpawnMeta::of::<F>();
        Ok(box_if_large!(f: F, Box::new => handle.spawn_blocking_on(f, meta)))
    }
}

impl<R> Clone for Builder<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Builder<'_, R> {}

impl<R> Default for Builder<'_, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R> fmt::Debug for Builder<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("name", &self.name).finish()
    }
}
