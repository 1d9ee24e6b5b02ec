#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod barrier;
mod blocking;
#[allow(unsafe_code, reason = "its guards reach the value in its cell")]
mod mutex;
#[allow(unsafe_code, reason = "its guards reach the value in its cell")]
mod rwlock;
#[allow(
    unsafe_code,
    reason = "a slot of its list belongs to who reserved it, and then to the receiver"
)]
pub mod mpsc;
#[allow(
    unsafe_code,
    reason = "its one allocation belongs to who leaves last, as its state word says"
)]
pub mod oneshot;
mod semaphore;
mod try_lock_error;
#[allow(
    dead_code,
    reason = "what else waits in it comes with the next changes"
)]
mod wait_list;
mod wake;
#[allow(unsafe_code, reason = "the state word beside it says whose it is")]
mod waker_cell;

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
