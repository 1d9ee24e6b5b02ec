//! The rings of a thread, and the threads that have written to them, one after the other.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::event::{Parts, kind};
use crate::{Entry, Event, Record, Recording, StringId, Task, Thread};
use raddle_primitives::sync::{Arc, Mutex, Rank};

use crate::recorder::clock::Scale;
use crate::recorder::ring::{Batch, RingReader, RingWriter, ring};

/// The number of previous writers that a lane remembers.
const MAX_WRITERS: usize = 16;
/// Positions in a ring of rare events are stored modulo this.
const POSITIONS: u64 = crate::event::MAX_OPERAND + 1;

/// Two rings that another thread takes over when their thread ends: one of all events, and one of
/// rare and slow events, which is made when it is needed.
#[derive(Debug)]
pub(crate) struct Lane {
    reader: RingReader,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The writers of the rings, while no thread has them.
    writers: Option<Writers>,
    rare_reader: Option<RingReader>,
    /// The threads that write or have written to the lane, the latest last.
    threads: VecDeque<Writer>,
}

/// The writers of a lane.
#[derive(Debug)]
pub(crate) struct Writers {
    pub(crate) ring: RingWriter,
    pub(crate) rare: Option<RingWriter>,
}

/// A thread that writes or has written to a lane.
#[derive(Clone, Debug)]
struct Writer {
    /// The position of the first record of the thread.
    first: u64,
    identity: Identity,
}

/// The description of a thread in a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The recorder's number for the thread.
    pub(crate) number: u64,
    /// The system's number for the thread, 0 if it is unknown.
    pub(crate) os_id: u64,
    pub(crate) name: String,
}

/// The next positions of a reader in the rings of a lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Positions {
    last: Reading,
    rare: u64,
}

/// The positions of the records of a reading.
#[derive(Clone, Debug, Default)]
struct Reading {
    /// Those that were lost before it.
    lost: Range<u64>,
    /// The position after the last one.
    end: u64,
}

impl Reading {
    /// Whether a record of a rare event is not among those that were read. `start` is the position
    /// of the start of a poll, if the record at `position` is that of the next poll and contains
    /// the end of this one.
    fn lacks(&self, position: u64, start: Option<u64>) -> bool {
        let was_read = (self.lost.end..self.end).contains(&position);
        // The end of a poll is unknown if records between its start and its end are lost.
        let is_unknown = !self.lost.is_empty() && start.is_some_and(|start| start < self.lost.end);
        self.lost.contains(&position) || was_read && is_unknown
    }
}

impl Lane {
    pub(crate) fn new(capacity: usize) -> Arc<Self> {
        let (writer, reader) = ring(capacity);
        let state = State {
            writers: Some(Writers {
                ring: writer,
                rare: None,
            }),
            rare_reader: None,
            threads: VecDeque::new(),
        };
        Arc::new(Self {
            reader,
            state: Mutex::ranked(Rank::leaf("recorder lane"), state),
        })
    }

    /// Gives the writers to a thread, unless another thread has them.
    pub(crate) fn claim(&self, identity: &Identity) -> Option<Writers> {
        let mut state = self.state.lock();
        let writers = state.writers.take()?;
        if state.threads.len() == MAX_WRITERS {
            state.threads.pop_front();
        }
        state.threads.push_back(Writer {
            first: writers.ring.count(),
            identity: identity.clone(),
        });
        Some(writers)
    }

    /// Takes the writers back from a thread that ends.
    pub(crate) fn release(&self, writers: Writers) {
        self.state.lock().writers = Some(writers);
    }

    /// Makes the ring of rare events. Called once, by the thread that has the lane.
    pub(crate) fn add_rare(&self, capacity: usize) -> RingWriter {
        let (writer, reader) = ring(capacity);
        self.state.lock().rare_reader = Some(reader);
        writer
    }

    /// Copies the records from `positions` on, which it sets to those after the last ones.
    pub(crate) fn read_from(&self, positions: &mut Positions) -> LaneRecords {
        let from = positions.clone();
        // Read first, so that no rare record is later than those of the other batch.
        let rare_reader = self.state.lock().rare_reader.clone();
        let rare = rare_reader.map(|reader| reader.read_from(from.rare));
        let batch = self.reader.read_from(from.last.end);
        // Read after the batch, because a thread is on the list before it writes its first record.
        let threads = self.state.lock().threads.clone();
        *positions = Positions {
            last: Reading {
                lost: from.last.end..batch.position,
                end: batch.end(),
            },
            rare: rare.as_ref().map_or(from.rare, Batch::end),
        };
        LaneRecords {
            from,
            reading: positions.last.clone(),
            batch,
            rare,
            threads,
        }
    }
}

/// Records that were read from a lane, and the threads that wrote them.
#[derive(Debug)]
pub(crate) struct LaneRecords {
    /// The positions from which the records were requested.
    from: Positions,
    reading: Reading,
    batch: Batch,
    rare: Option<Batch>,
    threads: VecDeque<Writer>,
}

/// The task of the unfinished poll of each thread, as far as the records were read.
pub(crate) type Polled = BTreeMap<u64, u64>;

impl LaneRecords {
    /// Adds the records to a recording, each under its thread.
    pub(crate) fn add_to(&self, recording: &mut Recording, scale: &Scale, polled: &mut Polled) {
        self.add_rare(recording, scale);
        let (from, batch) = (self.reading.lost.start, &self.batch);
        for (index, writer) in self.threads.iter().enumerate() {
            let start = writer.first;
            let next = self.threads.get(index + 1);
            let end = next.map_or(u64::MAX, |next| next.first);
            let lost = start.max(from)..end.min(batch.position);
            let within =
                |position: u64| position.clamp(batch.position, batch.end()) - batch.position;
            let records = &batch.records[within(start) as usize..within(end) as usize];
            let lost = lost.end.saturating_sub(lost.start);
            if records.is_empty() && lost == 0 {
                continue;
            }
            let number = writer.identity.number;
            let thread = thread_of(recording, &writer.identity);
            thread.lost += lost;
            // A missing record before these may have been the start of another poll.
            let had_poll = lost > 0 && polled.remove(&number).is_some();
            if let Some(first) = records.first().filter(|_| had_poll) {
                let time = scale.nanos(first.time(), Record::TIMES);
                let event = Event::RecordsLost { count: lost };
                thread.entries.push(Entry { time, event });
            }
            for record in records {
                let time = scale.nanos(record.time(), Record::TIMES);
                let events = events_of(*record, number, polled);
                let entries = events.map(|event| Entry { time, event });
                thread.entries.extend(entries);
            }
        }
    }

    /// Adds the rare events whose records the other ring has lost, and the tasks that they name.
    fn add_rare(&self, recording: &mut Recording, scale: &Scale) {
        let Some(rare) = &self.rare else { return };
        let batch = &self.batch;
        let mut position = None;
        let mut task = None;
        let mut kept = Vec::new();
        for record in &rare.records {
            let parts = record.parts();
            match parts.kind {
                kind::POSITION => {
                    let back = batch.end().wrapping_sub(parts.operand) % POSITIONS;
                    let at = batch.end().saturating_sub(back);
                    let start = Some(at.saturating_sub(parts.argument.into()));
                    position = Some((at, start.filter(|_| parts.argument > 0)));
                }
                kind::IDENTITY | kind::IDENTITY_NAME | kind::IDENTITY_PARENT => {
                    add_identity(&mut recording.tasks, &mut task, parts);
                }
                _ => {
                    let (Some((at, start)), Some(event)) = (position.take(), record.event()) else {
                        continue;
                    };
                    // This record may have been added after the last reading of the other ring.
                    let readings = [&self.from.last, &self.reading];
                    let is_lost = readings.iter().any(|reading| reading.lacks(at, start));
                    if is_lost || matches!(event, Event::TaskDelayed { .. }) {
                        kept.push((at, record.time(), event));
                    }
                }
            }
        }
        // Each event was added when it ended; the order is that of their records.
        kept.sort_by_key(|(at, ..)| *at);
        let thread = |at: u64| {
            let mut threads = self.threads.iter().rev();
            threads.find(|writer| writer.first <= at)
        };
        let lost = rare.position.saturating_sub(self.from.rare);
        let loser = kept.first().map(|(at, ..)| *at).unwrap_or(batch.position);
        if let Some(writer) = thread(loser).filter(|_| lost > 0) {
            thread_of(recording, &writer.identity).rare_lost += lost;
        }
        for (at, time, event) in kept {
            if let Some(writer) = thread(at) {
                let time = scale.nanos(time, Record::TIMES);
                let thread = thread_of(recording, &writer.identity);
                thread.rare.push(Entry { time, event });
            }
        }
    }
}

fn thread_of<'a>(recording: &'a mut Recording, identity: &Identity) -> &'a mut Thread {
    let threads = recording.threads.entry(identity.number);
    threads.or_insert_with(|| Thread {
        os_id: identity.os_id,
        name: identity.name.clone(),
        ..Thread::default()
    })
}

/// Returns the records of the identity of a task in a ring of rare events.
pub(crate) fn identity_records(task: u64, known: &Task) -> impl Iterator<Item = Record> + use<> {
    let parts =
        |kind, operand, argument| Record::of_parts(0, Parts::of_number(kind, operand, argument));
    let location = known.location.unwrap_or(StringId::UNKNOWN).number();
    let name = known.name.map(StringId::number);
    let parent = known.parent;
    std::iter::once(parts(kind::IDENTITY, task, location))
        .chain(name.map(|name| parts(kind::IDENTITY_NAME, task, name)))
        .chain(parent.map(|parent| parts(kind::IDENTITY_PARENT, parent, 0)))
}

fn add_identity(tasks: &mut BTreeMap<u64, Task>, task: &mut Option<u64>, parts: Parts) {
    let id = StringId::new(parts.argument);
    if parts.kind == kind::IDENTITY_PARENT {
        if let Some(known) = task.and_then(|task| tasks.get_mut(&task)) {
            known.parent = Some(parts.operand);
        }
        return;
    }
    *task = Some(parts.operand);
    let known = tasks.entry(parts.operand).or_default();
    match parts.kind {
        kind::IDENTITY => known.location = id,
        _ => known.name = id,
    }
}

/// Returns the events of a record: the end of the thread's previous poll, if the record has it, and
/// its own event.
fn events_of(record: Record, thread: u64, polled: &mut Polled) -> impl Iterator<Item = Event> {
    let event = record.event();
    let former = record.former_poll().zip(polled.get(&thread).copied());
    match event {
        Some(Event::PollStarted { task }) => {
            polled.insert(thread, task);
        }
        Some(Event::PollFinished { .. }) => {
            polled.remove(&thread);
        }
        _ => {}
    }
    let ends = former.map(|(end, task)| end.events(task));
    ends.into_iter().flatten().chain(event)
}
