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
#[cfg(all(feature = "macros", feature = "rt-multi-thread"))]
pub use raddle_macros::main;
#[cfg(all(feature = "macros", feature = "rt", not(feature = "rt-multi-thread")))]
pub use raddle_macros::main_current_thread as main;

/// # Example
///
/// ```no_run
/// #[raddle::test]
/// async fn sleeps() {
///     raddle::time::sleep(std::time::Duration::from_millis(1)).await;
/// }
/// ```
#[cfg(all(feature = "macros", feature = "rt-multi-thread"))]
pub use raddle_macros::test;
#[cfg(all(feature = "macros", feature = "rt", not(feature = "rt-multi-thread")))]
pub use raddle_macros::test_current_thread as test;

#[cfg(doctest)]
mod refused;
