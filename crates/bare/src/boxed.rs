//! Futures of any type, each in a box.

use alloc::boxed::Box;
use core::future::Future;
use core::pin::Pin;

use crate::executor::Executor;
use crate::slab::Slab;
use crate::spawner::{SpawnError, Spawner};

/// A future of any type.
pub type BoxFuture<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// An executor of futures of any type: the argument of a task is its future.
pub type BoxExecutor<'s, 'a> = Executor<
    's,
    BoxFuture<'a>,
    BoxFuture<'a>,
    fn(BoxFuture<'a>) -> BoxFuture<'a>,
    Slab<BoxFuture<'a>, BoxFuture<'a>>,
>;

impl<'s, 'a> BoxExecutor<'s, 'a> {
    /// Makes an executor without tasks, with room for `capacity`.
    ///
    /// ```
    /// use std::pin::pin;
    ///
    /// use raddle_bare::{BoxExecutor, Spawner};
    ///
    /// let spawner = Spawner::new();
    /// let executor = pin!(BoxExecutor::boxed(&spawner, 2));
    /// let executor = executor.as_ref();
    /// // Futures of two types.
    /// executor.spawn(Box::pin(async { println!("hello") })).unwrap();
    /// executor.spawn(Box::pin(std::future::ready(()))).unwrap();
    /// while executor.step() {}
    /// assert!(executor.is_empty());
    /// ```
    #[cfg(feature = "std")]
    pub fn boxed(spawner: &'s Spawner<BoxFuture<'a>>, capacity: usize) -> Self {
        Self::new(spawner, Slab::with_capacity(capacity), |future| future)
    }
}

impl<'a> Spawner<BoxFuture<'a>> {
    /// Boxes a future, and [spawns](Self::spawn) it.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`spawn`](Self::spawn), with the box.
    pub fn spawn_boxed(
        &self,
        future: impl Future<Output = ()> + 'a,
    ) -> Result<(), SpawnError<BoxFuture<'a>>> {
        self.spawn(Box::pin(future))
    }
}
