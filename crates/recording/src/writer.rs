//! Writes files.

use std::collections::BTreeSet;
use std::io;

use crate::event::Parts;
use crate::format::{
    CHUNK_HEADER, HEADER, MAGIC, MAJOR_VERSION, MAX_CHUNK_RECORDS, MINOR_VERSION, put_difference,
    put_integer, tag,
};
use crate::{Entry, Recording, StringId};

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
    has_origin: bool,
    /// The strings that the file already contains.
    strings: BTreeSet<StringId>,
    threads: BTreeSet<u64>,
}

impl<W: io::Write> Writer<W> {
    /// Starts a file: writes its header.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails.
    pub fn new(mut file: W) -> io::Result<Self> {
        let mut header = Vec::with_capacity(HEADER);
        header.extend(MAGIC);
        header.extend(MAJOR_VERSION.to_le_bytes());
        header.extend(MINOR_VERSION.to_le_bytes());
        file.write_all(&header)?;
        Ok(Self {
            file,
            bytes: HEADER as u64,
            has_origin: false,
            strings: BTreeSet::new(),
            threads: BTreeSet::new(),
        })
    }

    /// Appends the entries of a recording, and those of its strings and threads that the file does
    /// not have yet, in one call of `write_all`.
    ///
    /// # Errors
    ///
    /// Returns an error if writing fails. The file may then end in the middle of a chunk, and more
    /// must not be appended to it.
    pub fn append(&mut self, recording: &Recording) -> io::Result<()> {
        let mut out = Vec::new();
        if !std::mem::replace(&mut self.has_origin, true) {
            chunk(&mut out, tag::ORIGIN, |out| {
                put_integer(out, recording.origin)
            });
        }
        for (id, text) in &recording.strings {
            if self.strings.insert(*id) {
                chunk(&mut out, tag::STRING, |out| {
                    put_integer(out, id.number().into());
                    out.extend(text.as_bytes());
                });
            }
        }
        for (number, thread) in &recording.threads {
            if self.threads.insert(*number) {
                chunk(&mut out, tag::THREAD, |out| {
                    put_integer(out, *number);
                    put_integer(out, thread.os_id);
                    out.extend(thread.name.as_bytes());
                });
                if !thread.process.is_empty() {
                    chunk(&mut out, tag::PROCESS, |out| {
                        put_integer(out, *number);
                        out.extend(thread.process.as_bytes());
                    });
                }
            }
            let mut lost = thread.lost;
            let mut pieces = thread.entries.chunks(MAX_CHUNK_RECORDS);
            let first = pieces.next().unwrap_or_default();
            if lost == 0 && first.is_empty() {
                continue;
            }
            for piece in std::iter::once(first).chain(pieces) {
                chunk(&mut out, tag::RECORDS, |out| {
                    put_integer(out, *number);
                    put_integer(out, std::mem::take(&mut lost));
                    put_entries(out, piece);
                });
            }
        }
        self.file.write_all(&out)?;
        self.bytes += out.len() as u64;
        Ok(())
    }

    /// Returns the size of the file in bytes.
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

/// Appends a chunk whose content `put` writes.
fn chunk(out: &mut Vec<u8>, tag: u8, put: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    let length = out.len();
    out.extend([0; CHUNK_HEADER - 1]);
    let start = out.len();
    put(out);
    let content =
        u32::try_from(out.len() - start).expect("MAX_CHUNK_RECORDS bounds the length of a chunk");
    out[length..start].copy_from_slice(&content.to_le_bytes());
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
