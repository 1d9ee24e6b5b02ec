//! Runtimes: they run tasks, and have the threads, sockets and timers that tasks use.
//!
//! `#[raddle::main]` makes a runtime and runs the async `main` in it. A program that needs other
//! settings makes one with a [`Builder`]:
//!
//! ```
//! let runtime = raddle::runtime::Builder::new_multi_thread()
//!     .worker_threads(2)
//!     .thread_name("web")
//!     .enable_all()
//!     .build()?;
//! let answer = runtime.block_on(async {
//!     raddle::spawn(async { 6 * 7 }).await.unwrap()
//! });
//! assert_eq!(answer, 42);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Which runtime
//!
//! | runtime | tasks run | for |
//! |---|---|---|
//! | [`Builder::new_multi_thread`] | on worker threads | servers; anything that uses several cores |
//! | [`Builder::new_current_thread`] | inside [`Runtime::block_on`], on its thread | tests, tools, an existing thread |
//! | [`LocalRuntime`] | the same, and need not be `Send` | programs with `Rc`, one runtime per thread |
//!
//! A [`Policy`] says how a multi-thread runtime distributes its tasks: by work stealing, from one
//! queue, or so that each task stays on one worker.
//!
//! # The current runtime
//!
//! The runtime in which code runs is its *current* runtime: [`spawn`](crate::spawn), sockets and
//! timers use it. [`Handle::current`] is a reference to it, which can be cloned and sent to other
//! threads. On a thread outside of any runtime, [`Runtime::enter`] and [`Handle::enter`] make one
//! current.
//!
//! # Shutdown
//!
//! Dropping a [`Runtime`] shuts it down: every task is dropped at its next `.await`, exactly once,
//! and the drop waits for running blocking work and for each thread to exit, including its hooks
//! and the destructors of its thread-locals. It never panics. In async code, where a thread must
//! not block, and on a thread of the runtime itself, the drop returns at once and a separate thread
//! waits. Blocking work and [`block_in_place`](crate::task::block_in_place) of another runtime are
//! not async code. [`Runtime::shutdown_timeout`] and [`Runtime::shutdown_background`] bound the
//! wait.
//!
//! # Looking inside
//!
//! [`Runtime::metrics`] counts tasks, polls, steals and more, without a feature or a `--cfg`.
//! [`Builder::on_task_spawn`] and similar methods set hooks for the events of each task. The layer
//! `SpanLayer` (feature `tracing-layer`) shows the tools the spans of the crate `tracing`.
//!
//! # Environment variables
//!
//! These variables switch tools on, for each runtime that a [`Builder`], [`Runtime::new`],
//! `#[raddle::main]` or, on the stand-in, `#[tokio::main]` builds, if the feature of the tool is
//! compiled in. The feature `tools` has them all.
//!
//! | variable | example | feature | does |
//! |---|---|---|---|
//! | `RADDLE_CONSOLE` | `127.0.0.1:6670` | `console` | serves a live page: `Builder::console` |
//! | `RADDLE_CONSOLE_URL_FILE` | `/run/service/url` | `console` | writes the URL of the page to a file of mode 600 instead of standard error |
//! | `RADDLE_METRICS` | `0.0.0.0:9469` | `metrics-server` | serves metrics for Prometheus: `Builder::serve_metrics` |
//! | `RADDLE_WATCHDOG` | `100ms` | `watchdog` | warns of slow polls: `Builder::watchdog` |
//! | `RADDLE_RECORD` | `/var/tmp/service` | `flight-recorder` | keeps recordings in a directory of the process: `Builder::flight_recorder` |
//! | `RADDLE_DUMP_ON_SIGQUIT` | `1` | `task-dumps` | prints all tasks at SIGQUIT: `Builder::dump_tasks_on_sigquit` |
//!
//! A setting of the builder is used before that of a variable. A duration is a number with `us`,
//! `ms`, `s`, `m` or `h`. A variable with another value, and one whose feature is not compiled in,
//! has no effect, and standard error says so once. So does a tool that cannot start. A program
//! without any of these features does not read the variables.

mod blocking;
mod builder;
#[cfg(feature = "console")]
mod console;
mod context;
mod driver;
#[cfg(feature = "task-dumps")]
mod dumps;
#[cfg(any(
    feature = "flight-recorder",
    feature = "metrics-server",
    feature = "task-dumps",
    feature = "watchdog"
))]
mod environment;
mod error;
#[cfg(feature = "flight-recorder")]
pub mod flight_recorder;
mod handle;
mod local_runtime;
#[cfg(feature = "metrics-server")]
mod measured;
mod metrics;
#[cfg(feature = "metrics-server")]
mod metrics_server;
mod observers;
mod off;
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
#[cfg(feature = "tracing-layer")]
mod spans;
#[cfg(feature = "stepped")]
pub mod stepped;
mod tools;
#[cfg(feature = "watchdog")]
mod watching;

/// The reports of [`Builder::watchdog`].
#[cfg(feature = "watchdog")]
pub mod watchdog {
    pub use raddle_watchdog::{
        NoSpareWorkers, Report, ShutdownReport, SlowPoll, StackFrame, StackTrace, WaitingJobs, warn,
    };
}

/// The dumps of [`Handle::dump`].
#[cfg(feature = "task-dumps")]
pub mod dump {
    pub use raddle_dump::{
        BlockOn, Deadlock, Direction, Dump, DumpError, Edge, Exit, LastWake, Resource,
        ResourceDump, ResourceKind, ResourceUse, ResourceWaiter, Role, TaskDump, TaskGroup,
        TaskState, Wait, WokenBy,
    };
}

pub use self::builder::Builder;
pub use self::context::{EnterGuard, worker_index};
pub use self::error::{TryCurrentError, is_rt_shutdown_err};
pub use self::handle::{Handle, RuntimeFlavor};
pub use self::local_runtime::{LocalOptions, LocalRuntime};
pub use self::metrics::RuntimeMetrics;
pub use self::runtime::Runtime;
#[cfg(feature = "tracing-layer")]
pub use self::spans::SpanLayer;
#[cfg(feature = "console")]
pub use raddle_console::ConsoleOptions;
pub use raddle_primitives::random::RngSeed;
pub use raddle_sched::{
    HistogramConfiguration, Id, InvalidHistogramConfiguration, LogHistogram, LogHistogramBuilder,
    Policy, TaskMeta, UnhandledPanic,
};
