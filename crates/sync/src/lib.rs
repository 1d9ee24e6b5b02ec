#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod barrier;
mod blocking;
#[allow(unsafe_code, reason = "its guards reach the value in its cell")]
mod mutex;
#[allow(unsafe_code, reason = "its guards reach the value in its cell")]
mod rwlock;
mod semaphore;
mod try_lock_error;
#[allow(
    dead_code,
    reason = "what else waits in it comes with the next changes"
)]
mod wait_list;
mod wake;

pub use barrier::{Barrier, BarrierWaitResult};
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
pub use rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};
pub use semaphore::{
    AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError,
};
pub use try_lock_error::TryLockError;
