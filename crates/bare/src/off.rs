//! Functions without the feature `std`. A call does not compile, and the error names the feature,
//! as the compiler's own error does for a module.

use core::future::Future;

use crate::executor::Executor;
use crate::spawner::Spawner;
use crate::storage::Storage;

#[diagnostic::on_unimplemented(
    message = "the feature `std` is off",
    label = "the feature `std` is off",
    note = "add it to the features of `raddle-bare` in Cargo.toml, or call `new_unchecked`"
)]
pub trait Enabled<'a> {}

#[derive(Debug)]
pub struct Feature;

impl<'s, A, F, M, S> Executor<'s, A, F, M, S>
where
    F: Future<Output = ()>,
    M: Fn(A) -> F,
    S: Storage<A, F>,
{
    /// Because of the lifetime, the compiler checks the bound at a call and not here.
    #[doc(hidden)]
    pub fn new(_: &'s Spawner<A>, _: S, _: M) -> Self
    where
        for<'a> Feature: Enabled<'a>,
    {
        unreachable!("no call compiles")
    }
}

#[cfg(feature = "alloc")]
impl<'s, 'a> crate::boxed::BoxExecutor<'s, 'a> {
    #[doc(hidden)]
    pub fn boxed(_: &'s Spawner<crate::boxed::BoxFuture<'a>>, _: usize) -> Self
    where
        for<'b> Feature: Enabled<'b>,
    {
        unreachable!("no call compiles")
    }
}
