//! The order in which a thread takes locks, checked in builds with debug assertions.

#[cfg(all(debug_assertions, not(raddle_loom)))]
mod held;
#[cfg(not(any(debug_assertions, raddle_loom)))]
#[path = "rank/unchecked.rs"]
mod held;

#[cfg(not(raddle_loom))]
pub(crate) use held::{Held, LockRank};

/// The place of a lock in the order in which a thread may take locks.
///
/// A thread takes a lock only if its level is greater than that of every lock that the thread
/// holds. In a build with debug assertions anything else panics, and the message names both locks.
/// The check therefore also finds an order that has not led to a deadlock yet, and user code that
/// is called under a lock and takes it again.
///
/// ```
/// use raddle_primitives::sync::{Mutex, Rank};
///
/// let outer = Mutex::ranked(Rank::outer(1, "table"), 0);
/// let leaf = Mutex::ranked(Rank::leaf("row"), 0);
/// let _outer = outer.lock();
/// let _leaf = leaf.lock();
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(all(debug_assertions, not(raddle_loom))),
    allow(dead_code, reason = "read by the check of the order")
)]
pub struct Rank {
    level: u8,
    name: &'static str,
}

impl Rank {
    /// The level of a lock under which no other lock is taken.
    pub const fn leaf(name: &'static str) -> Self {
        Self {
            level: u8::MAX,
            name,
        }
    }

    #[cfg(raddle_count)]
    pub(crate) const fn name(self) -> &'static str {
        self.name
    }

    /// The rank of a lock under which locks of greater levels and leaves may be taken.
    ///
    /// # Panics
    ///
    /// Panics if `level` is the greatest, which is the level of leaves.
    pub const fn outer(level: u8, name: &'static str) -> Self {
        assert!(level < u8::MAX, "the greatest level is for leaves");
        Self { level, name }
    }
}
