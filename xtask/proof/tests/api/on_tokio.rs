//! The lists on Tokio.

/// Where the lists find what they compare.
pub(crate) mod api {
    pub(crate) use tokio::{fs, io, net, process, runtime, signal, sync, task, time};
}

#[path = "conversions.rs"]
pub(crate) mod conversions;
#[path = "futures.rs"]
pub(crate) mod futures;
#[path = "types.rs"]
pub(crate) mod types;
