#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "fs")]
pub mod fs;
pub mod io;
#[doc(hidden)]
pub mod macros;
#[cfg(feature = "net")]
pub mod net;
mod platform;
#[cfg(all(feature = "process", any(unix, windows)))]
pub mod process;
#[cfg(feature = "rt")]
pub mod runtime;
#[cfg(all(feature = "signal", any(unix, windows)))]
pub mod signal;
#[cfg(feature = "sync")]
pub mod sync;
#[cfg(feature = "rt")]
pub mod task;
#[cfg(feature = "time")]
pub mod time;

#[cfg(feature = "rt")]
pub use crate::task::spawn;
#[cfg(feature = "rt")]
pub use raddle_task::task_local;

/// # Example
///
/// ```
/// #[raddle::main]
/// async fn main() {
///     raddle::time::sleep(std::time::Duration::from_millis(1)).await;
/// }
/// ```
#[cfg(feature = "macros")]
pub use crate::attributes::main;

/// # Example
///
/// ```no_run
/// #[raddle::test]
/// async fn sleeps() {
///     raddle::time::sleep(std::time::Duration::from_millis(1)).await;
/// }
/// ```
#[cfg(feature = "macros")]
pub use crate::attributes::test;

/// The attributes for the runtimes that there are.
#[cfg(feature = "macros")]
mod attributes {
    #[cfg(feature = "rt-multi-thread")]
    pub use raddle_macros::{main, test};
    #[cfg(all(feature = "rt", not(feature = "rt-multi-thread")))]
    pub use raddle_macros::{main_current_thread as main, test_current_thread as test};
    #[cfg(not(feature = "rt"))]
    pub use raddle_macros::{main_without_runtime as main, main_without_runtime as test};
}

#[cfg(doctest)]
mod refused;
