//! The programs on Tokio.

/// The module from which the programs import the library.
pub(crate) mod api {
    pub(crate) use tokio::{io, runtime, sync, task, time};
}

#[path = "io/mod.rs"]
pub(crate) mod io;
#[path = "sync/mod.rs"]
pub(crate) mod sync;
#[path = "time/mod.rs"]
pub(crate) mod time;
