//! A recording in memory.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Event, StringId};

/// An event and when it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Nanoseconds since the recorder was made.
    pub time: u64,
    /// The event.
    pub event: Event,
}

/// The part of a recording that one thread wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// The operating system's id of the thread; 0 if it is unknown.
    pub os_id: u64,
    /// The name of the thread; empty if it has none.
    pub name: String,
    /// The name of the process or the simulated host that the thread belongs to; empty for that
    /// of the recorder.
    pub process: String,
    /// The number of records of the thread that were overwritten before they were read.
    pub lost: u64,
    /// The events in the order in which they happened on the thread.
    pub entries: Vec<Entry>,
    /// Rare and slow events of which [`entries`](Self::entries) has no record any more, in the same
    /// order, and each [`TaskDelayed`](Event::TaskDelayed).
    pub rare: Vec<Entry>,
    /// The number of records of rare and slow events that were overwritten before they were read.
    pub rare_lost: u64,
}

impl Thread {
    /// All entries, those of [`rare`](Self::rare) too, in the order of their times.
    pub fn all(&self) -> impl Iterator<Item = &Entry> {
        let mut rare = self.rare.iter().peekable();
        let mut entries = self.entries.iter().peekable();
        std::iter::from_fn(move || match (rare.peek(), entries.peek()) {
            (Some(first), Some(second)) if first.time > second.time => entries.next(),
            (Some(_), _) => rare.next(),
            (None, _) => entries.next(),
        })
    }
}

/// The identity of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// The spawn location, if it is known.
    pub location: Option<StringId>,
    /// Its name.
    pub name: Option<StringId>,
    /// The task that spawned it, if one did.
    pub parent: Option<u64>,
}

/// A recording: the events of each thread, and the strings that they refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The system time at time 0 of the entries, in nanoseconds since the Unix epoch.
    pub origin: u64,
    /// The table of strings: names, and locations as `file:line:column`.
    pub strings: BTreeMap<StringId, String>,
    /// The threads, by the number that the recorder gave each.
    pub threads: BTreeMap<u64, Thread>,
    /// The tasks of the entries whose spawn is not among the entries, and their ancestors, as far
    /// as they are known.
    pub tasks: BTreeMap<u64, Task>,
    /// The number of records that the reader left out because it does not know their kind.
    pub unknown: u64,
    /// Whether the file ended in the middle of a chunk, as after a crash.
    pub is_truncated: bool,
    /// The number of damaged pieces of the file that the reader left out.
    pub damaged: u64,
}

impl Recording {
    /// The text of a string, `"?"` if the table lacks it.
    pub fn text(&self, id: StringId) -> &str {
        self.strings.get(&id).map_or("?", String::as_str)
    }

    /// The names of the processes, in the order of their first threads.
    pub fn processes(&self) -> Vec<&str> {
        let mut found = BTreeSet::new();
        let names = self.threads.values().map(|thread| thread.process.as_str());
        names.filter(|name| found.insert(*name)).collect()
    }

    /// A recording of the threads of one process.
    pub fn of_process(&self, name: &str) -> Self {
        let mut recording = self.clone();
        recording.threads.retain(|_, thread| thread.process == name);
        recording
    }

    /// All entries with the numbers of their threads, in the order of their times, without those of
    /// [`Thread::rare`]. Entries of one thread keep their order.
    pub fn by_time(&self) -> Vec<(u64, Entry)> {
        let mut all: Vec<_> = self
            .threads
            .iter()
            .flat_map(|(number, thread)| thread.entries.iter().map(|entry| (*number, *entry)))
            .collect();
        all.sort_by_key(|(_, entry)| entry.time);
        all
    }

    /// Like [`by_time`](Self::by_time), with the entries of [`Thread::rare`].
    pub fn all_by_time(&self) -> Vec<(u64, Entry)> {
        let threads = self.threads.iter();
        let mut all: Vec<_> = threads
            .flat_map(|(number, thread)| thread.all().map(|entry| (*number, *entry)))
            .collect();
        all.sort_by_key(|(_, entry)| entry.time);
        all
    }

    /// The time of the last entry, 0 if there is none.
    pub fn end(&self) -> u64 {
        let threads = self.threads.values();
        let ends = threads.flat_map(|thread| [thread.entries.last(), thread.rare.last()]);
        ends.flatten().map(|entry| entry.time).max().unwrap_or(0)
    }

    /// The time from which on no thread has lost a record of a rare or slow event. It is at most
    /// [`complete_from`](Self::complete_from).
    pub fn rare_complete_from(&self) -> u64 {
        let first = |thread: &Thread| thread.all().next().map_or(0, |entry| entry.time);
        let losers = self.threads.values().filter(|thread| thread.rare_lost > 0);
        losers.map(first).max().unwrap_or(0)
    }

    /// The time from which on no thread has lost a record.
    pub fn complete_from(&self) -> u64 {
        let first = |thread: &Thread| thread.entries.first().map_or(0, |entry| entry.time);
        let losers = self.threads.values().filter(|thread| thread.lost > 0);
        losers.map(first).max().unwrap_or(0)
    }
}
