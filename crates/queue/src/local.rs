//! The bounded run queue: one owner pushes and pops, any thread steals.
//!
//! The design is that of Go's scheduler (Vyukov, 2012), as Tokio's rewrite of 2019 adopted it: a
//! ring, a tail that only the owner writes, and a head that the owner and stealers move by
//! compare-exchange. A separate word holds the claim that a stealer has not read completely yet.
//! The owner reads that word only when the queue seems full.
//!
//! The slots of the ring hold the items themselves, of any size. The owner and the stealers move
//! them bit by bit, and run no code of theirs.

mod owner;
mod ring;
mod stealer;

use std::cell::Cell;

use crate::cursor::{Index, MAX_CAPACITY};
use ring::Ring;

pub use owner::{Owner, Pushed};
pub use stealer::{Stealer, Stolen};

/// The default capacity: 256 items.
///
/// Models use 4.
pub const CAPACITY: usize = if cfg!(raddle_loom) { 4 } else { 256 };

/// Makes an empty queue of capacity `N`, a power of two of at least 2. [`Owner::new`] makes one of
/// the default capacity, whose type needs no annotation.
///
/// ```
/// use raddle_queue::{Owner, Stealer, local};
///
/// struct Worker {
///     own: Owner<u64, 32>,
///     steals_from: Vec<Stealer<u64, 32>>,
/// }
///
/// let (own, stealer) = local::new();
/// let worker = Worker { own, steals_from: vec![stealer] };
/// assert_eq!(worker.own.room(), 32);
/// assert!(worker.steals_from[0].is_empty());
/// ```
pub fn new<T, const N: usize>() -> (Owner<T, N>, Stealer<T, N>) {
    starting_at(0)
}

/// Makes an empty queue whose indices start at `index`, so that tests reach the wrap.
#[doc(hidden)]
pub fn starting_at<T, const N: usize>(index: u32) -> (Owner<T, N>, Stealer<T, N>) {
    const {
        assert!(
            N.is_power_of_two() && N >= 2 && N <= MAX_CAPACITY,
            "the capacity must be a power of two between 2 and 65,536"
        );
    }
    let start = Index::new(index);
    let ring = Ring::new(start);
    let owner = Owner {
        ring: ring.clone(),
        cached_head: Cell::new(start),
        free: Cell::new(start),
        unstolen_head: Cell::new(start),
    };
    (owner, Stealer { ring })
}
