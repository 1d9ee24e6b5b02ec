#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(all(feature = "std", not(target_os = "none")))]
extern crate std;

#[cfg(all(feature = "std", target_os = "none"))]
compile_error!(
    "the feature `std` of raddle-bare is not available on targets without an operating system; use \
     `default-features = false`"
);

#[cfg(feature = "alloc")]
mod boxed;
mod executor;
mod header;
mod lists;
#[cfg(not(feature = "std"))]
mod off;
#[cfg(all(doctest, feature = "std"))]
mod refused;
#[cfg(feature = "alloc")]
mod slab;
mod slot;
mod spawner;
mod state;
mod storage;
#[cfg(feature = "std")]
mod thread;
mod waker;

#[cfg(feature = "alloc")]
pub use crate::boxed::{BoxExecutor, BoxFuture};
pub use crate::executor::{Executor, Park};
#[cfg(feature = "alloc")]
pub use crate::slab::Slab;
pub use crate::spawner::{SpawnError, Spawner};
pub use crate::storage::{Array, Storage};
