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
///
/// ```
/// use std::cell::RefCell;
///
/// use raddle_queue::{Overflow, local};
///
/// /// A scheduler of one thread needs no lock.
/// #[derive(Default)]
/// struct Backlog(RefCell<Vec<Box<u32>>>);
///
/// impl Overflow<Box<u32>> for Backlog {
///     fn push_batch(&self, items: impl Iterator<Item = Box<u32>>) {
///         self.0.borrow_mut().extend(items);
///     }
/// }
///
/// let backlog = Backlog::default();
/// let (owner, _) = local::new::<_, 2>();
/// for n in 0..3 {
///     owner.push(Box::new(n), &backlog);
/// }
/// assert_eq!(owner.pop().as_deref(), Some(&1));
/// let backlog = backlog.0.into_inner();
/// assert_eq!(backlog.iter().map(|n| **n).collect::<Vec<_>>(), [0, 2]);
/// ```
pub trait Overflow<T> {
    /// Takes over items, oldest first.
    fn push_batch(&self, items: impl Iterator<Item = T>);
}
