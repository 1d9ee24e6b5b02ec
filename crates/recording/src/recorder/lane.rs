//! A ring and the threads that have written to it, one after the other.

use std::collections::{BTreeMap, VecDeque};

use crate::{Entry, Event, Record, Recording, Thread};
use raddle_primitives::sync::{Arc, Mutex, Rank};

use crate::recorder::clock::Scale;
use crate::recorder::ring::{Batch, RingReader, RingWriter, ring};

/// The number of previous writers that a lane remembers.
const MAX_WRITERS: usize = 16;

/// A ring that another thread takes over when its thread ends.
#[derive(Debug)]
pub(crate) struct Lane {
    reader: RingReader,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The writer of the ring, while no thread has it.
    writer: Option<RingWriter>,
    /// The threads that write or have written to the lane, the latest last.
    threads: VecDeque<Writer>,
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

impl Lane {
    pub(crate) fn new(capacity: usize) -> Arc<Self> {
        let (writer, reader) = ring(capacity);
        let state = State {
            writer: Some(writer),
            threads: VecDeque::new(),
        };
        Arc::new(Self {
            reader,
            state: Mutex::ranked(Rank::leaf("recorder lane"), state),
        })
    }

    /// Gives the writer to a thread, unless another thread has it.
    pub(crate) fn claim(&self, identity: &Identity) -> Option<RingWriter> {
        let mut state = self.state.lock();
        let writer = state.writer.take()?;
        if state.threads.len() == MAX_WRITERS {
            state.threads.pop_front();
        }
        state.threads.push_back(Writer {
            first: writer.count(),
            identity: identity.clone(),
        });
        Some(writer)
    }

    /// Takes the writer back from a thread that ends.
    pub(crate) fn release(&self, writer: RingWriter) {
        self.state.lock().writer = Some(writer);
    }

    /// Copies the records from `position` on.
    pub(crate) fn read_from(&self, position: u64) -> LaneRecords {
        let batch = self.reader.read_from(position);
        // Read after the batch, because a thread is on the list before it writes its first record.
        let threads = self.state.lock().threads.clone();
        LaneRecords {
            position,
            batch,
            threads,
        }
    }
}

/// Records that were read from a lane, and the threads that wrote them.
#[derive(Debug)]
pub(crate) struct LaneRecords {
    /// The position from which the records were requested.
    position: u64,
    batch: Batch,
    threads: VecDeque<Writer>,
}

impl LaneRecords {
    /// Returns the position after the last record.
    pub(crate) fn end(&self) -> u64 {
        self.batch.end()
    }

    /// Adds the records to a recording, each under its thread.
    pub(crate) fn add_to(&self, recording: &mut Recording, scale: &Scale, polled: &mut Polled) {
        let Self {
            position,
            batch,
            threads,
        } = self;
        for (index, writer) in threads.iter().enumerate() {
            let start = writer.first;
            let end = threads.get(index + 1).map_or(u64::MAX, |next| next.first);
            let lost = start.max(*position)..end.min(batch.position);
            let within =
                |position: u64| position.clamp(batch.position, batch.end()) - batch.position;
            let records = &batch.records[within(start) as usize..within(end) as usize];
            let lost = lost.end.saturating_sub(lost.start);
            if records.is_empty() && lost == 0 {
                continue;
            }
            let identity = &writer.identity;
            let thread = recording
                .threads
                .entry(identity.number)
                .or_insert_with(|| Thread {
                    os_id: identity.os_id,
                    name: identity.name.clone(),
                    ..Thread::default()
                });
            thread.lost += lost;
            if lost > 0 {
                // A missing record before these may have been the start of another poll.
                polled.remove(&identity.number);
            }
            for record in records {
                let time = scale.nanos(record.time(), Record::TIMES);
                let events = events_of(*record, identity.number, polled);
                let entries = events.map(|event| Entry { time, event });
                thread.entries.extend(entries);
            }
        }
    }
}

/// The task of the unfinished poll of each thread, as far as the records were read.
pub(crate) type Polled = BTreeMap<u64, u64>;

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
