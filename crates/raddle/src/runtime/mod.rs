//! Runtimes: what runs tasks, and the threads, sockets and timers they use.
//!
//! A [`Runtime`] is made by a [`Builder`] (or by `#[raddle::main]`) and lives
//! until it is dropped. A [`Handle`] is a reference to it that can be cloned
//! and sent about.
//!
//! - A *multi-thread* runtime has workers that share the tasks out among
//!   themselves; they also watch the sockets and timers.
//!   How they share them out is a [`Policy`]; the default is work stealing.
//! - A *current-thread* runtime runs its tasks, sockets and timers inside
//!   [`Runtime::block_on`], on the thread that calls it, and stands still
//!   outside. A [`LocalRuntime`] is one that stays on its thread, and runs tasks
//!   that are not `Send`, too.
//!
//! ```
//! let runtime = raddle::runtime::Builder::new_multi_thread()
//!     .worker_threads(2)
//!     .enable_all()
//!     .build()?;
//! let answer = runtime.block_on(async {
//!     raddle::spawn(async { 6 * 7 }).await.unwrap()
//! });
//! assert_eq!(answer, 42);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Shutdown
//!
//! Dropping a runtime shuts it down: every task is dropped at its next
//! `.await`, exactly once, and blocking work that runs is waited for. Drop
//! never panics. On a thread that must not wait, since it runs async code or
//! blocking work, the wait is handed over to a thread of its own, and the drop
//! returns at once. [`Runtime::shutdown_timeout`] and
//! [`Runtime::shutdown_background`] bound the wait.

mod blocking;
mod builder;
mod context;
mod driver;
mod error;
mod handle;
mod local_runtime;
mod metrics;
mod random;
#[cfg(feature = "mio")]
use raddle_reactor as reactor;
#[cfg(not(feature = "mio"))]
#[path = "reactor_off.rs"]
mod reactor;
#[expect(
    clippy::module_inception,
    reason = "the module's main type, one of several"
)]
mod runtime;

pub use self::builder::Builder;
pub use self::context::{EnterGuard, worker_index};
pub use self::error::{TryCurrentError, is_rt_shutdown_err};
pub use self::handle::{Handle, RuntimeFlavor};
pub use self::local_runtime::{LocalOptions, LocalRuntime};
pub use self::metrics::RuntimeMetrics;
pub use self::random::RngSeed;
pub use self::runtime::Runtime;
pub use raddle_sched::{
    HistogramConfiguration, Id, InvalidHistogramConfiguration, LogHistogram, LogHistogramBuilder,
    Policy, TaskMeta, UnhandledPanic,
};
