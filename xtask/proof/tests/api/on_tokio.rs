//! The lists on Tokio.

/// The module from which the lists import the library.
pub(crate) mod api {
    pub(crate) use tokio::{fs, io, net, process, runtime, signal, sync, task, time};
}

#[path = "conversions.rs"]
pub(crate) mod conversions;
#[path = "futures.rs"]
pub(crate) mod futures;
#[path = "types.rs"]
pub(crate) mod types;
