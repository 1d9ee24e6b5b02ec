//! Workloads of channels and locks: Raddle's, Tokio's, and channels of crates for
//! any executor. Each runs in tasks of whatever runtime it is given.

mod channels;
mod primitives;

use std::future::Future;
use std::pin::Pin;

use crate::executors::Spawn;

/// A load that runs on any runtime, and says how many operations it was.
pub type Load<S> = fn(S) -> Pin<Box<dyn Future<Output = u64> + Send>>;

/// One workload, with the libraries that can do it.
#[derive(Debug)]
pub struct Workload<S: 'static> {
    /// What it does.
    pub name: &'static str,
    /// The library's name, and the load with it; Raddle's first, Tokio's next.
    pub loads: Vec<(&'static str, Load<S>)>,
}

/// Every workload.
pub fn workloads<S: Spawn + Sync>() -> Vec<Workload<S>> {
    let mut workloads = primitives::workloads();
    workloads.extend(channels::workloads());
    workloads
}

/// Makes a load of an async function.
macro_rules! load {
    ($function:path) => {
        |spawner| Box::pin($function(spawner))
    };
}
pub(crate) use load;

/// Waits for the end of all.
async fn all(tasks: Vec<impl Future<Output = ()>>) {
    for task in tasks {
        task.await;
    }
}

#[cfg(test)]
mod tests;
