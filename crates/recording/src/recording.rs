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
    /// The number of records that the reader left out because it does not know their kind.
    pub unknown: u64,
    /// Whether the file ended in the middle of a chunk, as after a crash.
    pub is_truncated: bool,
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

    /// All entries with the numbers of their threads, in the order of their times. Entries of one
    /// thread keep their order.
    pub fn by_time(&self) -> Vec<(u64, Entry)> {
        let mut all: Vec<_> = self
            .threads
            .iter()
            .flat_map(|(number, thread)| thread.entries.iter().map(|entry| (*number, *entry)))
            .collect();
        all.sort_by_key(|(_, entry)| entry.time);
        all
    }

    /// The time from which on no thread has lost a record.
    pub fn complete_from(&self) -> u64 {
        let first = |thread: &Thread| thread.entries.first().map_or(0, |entry| entry.time);
        let losers = self.threads.values().filter(|thread| thread.lost > 0);
        losers.map(first).max().unwrap_or(0)
    }
}
