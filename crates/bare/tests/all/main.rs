//! Tests of the executor for one thread.
#![cfg(not(raddle_loom))]

#[cfg(feature = "std")]
mod auto_traits;
#[cfg(all(feature = "std", not(miri)))]
pub mod echo;
#[cfg(feature = "std")]
mod hostile;
#[cfg(all(unix, not(miri)))]
mod no_std;
#[cfg(feature = "std")]
mod tasks;
#[cfg(feature = "std")]
mod wakers;
