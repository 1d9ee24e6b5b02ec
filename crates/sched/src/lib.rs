#![doc = include_str!("../README.md")]

mod config;
mod context;
mod counters;
mod current_thread;
mod driver;
mod erased;
mod events;
mod handle;
mod handoff;
mod id;
mod idle;
mod idle_yield;
mod metrics;
mod monitor;
mod panics;
mod pool;
mod schedule;
mod shutdown;
mod spawn;
mod task;
mod worker;
mod yield_now;

pub use config::policy::Policy;
pub use config::{AroundWorker, Config, Hook, SparesHook, StartHandoff};
pub use context::{is_inside, is_polling, take_ended_poll};
pub use counters::{
    Histogram, HistogramConfiguration, InvalidHistogramConfiguration, LogHistogram,
    LogHistogramBuilder, SampledTimes, WorkerMetrics,
};
pub use current_thread::CurrentThread;
pub use driver::{Driver, Unpark};
pub use events::{
    EndReason, MonitorAction, Observer, PollResult, SpawnedTask, TaskHook, TaskHooks, TaskMeta,
    TaskRef, Turn,
};
pub use handle::{EnterGuard, Handle, count_nested_poll};
pub use handoff::{Handoff, block_in_place};
pub use id::{Id, take_id};
pub use metrics::Metrics;
pub use monitor::{Monitor, MonitorCheck};
pub use panics::UnhandledPanic;
pub use pool::Pool;
pub use spawn::{is_on_pinned_worker, spawn, spawn_local};
pub use worker::core::Step;
pub use worker::{Worker, WorkerWait};
pub use yield_now::{YieldNow, yield_now};
