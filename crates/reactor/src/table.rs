//! The slab of registrations.

use std::io;

use mio::Token;
use raddle_primitives::sync::Arc;
use slab::Slab;

use crate::{IoState, Metrics, error};

/// The low bits of a token: the index of the registration in the slab. The rest is for the
/// generation. A process with addresses of 32 bits has no memory for 2^18 sources.
const INDEX_BITS: u32 = if usize::BITS >= 64 { 28 } else { 18 };
const INDEX: usize = (1 << INDEX_BITS) - 1;

/// A slab of up to this capacity is never made smaller.
const SMALL: usize = 1024;

/// The token of the waker of `unpark`. No registration has it, because none gets the last index.
pub(crate) const UNPARK: Token = Token(usize::MAX);

/// All registrations, each with an index and a generation.
#[derive(Debug)]
pub(crate) struct Table {
    entries: Slab<Entry>,
    /// Counts registrations; a token holds the low bits of the count. A token repeats only after
    /// 2^36 registrations, or 2^14 on 32-bit targets, and only if the index is the same too. If an
    /// event of a freed registration has such a token, a source that is not ready is marked as
    /// ready.
    generation: u64,
    /// Counts events that were passed to a registration.
    events: u64,
    /// When this number of registrations remains, the memory beyond the last one is freed: first at
    /// a quarter of the maximum, then at half of that, and so on, so that the slab is rarely
    /// walked.
    shrink_at: usize,
    shut_down: bool,
}

#[derive(Debug)]
struct Entry {
    token: Token,
    state: Arc<IoState>,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self {
            entries: Slab::new(),
            generation: 0,
            events: 0,
            shrink_at: 0,
            shut_down: false,
        }
    }

    /// Gives `state` a token that no other registration has.
    pub(crate) fn insert(&mut self, state: Arc<IoState>) -> io::Result<Token> {
        self.insert_below(INDEX, state)
    }

    /// Like [`insert`](Self::insert), but with room for `limit` registrations.
    fn insert_below(&mut self, limit: usize, state: Arc<IoState>) -> io::Result<Token> {
        if self.shut_down {
            return Err(error::shut_down());
        }
        let entry = self.entries.vacant_entry();
        let index = entry.key();
        if index >= limit {
            return Err(error::full());
        }
        self.generation = self.generation.wrapping_add(1);
        let token = Token((self.generation as usize) << INDEX_BITS | index);
        entry.insert(Entry { token, state });
        self.shrink_at = self.shrink_at.max(self.entries.len() / 4);
        Ok(token)
    }

    /// Frees the slot of `token`, unless it is free or belongs to another registration. Returns the
    /// state, so that its wakers are not dropped under the lock.
    pub(crate) fn remove(&mut self, token: Token) -> Option<Arc<IoState>> {
        self.get(token)?;
        let state = self.entries.remove(token.0 & INDEX).state;
        if self.entries.len() <= self.shrink_at && self.entries.capacity() > SMALL {
            self.shrink();
        }
        Some(state)
    }

    #[cold]
    fn shrink(&mut self) {
        self.entries.shrink_to_fit();
        self.shrink_at = self.entries.len() / 2;
    }

    /// Returns the registration with `token`, if it still has its slot.
    pub(crate) fn get(&self, token: Token) -> Option<&Arc<IoState>> {
        let slot = self.entries.get(token.0 & INDEX)?;
        (slot.token == token).then_some(&slot.state)
    }

    /// Counts events that are passed to registrations.
    pub(crate) fn count_events(&mut self, events: usize) {
        self.events += events as u64;
    }

    pub(crate) fn metrics(&self) -> Metrics {
        Metrics {
            registered: self.generation,
            deregistered: self.generation - self.entries.len() as u64,
            events: self.events,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Refuses registrations from now on, and returns the existing ones.
    pub(crate) fn shut_down(&mut self) -> impl Iterator<Item = Arc<IoState>> + use<> {
        self.shut_down = true;
        std::mem::take(&mut self.entries)
            .into_iter()
            .map(|(_, slot)| slot.state)
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
