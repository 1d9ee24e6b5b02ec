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
mod in_place;
mod metrics;
mod panics;
mod parker;
mod pool;
mod shared;
mod shutdown;
mod task;
mod worker;
mod yield_now;

pub use config::{AroundWorker, Config, Hook, RelieveWorker};
pub use context::EnterGuard;
pub use current_thread::CurrentThread;
pub use driver::{Driver, Unpark};
pub use handle::{Handle, is_inside, spawn};
pub use hooks::{TaskHook, TaskHooks, TaskMeta};
pub use id::{Id, take_id};
pub use in_place::block_in_place;
pub use metrics::{Metrics, WorkerMetrics};
pub use panics::UnhandledPanic;
pub use pool::Pool;
pub use worker::seat::Relief;
pub use worker::stepped::Waiting;
pub use worker::{Step, Worker};
pub use yield_now::{YieldNow, yield_now};
