#![doc = include_str!("../README.md")]

mod config;
mod context;
mod current_thread;
mod driver;
mod handle;
mod hooks;
mod id;
mod idle;
mod in_place;
mod metrics;
mod monitor;
mod panics;
mod parker;
mod policy;
mod pool;
mod shards;
mod shared;
mod shutdown;
mod stealable;
mod task;
mod worker;
mod yield_now;

pub use config::{AroundWorker, Config, Hook, RelieveWorker};
pub use context::EnterGuard;
pub use current_thread::CurrentThread;
pub use driver::{Driver, Unpark};
pub use handle::{Handle, count_nested_poll, is_inside, is_on_pinned_worker, spawn, spawn_local};
pub use hooks::{TaskHook, TaskHooks, TaskMeta};
pub use id::{Id, take_id};
pub use in_place::block_in_place;
pub use metrics::{
    HistogramConfiguration, InvalidHistogramConfiguration, LogHistogram, LogHistogramBuilder,
    Metrics, WorkerMetrics,
};
pub use panics::UnhandledPanic;
pub use policy::Policy;
pub use pool::Pool;
pub use worker::seat::Relief;
pub use worker::stepped::Waiting;
pub use worker::{Step, Worker};
pub use yield_now::{YieldNow, yield_now};
