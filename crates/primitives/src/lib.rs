//! The concurrency primitives that every layer of Raddle uses.
//!
//! In an ordinary build each name here is std's own type, or a wrapper that the compiler removes.
//! Under `--cfg raddle_loom` the same names are those of [loom](https://docs.rs/loom), so the code
//! of a layer and of the layers below it runs unchanged in a model, which explores its
//! interleavings and memory orderings.
//!
//! Under `--cfg raddle_count` they are std's types that count the operations on each word and lock:
//! see `docs/scaling.md`.
//!
//! Only this crate mentions loom. A layer uses the atomics, cells, locks and threads of this crate,
//! and its models call `raddle_primitives::model::check`, which exists in that build only.
//!
//! # Where the two builds differ
//!
//! - loom has no clock. The time of [`thread::park_timeout`] and
//!   [`sync::Condvar::wait_timeout`] is over at any moment in a model, once
//!   another thread has gone one step further: the wait releases the lock, and ends by a
//!   notification or by its time, whichever comes first.
//! - [`sync::Condvar::notify_one`] of a model wakes the thread that has waited longest; std's may
//!   wake any. No wait of a model ends spuriously, except when another thread has used up its
//!   notification.
//! - A model has at most four threads in addition to its own.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(raddle_loom), doc = "\n# Example\n")]
#![cfg_attr(not(raddle_loom), doc = include_str!("../README.md"))]

#[cfg(all(raddle_loom, raddle_count))]
compile_error!("a build is a model or counts, not both; give one of raddle_loom and raddle_count");
#[cfg(all(raddle_loom, not(feature = "loom")))]
compile_error!("a model needs loom; enable the feature `loom` of raddle-primitives");
#[cfg(all(raddle_count, not(target_has_atomic = "64")))]
compile_error!("raddle_count counts with 64-bit atomics, which this target does not have");

mod block_on;
mod by_number;
mod contain;
mod count;
#[cfg(raddle_count)]
pub mod counting;
pub mod current;
mod epoch;
mod in_place;
mod joining;
#[cfg(any(test, not(target_has_atomic = "64")))]
#[cfg_attr(target_has_atomic = "64", allow(dead_code, unreachable_pub))]
mod locked_u64;
#[cfg(raddle_loom)]
mod loom;
#[cfg(not(raddle_loom))]
mod std;

#[cfg(raddle_loom)]
use crate::loom as imp;
#[cfg(not(raddle_loom))]
use crate::std as imp;

#[cfg(raddle_loom)]
pub mod model;

mod named;
mod numbers;
mod parallelism;
mod pointer;
pub mod random;
mod rank;
mod waker_batch;

pub use crate::by_number::ByNumber;
pub use crate::contain::contain;
pub use crate::count::Count;
pub use crate::epoch::Epoch;
pub use crate::named::{count_event, named};
pub use crate::numbers::Numbers;
pub use crate::pointer::Pointer;
pub use crate::waker_batch::WakerBatch;
pub use crossbeam_utils::CachePadded;

/// Marks a type that must stay on its thread and may be shared: it is `Sync` but not `Send`, like
/// the guard of a std lock.
pub type NotSend = ::std::marker::PhantomData<::std::sync::MutexGuard<'static, ()>>;

/// Atomics, reference counting and locks.
pub mod sync {
    pub use crate::imp::sync::{
        Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    };
    pub use crate::in_place::arc_in_place;
    pub use crate::rank::Rank;

    /// Atomic words and fences.
    pub mod atomic {
        pub use crate::imp::sync::atomic::{
            AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence,
        };
        pub use ::std::sync::atomic::{Ordering, compiler_fence};
    }
}

/// Cells whose accesses a model checks for races.
pub mod cell {
    pub use crate::imp::cell::UnsafeCell;
}

/// Threads, and blocking one until another wakes it.
pub mod thread {
    pub use crate::block_on::{ThreadWaker, WakeHook, block_on};
    pub use crate::imp::thread::{
        Builder, JoinHandle, Thread, ThreadId, current, current_id, park, park_timeout, spawn,
        yield_now,
    };
    pub use crate::joining::{Joining, run_elsewhere, spawn_boxed};
    pub use crate::parallelism::available_parallelism;
}

/// Spinning.
pub mod hint {
    pub use crate::imp::hint::{Backoff, spin_loop};
}

/// Declares a thread-local variable with an initial value that is a constant.
///
/// ```
/// raddle_primitives::thread_local! {
///     static DEPTH: std::cell::Cell<u32> = std::cell::Cell::new(0);
/// }
/// DEPTH.with(|depth| depth.set(depth.get() + 1));
/// ```
#[cfg(not(raddle_loom))]
#[macro_export]
macro_rules! thread_local {
    ($($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr;)+) => {
        ::std::thread_local! {
            $($(#[$attr])* $vis static $name: $t = const { $init };)+
        }
    };
}

/// Declares a thread-local variable that belongs to one execution of a model.
#[cfg(raddle_loom)]
#[macro_export]
macro_rules! thread_local {
    ($($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr;)+) => {
        $crate::__loom_thread_local! {
            $($(#[$attr])* $vis static $name: $t = $init;)+
        }
    };
}

#[cfg(raddle_loom)]
#[doc(hidden)]
pub use ::loom::thread_local as __loom_thread_local;
