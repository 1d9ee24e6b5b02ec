#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

mod barrier;
mod blocking;
pub mod broadcast;
#[allow(unsafe_code, reason = "it reaches the value of a lock")]
mod guard;
#[cfg(all(test, not(raddle_loom)))]
#[allow(unsafe_code, reason = "it makes a waker of its own")]
#[path = "../tests/all/hooked.rs"]
mod hooked;
pub mod mpmc;
#[allow(
    unsafe_code,
    reason = "a slot of its list belongs to the sender that reserved it, and then to the receiver"
)]
pub mod mpsc;
#[allow(unsafe_code, reason = "its guards reach the value in its cell")]
mod mutex;
mod notify;
mod once_cell;
#[allow(unsafe_code, reason = "the value is written once and shared then")]
mod once_slot;
#[allow(
    unsafe_code,
    reason = "its one allocation belongs to the party that leaves last, as its state word says"
)]
pub mod oneshot;
#[allow(unsafe_code, reason = "its guards reach the value in its cell")]
mod rwlock;
mod semaphore;
#[allow(unsafe_code, reason = "its shards are behind pointers")]
mod sequence;
mod set_once;
#[cfg(feature = "stream")]
pub mod stream;
mod try_lock_error;
#[allow(
    unsafe_code,
    reason = "its nodes lie in futures, which are pinned, and are reached under the lock"
)]
mod wait_list;
#[allow(unsafe_code, reason = "the state word beside it says whose it is")]
mod waker_cell;
mod wakers;
pub mod watch;

pub use barrier::{Barrier, BarrierWaitResult};
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
pub use notify::Notify;
pub use once_cell::{OnceCell, SetError};
pub use rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};
pub use semaphore::{
    AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError,
};
pub use set_once::{SetOnce, SetOnceError};
pub use try_lock_error::TryLockError;

/// Futures that have a name.
pub mod futures {
    pub use crate::notify::{Notified, OwnedNotified};
}
