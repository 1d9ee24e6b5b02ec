//! Raddle under each policy of its scheduler, and loads on which the policies differ.

mod loads;

use raddle::runtime::{Builder, Policy, Runtime};

pub use loads::{LOADS, Load};

/// The policies, by their names in tables.
pub const POLICIES: [(&str, Policy); 3] = [
    ("WorkStealing", Policy::WorkStealing),
    ("Shared", Policy::Shared),
    ("Sharded", Policy::Sharded),
];

/// A multi-thread runtime of a policy, with sockets and timers.
pub fn runtime(policy: Policy, workers: usize) -> Runtime {
    let runtime = Builder::new_multi_thread()
        .worker_threads(workers)
        .scheduler(policy)
        .enable_all()
        .build();
    runtime.expect("raddle starts")
}
