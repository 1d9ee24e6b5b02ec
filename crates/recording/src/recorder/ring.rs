//! The ring of one thread: the latest records of a single writer, which readers copy while the
//! writer continues.
//!
//! A ring has slots, a power of two of them, and the count of complete records. Record `n` is in
//! slot `n` modulo the number of slots. All words are atomic, so the ring needs no unsafe code.
//!
//! The writer pushes record `n` with three stores, each with Release: the two words of the slot,
//! then the count `n + 1`. Only the writer changes the state of a slot:
//!
//! | state of record `n` | count | its slot |
//! |---|---|---|
//! | not written | at most `n` | has an older record, or one word of the older record and one of `n` |
//! | complete | `n + 1` to `n + slots - 1` | has record `n` |
//! | perhaps being overwritten | `n + slots` | has words of record `n`, of record `n + slots`, or one of each |
//! | overwritten | more | has a later record |
//!
//! A reader copies records in three steps:
//!
//! 1. it loads the count `end` with Acquire, which makes the words of all records before `end`
//!    visible;
//! 2. it loads the words from the oldest slot to `end`, each with Acquire;
//! 3. it loads the count again as `after`, and drops the records before `after + 1 - slots`: those
//!    that are overwritten, and the one that the writer may be overwriting.
//!
//! **Why no reader returns a torn record.** Assume that step 2 expects record `n` and loads a word
//! of a later record `m`, at least `n + slots`. The load acquires what the writer's store of that
//! word released. Before that store the writer stored the count `m`. Step 3 thus loads a count of
//! at least `m`, and `m + 1 - slots` is greater than `n`: record `n` is dropped.
//!
//! A ring belongs to one thread at a time, the holder of its [`RingWriter`]. When a thread ends,
//! its ring passes with its records to the next thread that needs one.

use std::fmt;

use crate::Record;
use raddle_primitives::named;
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicU64, Ordering};

/// The words of a ring. They contain no pointers, so a torn record is at worst a wrong event.
struct Shared {
    /// The number of complete records. Only the writer writes it.
    count: AtomicU64,
    /// Record `n` is in slot `n % slots.len()`; the length is a power of two.
    slots: Box<[[AtomicU64; 2]]>,
}

impl Shared {
    #[inline]
    fn slot(&self, position: u64) -> &[AtomicU64; 2] {
        &self.slots[position as usize & (self.slots.len() - 1)]
    }
}

/// Makes a ring for the latest `capacity` records. The capacity is rounded up to a power of two and
/// is at least 2.
pub fn ring(capacity: usize) -> (RingWriter, RingReader) {
    let capacity = capacity.next_power_of_two().max(2);
    let word = || named("recorder slot", AtomicU64::new(0));
    let shared = Arc::new(Shared {
        count: named("recorder count", AtomicU64::new(0)),
        slots: (0..capacity).map(|_| [word(), word()]).collect(),
    });
    let writer = RingWriter {
        shared: Arc::clone(&shared),
        count: 0,
    };
    (writer, RingReader { shared })
}

/// The one writer of a ring.
pub struct RingWriter {
    shared: Arc<Shared>,
    /// The value of `Shared::count`.
    count: u64,
}

impl RingWriter {
    /// Adds a record, and overwrites the oldest one if the ring is full. It takes three stores,
    /// even while threads read.
    #[inline]
    pub fn push(&mut self, record: Record) {
        let index = self.count as usize & (self.shared.slots.len() - 1);
        // Always there, since the length is a power of two.
        let Some(slot) = self.shared.slots.get(index) else {
            return;
        };
        let [first, second] = record.words();
        // ORDERING: Release pairs with the load in `RingReader::copy`: a reader that gets a word of
        // this record also sees the count that was stored before it, and therefore leaves out the
        // record that was in this slot.
        slot[0].store(first, Ordering::Release);
        // ORDERING: as above.
        slot[1].store(second, Ordering::Release);
        self.count += 1;
        // ORDERING: Release pairs with the first load in `RingReader::read_from`: a reader that
        // sees the record counted sees its words.
        self.shared.count.store(self.count, Ordering::Release);
    }

    /// Returns the number of records that have been pushed.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the writer for another thread. This one is not used again.
    pub(crate) fn hand_over(&mut self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            count: self.count,
        }
    }
}

impl fmt::Debug for RingWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("RingWriter");
        debug.field("count", &self.count).finish_non_exhaustive()
    }
}

/// A reader of a ring. There may be many, on any threads.
///
/// ```
/// use std::thread;
///
/// use raddle_recording::recorder::ring::ring;
/// use raddle_recording::{Event, Record};
///
/// let (mut writer, reader) = ring(1024);
/// let following = reader.clone();
/// let follower = thread::spawn(move || {
///     // Reads what is new, until there are ten records.
///     let (mut position, mut count) = (0, 0);
///     while count < 10 {
///         let batch = following.read_from(position);
///         position = batch.end();
///         count += batch.records.len();
///     }
///     count
/// });
/// for time in 0..10 {
///     writer.push(Record::new(time, Event::DriverStarted));
/// }
/// assert_eq!(follower.join().unwrap(), 10);
/// ```
#[derive(Clone)]
pub struct RingReader {
    shared: Arc<Shared>,
}

/// Consecutive records that were read from a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The position of the first record: how many were pushed before it. Records between the
    /// position that was asked for and this one are overwritten.
    pub position: u64,
    /// The records.
    pub records: Vec<Record>,
}

impl Batch {
    /// The position after the last record.
    pub fn end(&self) -> u64 {
        self.position + self.records.len() as u64
    }
}

impl RingReader {
    /// Copies the records from `position` on that are still in the ring. Does not stop the writer.
    /// If a record is overwritten during the copy, it is left out together with those before it.
    ///
    /// If `position` is past the last record, the batch is empty and begins there.
    pub fn read_from(&self, position: u64) -> Batch {
        // ORDERING: Acquire pairs with `RingWriter::push`: the words of all records before `end`
        // are there.
        let end = self.shared.count.load(Ordering::Acquire);
        let start = self.oldest(end).max(position);
        let mut records = self.copy(start, end);
        // ORDERING: none by itself. If a copied word belongs to a later record, its Acquire load
        // ordered this load after the count that was written before that record.
        let after = self.shared.count.load(Ordering::Relaxed);
        // Record `after` may be half written, in the slot of a record one round earlier.
        let whole = self.oldest(after + 1).min(end).max(start);
        records.drain(..(whole - start).min(records.len() as u64) as usize);
        Batch {
            position: whole,
            records,
        }
    }

    /// Returns the position of the oldest record that is in the ring after `count` pushes.
    fn oldest(&self, count: u64) -> u64 {
        count.saturating_sub(self.shared.slots.len() as u64)
    }

    fn copy(&self, start: u64, end: u64) -> Vec<Record> {
        let record = |position| {
            let words = self.shared.slot(position);
            // ORDERING: Acquire pairs with the stores of the words in `RingWriter::push`; see the
            // last load in `read_from`.
            Record::from_words([0, 1].map(|index: usize| words[index].load(Ordering::Acquire)))
        };
        (start..end).map(record).collect()
    }

    /// Copies records without checking whether they were overwritten during the copy, for the
    /// canary of the models.
    #[cfg(raddle_loom)]
    pub fn read_unchecked(&self) -> Vec<Record> {
        // ORDERING: as in `read_from`.
        let end = self.shared.count.load(Ordering::Acquire);
        self.copy(self.oldest(end), end)
    }
}

impl fmt::Debug for RingReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RingReader").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
