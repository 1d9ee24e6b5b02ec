//! The runtime on which a [`JoinSet`](crate::JoinSet) and a [`Builder`](crate::Builder) spawn.

use std::future::Future;

use crate::{JoinHandle, SpawnMeta};

/// A handle of a runtime, which spawns tasks there or on the current runtime.
///
/// It is a type parameter of [`JoinSet`](crate::JoinSet) and [`Builder`](crate::Builder), so that
/// their methods take the runtime's own types. The functions panic where the functions of the
/// runtime with the same names do.
///
/// Each function gets a future or a closure that may have been [boxed](crate::box_if_large), and
/// the type of what the user has spawned.
pub trait Spawn {
    /// The runtime's type of local sets.
    type LocalSet;

    /// Spawns a task on the current runtime.
    #[track_caller]
    fn spawn<F>(future: F, meta: SpawnMeta) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Spawns a task on the runtime of this handle.
    #[track_caller]
    fn spawn_on<F>(&self, future: F, meta: SpawnMeta) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Spawns a task that stays on this thread, on the current local set.
    #[track_caller]
    fn spawn_local<F>(future: F, meta: SpawnMeta) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static;

    /// Spawns a task that stays on its thread, on a local set.
    #[track_caller]
    fn spawn_local_on<F>(
        local_set: &Self::LocalSet,
        future: F,
        meta: SpawnMeta,
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static;

    /// Runs a function that may block, on the current runtime.
    #[track_caller]
    fn spawn_blocking<F, T>(f: F, meta: SpawnMeta) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static;

    /// Runs a function that may block, on the runtime of this handle.
    #[track_caller]
    fn spawn_blocking_on<F, T>(&self, f: F, meta: SpawnMeta) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static;
}
