//! Writes files.

use std::collections::BTreeSet;
use std::io;
use std::mem;

use crate::event::Parts;
use crate::format::{
    MAGIC, MAJOR_VERSION, MAX_CHUNK_RECORDS, MINOR_VERSION, content_checksum, header_checksum,
    put_difference, put_integer, tag,
};
use crate::{Entry, Recording, StringId, Task};

/// The number of tasks whose identities a writer does not write again.
const MAX_TASKS: usize = 1 << 16;

/// Writes a file piece by piece, so that a recording may be longer than memory.
///
/// # Examples
///
/// ```
/// use raddle_recording::{Entry, Event, Recording, Thread, Writer};
///
/// let mut piece = Recording::default();
/// let parked = Entry { time: 5, event: Event::WorkerParked { worker: 0 } };
/// piece.threads.insert(1, Thread { entries: vec![parked], ..Thread::default() });
///
/// let mut file = Vec::new();
/// let mut writer = Writer::new(&mut file)?;
/// writer.append(&piece)?;
/// writer.append(&piece)?;
/// assert_eq!(Recording::read_from(&file[..])?.threads[&1].entries, [parked, parked]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    file: W,
    bytes: u64,
    contents: Contents,
}

/// What a file already contains.
#[derive(Clone, Debug, Default)]
struct Contents {
    has_origin: bool,
    strings: BTreeSet<StringId>,
    threads: BTreeSet<u64>,
    /// The latest tasks. Others are written again.
    tasks: BTreeSet<u64>,
}

impl<W: io::Write> Writer<W> {
    /// Starts a file: writes its header.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails.
    pub fn new(mut file: W) -> io::Result<Self> {
        let mut header = Vec::new();
        header.extend(MAGIC);
        header.extend(MAJOR_VERSION.to_le_bytes());
        header.extend(MINOR_VERSION.to_le_bytes());
        header.extend(header_checksum(&header));
        file.write_all(&header)?;
        Ok(Self {
            file,
            bytes: header.len() as u64,
            contents: Contents::default(),
        })
    }

    /// Appends the entries of a recording, and those of its strings, threads and tasks that the
    /// file does not have yet, in one call of `write_all`.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails. The file may then end in the middle of a chunk: cut it to
    /// [`bytes`](Self::bytes) before the recording, or another, is appended again.
    pub fn append(&mut self, recording: &Recording) -> io::Result<()> {
        let mut out = Vec::new();
        let added = self.contents.put(&mut out, recording);
        self.file.write_all(&out)?;
        self.bytes += out.len() as u64;
        self.contents.add(added);
        Ok(())
    }

    /// Returns the size of the file in bytes, without a piece whose writing failed.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The file.
    pub fn get_ref(&self) -> &W {
        &self.file
    }
}

impl Recording {
    /// Writes the recording as a file of its own.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails.
    pub fn write_to(&self, file: impl io::Write) -> io::Result<()> {
        Writer::new(file)?.append(self)
    }
}

impl Contents {
    /// Encodes what the file lacks of a recording. Returns what it then also contains.
    fn put(&self, out: &mut Vec<u8>, recording: &Recording) -> Self {
        let mut added = Self {
            has_origin: true,
            ..Self::default()
        };
        if !self.has_origin {
            chunk(out, tag::ORIGIN, |out| put_integer(out, recording.origin));
        }
        for (id, text) in &recording.strings {
            if !self.strings.contains(id) {
                added.strings.insert(*id);
                chunk(out, tag::STRING, |out| {
                    put_integer(out, id.number().into());
                    out.extend(text.as_bytes());
                });
            }
        }
        for (number, task) in &recording.tasks {
            if !self.tasks.contains(number) {
                added.tasks.insert(*number);
                chunk(out, tag::TASK, |out| put_task(out, *number, task));
            }
        }
        for (number, thread) in &recording.threads {
            if !self.threads.contains(number) {
                added.threads.insert(*number);
                chunk(out, tag::THREAD, |out| {
                    put_integer(out, *number);
                    put_integer(out, thread.os_id);
                    out.extend(thread.name.as_bytes());
                });
                if !thread.process.is_empty() {
                    chunk(out, tag::PROCESS, |out| {
                        put_integer(out, *number);
                        out.extend(thread.process.as_bytes());
                    });
                }
            }
            put_records(out, tag::RARE, *number, thread.rare_lost, &thread.rare);
            put_records(out, tag::RECORDS, *number, thread.lost, &thread.entries);
        }
        added
    }

    fn add(&mut self, mut other: Self) {
        self.has_origin |= other.has_origin;
        self.strings.append(&mut other.strings);
        self.threads.append(&mut other.threads);
        if self.tasks.len() > MAX_TASKS {
            self.tasks = BTreeSet::new();
        }
        self.tasks.append(&mut other.tasks);
    }
}

/// Appends a chunk whose content `put` writes.
fn chunk(out: &mut Vec<u8>, tag: u8, put: impl FnOnce(&mut Vec<u8>)) {
    let mut content = Vec::new();
    put(&mut content);
    let length =
        u32::try_from(content.len()).expect("MAX_CHUNK_RECORDS bounds the length of a chunk");
    let start = out.len();
    out.push(tag);
    out.extend(length.to_le_bytes());
    out.extend(header_checksum(&out[start..]));
    out.extend(&content);
    out.extend(content_checksum(&content));
}

/// Appends the records of a thread, if there are any or if some were lost.
fn put_records(out: &mut Vec<u8>, tag: u8, thread: u64, mut lost: u64, entries: &[Entry]) {
    let mut pieces = entries.chunks(MAX_CHUNK_RECORDS);
    let first = pieces.next().unwrap_or_default();
    if lost == 0 && first.is_empty() {
        return;
    }
    for piece in std::iter::once(first).chain(pieces) {
        chunk(out, tag, |out| {
            put_integer(out, thread);
            put_integer(out, mem::take(&mut lost));
            put_entries(out, piece);
        });
    }
}

/// Appends the identity of a task. Of what may be missing, 0 stands for nothing.
fn put_task(out: &mut Vec<u8>, number: u64, task: &Task) {
    put_integer(out, number);
    for id in [task.location, task.name] {
        put_integer(out, id.map_or(0, |id| u64::from(id.number()) + 1));
    }
    put_integer(
        out,
        task.parent.map_or(0, |parent| parent.saturating_add(1)),
    );
}

fn put_entries(out: &mut Vec<u8>, entries: &[Entry]) {
    let mut time = 0;
    let mut operand = 0;
    for entry in entries {
        let parts = Parts::of(entry.event);
        out.push(parts.kind);
        put_difference(out, entry.time, time);
        put_difference(out, parts.operand, operand);
        put_integer(out, parts.argument.into());
        time = entry.time;
        operand = parts.operand;
    }
}
