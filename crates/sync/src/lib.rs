#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

#[allow(dead_code, reason = "its users come with the next changes")]
mod blocking;
mod semaphore;
#[allow(dead_code, reason = "what waits in it comes with the next changes")]
mod wait_list;

pub use semaphore::{
    AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError,
};
