#![doc = include_str!("../README.md")]

mod claim;
mod cursor;
mod injection;
pub mod local;
mod pointer;
mod slot;

pub use injection::{Batch, Injection};
pub use local::{Owner, Pushed, Stealer, Stolen};
pub use pointer::Pointer;
pub use slot::Slot;

/// The destination of the items that a full local queue cannot hold.
pub trait Overflow<T> {
    /// Takes over items, oldest first.
    fn push_batch(&self, items: impl Iterator<Item = T>);
}
