#![doc = include_str!("../README.md")]

mod claim;
mod cursor;
mod injection;
pub mod local;
mod slot;

pub use injection::{Batch, Injection};
pub use local::{Owner, Pushed, Stealer, Stolen};
pub use raddle_primitives::Pointer;
pub use slot::Slot;

/// The destination of the items that a full local queue cannot hold.
///
/// ```
/// use std::cell::RefCell;
///
/// use raddle_queue::{Overflow, Owner};
///
/// /// A scheduler of one thread needs no lock.
/// #[derive(Default)]
/// struct Backlog(RefCell<Vec<u32>>);
///
/// impl Overflow<u32> for Backlog {
///     fn push_batch(&self, items: impl Iterator<Item = u32>) {
///         self.0.borrow_mut().extend(items);
///     }
/// }
///
/// let backlog = Backlog::default();
/// let owner = Owner::<u32, 2>::default();
/// for n in 0..3 {
///     owner.push(n, &backlog);
/// }
/// assert_eq!(owner.pop(), Some(1));
/// assert_eq!(backlog.0.into_inner(), [0, 2]);
/// ```
pub trait Overflow<T> {
    /// Takes over items, oldest first.
    fn push_batch(&self, items: impl Iterator<Item = T>);
}
