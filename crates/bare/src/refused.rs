//! Tests of bounds: programs that the compiler must refuse.

/// An executor is pinned before it is used.
///
/// ```compile_fail,E0599
/// # use raddle_bare::{Executor, Slab, Spawner};
/// let spawner = Spawner::new();
/// let executor = Executor::new(&spawner, Slab::with_capacity(1), async |_: u8| ());
/// executor.spawn(1);
/// ```
///
/// A pinned executor cannot be moved.
///
/// ```compile_fail,E0277
/// # use raddle_bare::{BoxExecutor, Spawner};
/// # use std::pin::{Pin, pin};
/// let spawner = Spawner::new();
/// let executor = pin!(BoxExecutor::boxed(&spawner, 1));
/// Pin::into_inner(executor);
/// ```
struct Pinned;

/// A spawner outlives its executor, and the data that a task borrows outlives the task.
///
/// ```compile_fail,E0505
/// # use raddle_bare::{BoxExecutor, Spawner};
/// let spawner = Spawner::new();
/// let executor = BoxExecutor::boxed(&spawner, 1);
/// drop(spawner);
/// drop(executor);
/// ```
///
/// ```compile_fail,E0505
/// # use raddle_bare::{BoxExecutor, Spawner};
/// let spawner = Spawner::new();
/// let text = String::new();
/// let executor = std::pin::pin!(BoxExecutor::boxed(&spawner, 1));
/// executor.as_ref().spawn(Box::pin(async { _ = text.len() }));
/// drop(text);
/// executor.as_ref().step();
/// ```
///
/// A spawner does not accept arguments with a shorter lifetime than its own arguments'.
///
/// ```compile_fail,E0597
/// # use raddle_bare::Spawner;
/// fn spawns<'a>(spawner: &Spawner<&'a str>, text: &'a str) {
///     let _ = spawner.spawn(text);
/// }
/// let spawner: Spawner<&'static str> = Spawner::new();
/// let text = String::new();
/// spawns(&spawner, &text);
/// ```
struct Borrowed;

/// No part of an executor can be sent to another thread.
///
/// ```compile_fail,E0277
/// # use raddle_bare::Spawner;
/// let spawner = Spawner::<u8>::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| spawner.spawn(1));
/// });
/// ```
struct Local;
