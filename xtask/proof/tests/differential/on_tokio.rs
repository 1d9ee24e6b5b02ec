//! The programs on Tokio.

/// Where the programs find what they compare.
pub(crate) mod api {
    pub(crate) use tokio::{io, runtime, sync, task, time};
}

#[path = "io/mod.rs"]
pub(crate) mod io;
#[path = "sync/mod.rs"]
pub(crate) mod sync;
#[path = "time/mod.rs"]
pub(crate) mod time;
