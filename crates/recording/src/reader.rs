//! Reads files.

use std::error::Error;
use std::fmt;
use std::io::{self, Read};

use crate::event::{MAX_ARGUMENT, MAX_OPERAND, Parts};
use crate::format::{
    CHECKSUM, CHUNK_HEADER, HEADER, MAGIC, MAJOR_VERSION, content_checksum, header_checksum, tag,
    take_checked, take_difference, take_integer,
};
use crate::{Entry, Recording, StringId, Task};

/// Why a file could not be read.
///
/// # Examples
///
/// ```
/// use raddle_recording::Recording;
///
/// let error = Recording::read_from(&b"some other file"[..]).unwrap_err();
/// assert!(error.is_foreign());
/// ```
#[derive(Debug)]
pub struct ReadError(Kind);

#[derive(Debug)]
enum Kind {
    Io(io::Error),
    Foreign,
    Newer(u16),
    Damaged(u64),
}

impl ReadError {
    /// Returns whether the file is not a recording.
    pub fn is_foreign(&self) -> bool {
        matches!(self.0, Kind::Foreign)
    }

    /// Returns whether a newer version wrote the file, in a format that this version cannot read.
    pub fn is_newer(&self) -> bool {
        matches!(self.0, Kind::Newer(_))
    }

    /// Returns whether the header of the file is damaged or, in a file of version 1, whose chunks
    /// have no checksums, whether the content of a chunk is not what its tag promises.
    pub fn is_damaged(&self) -> bool {
        matches!(self.0, Kind::Damaged(_))
    }

    /// Returns whether reading failed.
    pub fn is_io(&self) -> bool {
        matches!(self.0, Kind::Io(_))
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Io(_) => write!(f, "cannot read the recording"),
            Kind::Foreign => write!(f, "not a flight recording; give a file that Raddle wrote"),
            Kind::Newer(version) => write!(
                f,
                "the recording has format {version}, newer than {MAJOR_VERSION}; use a newer reader"
            ),
            Kind::Damaged(at) => write!(f, "the recording is damaged at byte {at}"),
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Kind::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self(Kind::Io(error))
    }
}

impl Recording {
    /// Reads a file up to its end.
    ///
    /// A file that ends in the middle of a chunk is read up to that chunk, and
    /// [`is_truncated`](Self::is_truncated) is set. Damaged chunks are left out, and
    /// [`damaged`](Self::damaged) counts them.
    ///
    /// # Errors
    ///
    /// Returns an error if reading fails, if the file is not a recording, if a newer version wrote
    /// it that this one cannot read, or if the header of the file is damaged. In a file of format
    /// 1, a damaged chunk is an error too.
    pub fn read_from(file: impl Read) -> Result<Self, ReadError> {
        read(file)
    }
}

fn read(mut file: impl Read) -> Result<Recording, ReadError> {
    let header = take(&mut file, HEADER as u64)?;
    let Some((magic, version)) = header
        .split_first_chunk()
        .filter(|_| header.len() == HEADER)
    else {
        return Err(ReadError(Kind::Foreign));
    };
    if *magic != MAGIC {
        return Err(ReadError(Kind::Foreign));
    }
    match u16::from_le_bytes([version[0], version[1]]) {
        0 => Err(ReadError(Kind::Damaged(0))),
        1 => read_unchecked(file),
        MAJOR_VERSION => read_checked(file, header),
        major => Err(ReadError(Kind::Newer(major))),
    }
}

/// Reads the rest of a file whose header and chunks have checksums.
fn read_checked(mut file: impl Read, mut bytes: Vec<u8>) -> Result<Recording, ReadError> {
    file.read_to_end(&mut bytes)?;
    let mut bytes = &bytes[..];
    let mut recording = Recording::default();
    if take_checked(&mut bytes, HEADER, header_checksum).is_none() {
        recording.is_truncated = bytes.len() < HEADER + CHECKSUM;
        return match recording.is_truncated {
            true => Ok(recording),
            false => Err(ReadError(Kind::Damaged(0))),
        };
    }
    while !bytes.is_empty() {
        let header = take_checked(&mut bytes, CHUNK_HEADER, header_checksum);
        let Some(&[tag, ref length @ ..]) = header else {
            if bytes.len() < CHUNK_HEADER + CHECKSUM {
                recording.is_truncated = true;
                break;
            }
            recording.damaged += 1;
            skip_to_chunk(&mut bytes);
            continue;
        };
        let length = length.try_into().map(u32::from_le_bytes);
        let length = length.map_or(usize::MAX, |length| length as usize);
        if length > bytes.len().saturating_sub(CHECKSUM) {
            recording.is_truncated = true;
            break;
        }
        let content = take_checked(&mut bytes, length, content_checksum);
        if content.is_none() {
            bytes = &bytes[length + CHECKSUM..];
        }
        let whole = content.and_then(|content| read_chunk(&mut recording, tag, content));
        recording.damaged += u64::from(whole.is_none());
    }
    Ok(recording)
}

/// Skips bytes up to the next header of a chunk, or to the end.
fn skip_to_chunk(bytes: &mut &[u8]) {
    let is_header =
        |at: &usize| take_checked(&mut &bytes[*at..], CHUNK_HEADER, header_checksum).is_some();
    let next = (1..bytes.len()).find(is_header);
    *bytes = &bytes[next.unwrap_or(bytes.len())..];
}

/// Reads the rest of a file of format 1.
fn read_unchecked(mut file: impl Read) -> Result<Recording, ReadError> {
    let mut recording = Recording::default();
    let mut at = HEADER as u64;
    loop {
        let header = take(&mut file, CHUNK_HEADER as u64)?;
        let Some((&tag, length)) = header.split_first() else {
            return Ok(recording);
        };
        let Ok(length) = length.try_into().map(u32::from_le_bytes) else {
            recording.is_truncated = true;
            return Ok(recording);
        };
        let content = take(&mut file, length.into())?;
        if content.len() as u64 != u64::from(length) {
            recording.is_truncated = true;
            return Ok(recording);
        }
        read_chunk(&mut recording, tag, &content).ok_or(ReadError(Kind::Damaged(at)))?;
        at += CHUNK_HEADER as u64 + u64::from(length);
    }
}

/// Reads `length` bytes, or fewer at the end of the file. Allocates memory only for the bytes
/// that it has read.
fn take(file: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Adds the content of a chunk to the recording. Returns `None` if the chunk is damaged.
fn read_chunk(recording: &mut Recording, tag: u8, mut content: &[u8]) -> Option<()> {
    let bytes = &mut content;
    match tag {
        tag::ORIGIN => recording.origin = take_integer(bytes)?,
        tag::STRING => {
            let number = u32::try_from(take_integer(bytes)?).ok()?;
            let text = std::str::from_utf8(bytes).ok()?;
            recording
                .strings
                .insert(StringId::new(number)?, text.to_owned());
        }
        tag::THREAD => {
            let thread = recording.threads.entry(take_integer(bytes)?).or_default();
            thread.os_id = take_integer(bytes)?;
            std::str::from_utf8(bytes)
                .ok()?
                .clone_into(&mut thread.name);
        }
        tag::RECORDS => {
            let thread = recording.threads.entry(take_integer(bytes)?).or_default();
            thread.lost = thread.lost.saturating_add(take_integer(bytes)?);
            recording.unknown += read_entries(&mut thread.entries, content)?;
        }
        tag::RARE => {
            let thread = recording.threads.entry(take_integer(bytes)?).or_default();
            thread.rare_lost = thread.rare_lost.saturating_add(take_integer(bytes)?);
            recording.unknown += read_entries(&mut thread.rare, content)?;
        }
        tag::TASK => {
            let number = take_integer(bytes)?;
            let mut id = || Some(u32::try_from(take_integer(bytes)?).ok()?.checked_sub(1));
            let task = Task {
                location: id()?.and_then(StringId::new),
                name: id()?.and_then(StringId::new),
                parent: take_integer(bytes)?.checked_sub(1),
            };
            recording.tasks.insert(number, task);
        }
        tag::PROCESS => {
            let thread = recording.threads.entry(take_integer(bytes)?).or_default();
            std::str::from_utf8(bytes)
                .ok()?
                .clone_into(&mut thread.process);
        }
        // A chunk of a later version.
        _ => {}
    }
    Some(())
}

/// Reads the entries of a chunk. Returns the number of entries of unknown kinds, or `None` if the
/// chunk is damaged.
fn read_entries(entries: &mut Vec<Entry>, mut bytes: &[u8]) -> Option<u64> {
    let mut unknown = 0;
    let mut time = 0;
    let mut operand = 0;
    while let Some((&kind, rest)) = bytes.split_first() {
        bytes = rest;
        time = take_difference(&mut bytes, time)?;
        operand = take_difference(&mut bytes, operand).filter(|&number| number <= MAX_OPERAND)?;
        let argument = u32::try_from(take_integer(&mut bytes)?).ok()?;
        let parts = Parts {
            kind,
            operand,
            argument: Some(argument).filter(|&number| number <= MAX_ARGUMENT)?,
        };
        match parts.event() {
            Some(event) => entries.push(Entry { time, event }),
            None => unknown += 1,
        }
    }
    Some(unknown)
}
