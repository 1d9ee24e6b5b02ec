#![doc = include_str!("../README.md")]

mod block_on;
mod config;
mod context;
mod current_thread;
mod driver;
mod handle;
mod hooks;
mod id;
mod idle;
mod metrics;
mod panics;
mod parker;
mod policy;
mod pool;
mod shards;
mod shared;
mod shutdown;
mod task;
mod worker;
mod yield_now;

pub use config::{AroundWorker, Config, Hook};
pub use context::EnterGuard;
pub use current_thread::CurrentThread;
pub use driver::{Driver, Unpark};
pub use handle::{Handle, is_inside, is_on_pinned_worker, spawn, spawn_local};
pub use hooks::{TaskHook, TaskHooks, TaskMeta};
pub use id::{Id, take_id};
pub use metrics::{Metrics, WorkerMetrics};
pub use panics::UnhandledPanic;
pub use policy::Policy;
pub use pool::Pool;
pub use worker::stepped::Waiting;
pub use worker::{Step, Worker};
pub use yield_now::{YieldNow, yield_now};
