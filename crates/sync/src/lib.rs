#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

#[allow(dead_code, reason = "its users come with the next changes")]
mod blocking;
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
#[allow(dead_code, reason = "what waits in it comes with the next changes")]
mod wait_list;
#[allow(unsafe_code, reason = "the state word beside it says whose it is")]
mod waker_cell;

pub use semaphore::{
    AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError,
};
