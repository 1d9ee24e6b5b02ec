//! Workloads of channels and locks: those of Raddle and Tokio, and channels of crates for any
//! executor. Each runs in tasks of any runtime.

mod channels;
mod primitives;

use std::future::Future;
use std::pin::Pin;

use crate::executors::Spawn;

/// A load that runs on any runtime, and returns the number of its operations.
pub type Load<S> = fn(S) -> Pin<Box<dyn Future<Output = u64> + Send>>;

/// The name of a workload, and the libraries that support it, each with its load. Raddle's is
/// first; Tokio's is next, if it has the primitive.
pub type Workload<S> = (&'static str, Vec<(&'static str, Load<S>)>);

/// Returns every workload.
pub fn workloads<S: Spawn + Sync>() -> Vec<Workload<S>> {
    let mut workloads = primitives::workloads();
    workloads.extend(channels::workloads());
    workloads
}

/// Makes a load from an async function.
macro_rules! load {
    ($function:path) => {
        |spawner| Box::pin($function(spawner))
    };
}
pub(crate) use load;
