//! The counts, by name and phase.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::AddAssign;
use std::panic::Location;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::{MAX_ACTORS, OUTSIDE, PHASES};

/// Operations, by their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Loads of a word.
    pub loads: u64,
    /// Stores to a word.
    pub stores: u64,
    /// Read-modify-writes of a word, successful or not; attempts to take a lock that was held.
    pub read_modify_writes: u64,
    /// Acquisitions of a lock.
    pub locks: u64,
    /// How many of the operations above would have fetched the cache line from another core: loads
    /// of a word that another actor has written since this actor's last access, and writes of a
    /// word that other actors have cached.
    pub transfers: u64,
    /// Events.
    pub events: u64,
}

impl Operations {
    /// Stores, read-modify-writes and acquisitions of a lock.
    pub fn writes(&self) -> u64 {
        self.stores + self.read_modify_writes + self.locks
    }
}

impl AddAssign for Operations {
    fn add_assign(&mut self, other: Self) {
        self.loads += other.loads;
        self.stores += other.stores;
        self.read_modify_writes += other.read_modify_writes;
        self.locks += other.locks;
        self.transfers += other.transfers;
        self.events += other.events;
    }
}

/// The kind of thing that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words or locks that have the name.
    Named,
    /// Words or locks without a name. The line of source that makes them stands for the name.
    Unnamed,
    /// An event.
    Event,
}

/// The counts of one name.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// The kind of thing that the name stands for.
    pub kind: Kind,
    /// The number of words with the name that were made since the last [`reset`]. A lock is counted
    /// when it is first taken.
    pub made: u64,
    /// The largest number of actors that have used one word of the name since the last [`reset`].
    pub actors: usize,
    /// The settled operations of each phase.
    pub phases: [Operations; PHASES],
}

/// An operation of an actor on a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Load,
    Store,
    ReadModifyWrite,
    Lock,
    FailedLock,
    /// The word is made: this is not counted, but the actor then owns the cache line.
    Make,
}

#[derive(Default)]
struct Ledger {
    entries: Vec<Entry>,
    /// The counts of each name since the last `settle`.
    pending: Vec<Operations>,
    /// The names that have counts in `pending`.
    touched: Vec<usize>,
    names: HashMap<&'static str, usize>,
    places: HashMap<(&'static str, u32, u32), usize>,
    /// The number of calls of `reset`.
    epoch: u32,
}

static LEDGER: LazyLock<Mutex<Ledger>> = LazyLock::new(Mutex::default);

std::thread_local! {
    static ACTOR: Cell<usize> = const { Cell::new(OUTSIDE) };
}

fn ledger() -> MutexGuard<'static, Ledger> {
    LEDGER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts the calling thread's operations for an actor from now on.
///
/// # Panics
///
/// Panics if `actor` is not below [`MAX_ACTORS`].
pub fn act_as(actor: usize) {
    assert!(actor < MAX_ACTORS, "there are {MAX_ACTORS} actors");
    ACTOR.set(actor);
}

/// Assigns the counts since the last call to `phase`.
///
/// # Panics
///
/// Panics if `phase` is not below [`PHASES`].
pub fn settle(phase: usize) {
    assert!(phase < PHASES, "there are {PHASES} phases");
    let mut ledger = ledger();
    let ledger = &mut *ledger;
    for name in ledger.touched.drain(..) {
        let counted = std::mem::take(&mut ledger.pending[name]);
        ledger.entries[name].phases[phase] += counted;
    }
}

/// Removes all counts. Words that were made before are no longer counted as made, and must not be
/// named later.
pub fn reset() {
    let mut ledger = ledger();
    let ledger = &mut *ledger;
    for name in ledger.touched.drain(..) {
        ledger.pending[name] = Operations::default();
    }
    for entry in &mut ledger.entries {
        entry.phases = Default::default();
        entry.actors = 0;
        entry.made = 0;
    }
    ledger.epoch += 1;
}

/// The counts of each name.
pub fn report() -> Vec<Entry> {
    ledger().entries.clone()
}

/// Counts an event.
pub fn event(name: &'static str) {
    let mut ledger = ledger();
    let name = ledger.intern(name, Kind::Event);
    ledger.pending(name).events += 1;
}

impl Ledger {
    fn intern(&mut self, name: &'static str, kind: Kind) -> usize {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let index = self.add(name.to_owned(), kind);
        self.names.insert(name, index);
        index
    }

    fn intern_place(&mut self, place: &'static Location<'static>) -> usize {
        let key = (place.file(), place.line(), place.column());
        if let Some(known) = self.places.get(&key) {
            return *known;
        }
        let file = place.file();
        let file = file.find("crates/").map_or(file, |start| &file[start..]);
        let name = format!("{file}:{}", place.line());
        let index = self.add(name, Kind::Unnamed);
        self.places.insert(key, index);
        index
    }

    fn add(&mut self, name: String, kind: Kind) -> usize {
        self.entries.push(Entry {
            name,
            kind,
            made: 0,
            actors: 0,
            phases: Default::default(),
        });
        self.pending.push(Operations::default());
        self.entries.len() - 1
    }

    fn pending(&mut self, name: usize) -> &mut Operations {
        let pending = &mut self.pending[name];
        if *pending == Operations::default() {
            self.touched.push(name);
        }
        pending
    }
}

/// Adds a word to the words of a name, and returns the number of the name.
pub(super) fn add_named(name: &'static str) -> usize {
    let mut ledger = ledger();
    let name = ledger.intern(name, Kind::Named);
    ledger.entries[name].made += 1;
    name
}

/// Adds a word to the words that are made at a place in the source, and returns the number of the
/// place.
pub(super) fn add_at(place: &'static Location<'static>) -> usize {
    let mut ledger = ledger();
    let name = ledger.intern_place(place);
    ledger.entries[name].made += 1;
    name
}

/// Removes a word from the words of a name, because it gets another name.
pub(super) fn remove(name: usize) {
    ledger().entries[name].made -= 1;
}

/// Counts an operation of the calling thread's actor on a word.
pub(super) fn count(name: usize, operation: Operation, holders: &Mutex<Holders>) {
    let actor = ACTOR.get();
    let mut ledger = ledger();
    let mut holders = holders.lock().unwrap_or_else(PoisonError::into_inner);
    if operation == Operation::Make {
        holders.holders = Actors::only(actor);
        return;
    }
    let writes = operation != Operation::Load;
    let transfers = holders.touch(actor, writes, ledger.epoch);
    let entry = &mut ledger.entries[name];
    entry.actors = entry.actors.max(holders.actors.count());
    let pending = ledger.pending(name);
    match operation {
        Operation::Load => pending.loads += 1,
        Operation::Store => pending.stores += 1,
        Operation::ReadModifyWrite | Operation::FailedLock => pending.read_modify_writes += 1,
        Operation::Lock => pending.locks += 1,
        Operation::Make => {}
    }
    pending.transfers += u64::from(transfers);
}

/// A set of actors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Actors([u64; MAX_ACTORS / 64]);

impl Actors {
    const EMPTY: Self = Self([0; MAX_ACTORS / 64]);

    fn only(actor: usize) -> Self {
        let mut set = Self::EMPTY;
        set.insert(actor);
        set
    }

    fn insert(&mut self, actor: usize) {
        self.0[actor / 64] |= 1 << (actor % 64);
    }

    fn contains(&self, actor: usize) -> bool {
        self.0[actor / 64] & 1 << (actor % 64) != 0
    }

    fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// The actors whose caches hold a word, if each word has its own line and caches never evict.
#[derive(Debug)]
pub(super) struct Holders {
    holders: Actors,
    /// The actors that have used the word since the reset with this number.
    actors: Actors,
    epoch: u32,
}

impl Holders {
    pub(super) const fn new() -> Self {
        Self {
            holders: Actors::EMPTY,
            actors: Actors::EMPTY,
            epoch: 0,
        }
    }

    /// Records an access. Returns whether the line came from another core, or was taken from other
    /// cores.
    fn touch(&mut self, actor: usize, writes: bool, epoch: u32) -> bool {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.actors = Actors::EMPTY;
        }
        self.actors.insert(actor);
        let is_new = self.holders == Actors::EMPTY;
        let has_it = match writes {
            true => self.holders == Actors::only(actor),
            false => self.holders.contains(actor),
        };
        match writes {
            true => self.holders = Actors::only(actor),
            false => self.holders.insert(actor),
        }
        !is_new && !has_it
    }
}
