//! A recording in memory.

use std::collections::BTreeMap;

use crate::{Event, StringId};

/// An event and when it happened.
///
/// # Examples
///
/// ```
/// use raddle_recording::{Entry, Event};
///
/// let entry = Entry { time: 1_000, event: Event::DriverStarted };
/// println!("{} ns: {:?}", entry.time, entry.event);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Nanoseconds since the recorder was made.
    pub time: u64,
    /// The event.
    pub event: Event,
}

/// The part of a recording that one thread wrote.
///
/// # Examples
///
/// ```
/// use raddle_recording::Thread;
///
/// let thread = Thread { name: "worker-0".to_owned(), ..Thread::default() };
/// assert_eq!(thread.lost, 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// The operating system's id of the thread; 0 if it is unknown.
    pub os_id: u64,
    /// The name of the thread; empty if it has none.
    pub name: String,
    /// The number of records of the thread that were overwritten before they were read.
    pub lost: u64,
    /// The events in the order in which they happened on the thread.
    pub entries: Vec<Entry>,
}

/// A recording: the events of each thread, and the strings that they refer to.
///
/// # Examples
///
/// ```
/// use raddle_recording::{Entry, Event, Recording, Thread};
///
/// let mut recording = Recording::default();
/// recording.threads.insert(
///     1,
///     Thread {
///         name: "worker-0".to_owned(),
///         entries: vec![Entry { time: 5, event: Event::WorkerParked { worker: 0 } }],
///         ..Thread::default()
///     },
/// );
/// let mut file = Vec::new();
/// recording.write_to(&mut file)?;
/// assert_eq!(Recording::read_from(&file[..])?, recording);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_recording::{Recording, StringId};
    ///
    /// let id = StringId::new(1).unwrap();
    /// let mut recording = Recording::default();
    /// recording.strings.insert(id, "src/main.rs:7:5".to_owned());
    /// assert_eq!(recording.text(id), "src/main.rs:7:5");
    /// ```
    pub fn text(&self, id: StringId) -> &str {
        self.strings.get(&id).map_or("?", String::as_str)
    }

    /// All entries with the numbers of their threads, in the order of their times. Entries of one
    /// thread keep their order.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_recording::{Entry, Event, Recording, Thread};
    ///
    /// let mut recording = Recording::default();
    /// for (number, time) in [(1, 20), (2, 10)] {
    ///     let entry = Entry { time, event: Event::DriverStarted };
    ///     recording.threads.insert(number, Thread { entries: vec![entry], ..Thread::default() });
    /// }
    /// let threads: Vec<_> = recording.by_time().iter().map(|(thread, _)| *thread).collect();
    /// assert_eq!(threads, [2, 1]);
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_recording::{Entry, Event, Recording, Thread};
    ///
    /// let entry = Entry { time: 20, event: Event::DriverStarted };
    /// let mut recording = Recording::default();
    /// recording.threads.insert(1, Thread { lost: 3, entries: vec![entry], ..Thread::default() });
    /// assert_eq!(recording.complete_from(), 20);
    /// ```
    pub fn complete_from(&self) -> u64 {
        let first = |thread: &Thread| thread.entries.first().map_or(0, |entry| entry.time);
        let losers = self.threads.values().filter(|thread| thread.lost > 0);
        losers.map(first).max().unwrap_or(0)
    }
}
