#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "macros")]
pub use crate::attributes::{main, test};
#[cfg(feature = "fs")]
pub use raddle::fs;
pub use raddle::io;
#[doc(hidden)]
pub use raddle::macros;
#[cfg(feature = "net")]
pub use raddle::net;
pub use raddle::pin;
#[cfg(all(feature = "process", any(unix, windows)))]
pub use raddle::process;
#[cfg(feature = "rt")]
pub use raddle::runtime;
#[cfg(all(feature = "signal", any(unix, windows)))]
pub use raddle::signal;
#[cfg(feature = "sync")]
pub use raddle::sync;
#[cfg(feature = "time")]
pub use raddle::time;
#[cfg(feature = "macros")]
pub use raddle::{join, select, try_join};
#[cfg(feature = "rt")]
pub use raddle::{spawn, task, task_local};

/// The attributes for the runtimes that there are.
#[cfg(feature = "macros")]
mod attributes {
    #[cfg(not(feature = "rt"))]
    pub use raddle_macros::{main_without_runtime as main, main_without_runtime as test};
    #[cfg(feature = "rt-multi-thread")]
    pub use raddle_macros::{tokio_main as main, tokio_test as test};
    #[cfg(all(feature = "rt", not(feature = "rt-multi-thread")))]
    pub use raddle_macros::{tokio_main_current_thread as main, tokio_test_current_thread as test};
}

/// Empty, as in Tokio: streams are in the crate `tokio-stream`.
pub mod stream {}
