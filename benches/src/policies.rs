//! Raddle under each policy of its scheduler: contestants for the policies that are not the
//! default, and loads on which the policies differ.

mod loads;

use std::future::Future;

use raddle::runtime::{Builder, Policy, Runtime};

use crate::executors::{Executor, RaddleSpawner};

pub use loads::{LOADS, Load};

/// The policies, by their names in tables.
pub const POLICIES: [(&str, Policy); 3] = [
    ("WorkStealing", Policy::WorkStealing),
    ("Shared", Policy::Shared),
    ("Sharded", Policy::Sharded),
];

/// A multi-thread runtime of a policy, with sockets and timers.
///
/// # Panics
///
/// If a thread or a descriptor cannot be had.
pub fn runtime(policy: Policy, workers: usize) -> Runtime {
    let runtime = Builder::new_multi_thread()
        .worker_threads(workers)
        .scheduler(policy)
        .enable_all()
        .build();
    runtime.expect("raddle starts")
}

/// Raddle with a policy that is not its default.
macro_rules! with_policy {
    ($name:ident, $policy:ident, $called:literal) => {
        #[doc = concat!("Contestant `", $called, "`.")]
        #[derive(Debug)]
        pub struct $name(Runtime);

        impl Executor for $name {
            const NAME: &'static str = $called;
            type Spawner = RaddleSpawner;

            fn new(workers: usize) -> Self {
                Self(runtime(Policy::$policy, workers))
            }

            fn spawner(&self) -> RaddleSpawner {
                RaddleSpawner
            }

            fn block_on<F: Future>(&self, future: F) -> F::Output {
                self.0.block_on(future)
            }
        }
    };
}

with_policy!(RaddleShared, Shared, "raddle, shared");
with_policy!(RaddleSharded, Sharded, "raddle, sharded");
