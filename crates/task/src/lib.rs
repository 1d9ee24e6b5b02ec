#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod abort_on_drop;
mod arrivals;
pub mod blocking;
mod builder;
mod captures;
mod cell;
mod current;
mod error;
mod id;
mod join;
mod join_set;
mod large;
mod live;
mod local_list;
mod local_set;
#[cfg(not(any(raddle_loom, raddle_sanitize)))]
pub mod memory;
#[cfg(any(raddle_loom, raddle_sanitize))]
#[path = "memory_plain.rs"]
pub mod memory;
mod name;
mod parallel_scope;
mod ready_list;
mod run;
mod runnable;
mod schedule;
mod scope;
mod span;
mod spawn;
mod state;
mod task_local;
#[cfg(feature = "tracing")]
pub mod trace;
#[cfg(not(feature = "tracing"))]
#[path = "trace_off.rs"]
pub mod trace;
mod waker;

pub use abort_on_drop::AbortOnDropHandle;
pub use arrivals::Arrivals;
pub use builder::Builder;
pub use captures::note_boxed;
pub use current::{id, try_id};
pub use error::JoinError;
pub use id::{Id, take_id, upcoming_id};
pub use join::{AbortHandle, JoinHandle, WakerCount};
pub use join_set::{JoinSet, JoinSetBuilder};
pub use large::{MAX_INLINE_SIZE, SpawnMeta};
pub use live::LiveList;
pub use local_list::{LocalList, LocalRunnable, ScheduleLocal};
pub use local_set::{CurrentLocalSet, LocalEnterGuard, LocalSet};
pub use name::{NameGuard, name_next, take_name};
pub use parallel_scope::{ParallelScope, parallel_scope};
pub use ready_list::ReadyList;
pub use runnable::{Outcome, Runnable};
pub use schedule::{EndReason, Schedule, spawn, spawn_unchecked};
pub use scope::{Scope, ScopedJoinHandle, scope};
pub use spawn::Spawn;
pub use task_local::{AccessError, LocalKey, TaskLocalFuture};
