//! The programs on Raddle.

/// The module from which the programs import the library.
pub(crate) mod api {
    pub(crate) use raddle::{runtime, task, time};
    pub(crate) use raddle_io as io;
    pub(crate) use raddle_sync as sync;
}

#[path = "io/mod.rs"]
pub(crate) mod io;
#[path = "sync/mod.rs"]
pub(crate) mod sync;
#[path = "time/mod.rs"]
pub(crate) mod time;
