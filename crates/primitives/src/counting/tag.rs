//! The data kept with each word and lock: its name, and the actors that have used it.

use std::panic::Location;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::ledger::{self, Holders, Operation};
use crate::CachePadded;
use crate::rank::Rank;

/// No name has this number.
const NONE: usize = usize::MAX;

/// The name of a word or a lock, and the actors that have used it.
#[derive(Debug)]
pub(crate) struct Tag {
    /// The number of the name, once the ledger has assigned it.
    name: AtomicUsize,
    origin: Origin,
    holders: Mutex<Holders>,
}

#[derive(Clone, Copy, Debug)]
enum Origin {
    Place(&'static Location<'static>),
    Name(&'static str),
}

impl Tag {
    const fn new(origin: Origin) -> Self {
        Self {
            name: AtomicUsize::new(NONE),
            origin,
            holders: Mutex::new(Holders::new()),
        }
    }

    /// The tag of a word that the caller's caller creates.
    #[track_caller]
    pub(crate) const fn here() -> Self {
        Self::new(Origin::Place(Location::caller()))
    }

    /// The tag of a lock with a rank.
    pub(crate) const fn ranked(rank: Rank) -> Self {
        Self::new(Origin::Name(rank.name()))
    }

    /// Like [`here`](Self::here), and registers the word with the ledger at once.
    #[track_caller]
    pub(super) fn made_here() -> Self {
        let tag = Self::here();
        tag.count(Operation::Make);
        tag
    }

    /// Replaces the name.
    pub(crate) fn rename(&self, name: &'static str) {
        // ORDERING: the number stands alone; the ledger has a lock.
        let old = self.name.swap(ledger::add_named(name), Ordering::Relaxed);
        if old != NONE {
            ledger::remove(old);
        }
    }

    pub(crate) fn lock(&self) {
        self.count(Operation::Lock);
    }

    pub(crate) fn fail_to_lock(&self) {
        self.count(Operation::FailedLock);
    }

    pub(super) fn load(&self) {
        self.count(Operation::Load);
    }

    pub(super) fn store(&self) {
        self.count(Operation::Store);
    }

    pub(super) fn read_modify_write(&self) {
        self.count(Operation::ReadModifyWrite);
    }

    fn count(&self, operation: Operation) {
        ledger::count(self.name(), operation, &self.holders);
    }

    fn name(&self) -> usize {
        // ORDERING: as in `rename`.
        let known = self.name.load(Ordering::Relaxed);
        if known != NONE {
            return known;
        }
        let name = match self.origin {
            Origin::Place(place) => ledger::add_at(place),
            Origin::Name(name) => ledger::add_named(name),
        };
        // ORDERING: as in `rename`.
        match self
            .name
            .compare_exchange(NONE, name, Ordering::Relaxed, Ordering::Relaxed)
        {
            Ok(_) => name,
            Err(earlier) => {
                ledger::remove(name);
                earlier
            }
        }
    }
}

impl Default for Tag {
    #[track_caller]
    fn default() -> Self {
        Self::here()
    }
}

/// A word or a lock that can be given a name.
pub trait Tagged {
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "only this crate calls it")]
    fn tag(&self) -> &Tag;
}

impl<T: ?Sized> Tagged for crate::sync::Mutex<T> {
    #[expect(private_interfaces, reason = "only this crate calls it")]
    fn tag(&self) -> &Tag {
        &self.tag
    }
}

impl<T: ?Sized> Tagged for crate::sync::RwLock<T> {
    #[expect(private_interfaces, reason = "only this crate calls it")]
    fn tag(&self) -> &Tag {
        &self.tag
    }
}

impl Tagged for crate::Count {
    #[expect(private_interfaces, reason = "only this crate calls it")]
    fn tag(&self) -> &Tag {
        self.word().tag()
    }
}

impl<T: Tagged> Tagged for CachePadded<T> {
    #[expect(private_interfaces, reason = "only this crate calls it")]
    fn tag(&self) -> &Tag {
        (**self).tag()
    }
}
