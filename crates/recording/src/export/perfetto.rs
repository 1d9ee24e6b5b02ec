//! Perfetto's trace format.

use std::collections::{BTreeMap, BTreeSet};

use super::protobuf::Message;
use crate::analysis::Tasks;
use crate::{Event, PollResult, Recording, StringId};

/// Numbers of fields and values of Perfetto's schema (`protos/perfetto/trace`), under the names of
/// the schema.
mod schema {
    pub(super) const TRACE_PACKET: u64 = 1;

    pub(super) const PACKET_TIMESTAMP: u64 = 8;
    pub(super) const PACKET_TRUSTED_PACKET_SEQUENCE_ID: u64 = 10;
    pub(super) const PACKET_TRACK_EVENT: u64 = 11;
    pub(super) const PACKET_TRACK_DESCRIPTOR: u64 = 60;

    pub(super) const TRACK_UUID: u64 = 1;
    pub(super) const TRACK_NAME: u64 = 2;
    pub(super) const TRACK_PROCESS: u64 = 3;
    pub(super) const TRACK_THREAD: u64 = 4;
    pub(super) const TRACK_PARENT_UUID: u64 = 5;

    pub(super) const PROCESS_PID: u64 = 1;
    pub(super) const PROCESS_NAME: u64 = 6;

    pub(super) const THREAD_PID: u64 = 1;
    pub(super) const THREAD_TID: u64 = 2;
    pub(super) const THREAD_NAME: u64 = 5;

    pub(super) const EVENT_TYPE: u64 = 9;
    pub(super) const EVENT_TRACK_UUID: u64 = 11;
    pub(super) const EVENT_CATEGORIES: u64 = 22;
    pub(super) const EVENT_NAME: u64 = 23;
    pub(super) const EVENT_FLOW_IDS: u64 = 47;
    pub(super) const EVENT_TERMINATING_FLOW_IDS: u64 = 48;
    pub(super) const EVENT_DEBUG_ANNOTATIONS: u64 = 4;

    pub(super) const TYPE_SLICE_BEGIN: u64 = 1;
    pub(super) const TYPE_SLICE_END: u64 = 2;
    pub(super) const TYPE_INSTANT: u64 = 3;

    pub(super) const ANNOTATION_NAME: u64 = 10;
    pub(super) const ANNOTATION_UINT_VALUE: u64 = 3;
}

/// The name of a process without one.
const PROCESS_NAME: &str = "raddle";
/// The track of thread 0, followed by those of the others.
const THREAD_TRACKS: u64 = 1;
/// The track of process 0, followed by those of the others. A recording does not contain the
/// system's numbers for processes.
const PROCESS_TRACKS: u64 = 1 << 61;
/// The track of the faults of the first text, followed by those of the others. Each text has its
/// own, since the slices of one track have to be nested.
const FAULT_TRACKS: u64 = 1 << 62;
/// The track of the first spare worker, followed by those of the others.
const SPARE_TRACKS: u64 = 1 << 63;
/// The number of the only sequence of packets.
const SEQUENCE: u64 = 1;

/// The recording as a trace for [Perfetto](https://ui.perfetto.dev): a track for each thread with
/// its polls, driver turns, parked times and blocking jobs, and an arrow from each wake to the poll
/// that follows it. Spans of the application are slices, and marks are instants. A thread that
/// drives a spare worker shows its events on the track of that worker, such as `spare worker 0`.
///
/// In the recording of a simulation each host is a process. An arrow leads from each message that
/// was sent to its arrival; faults are slices of tracks of their own.
///
/// # Examples
///
/// ```
/// use raddle_recording::Recording;
/// use raddle_recording::export::perfetto_trace;
///
/// let trace = perfetto_trace(&Recording::default());
/// std::fs::write(std::env::temp_dir().join("raddle.perfetto-trace"), trace)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn perfetto_trace(recording: &Recording) -> Vec<u8> {
    let mut trace = Trace::default();
    trace.describe(recording);
    let tasks = Tasks::of(recording);
    let by_time = recording.all_by_time();
    let events = by_time.iter().map(|(_, entry)| entry.event);
    trace.arriving = events.filter_map(arrived_message).collect();
    for (thread, entry) in by_time {
        trace.add(&tasks, thread, entry.time, entry.event);
    }
    trace.packets.into_bytes()
}

/// The content of a slice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slice {
    Poll(u64),
    Driver,
    Parked,
    Job(u64),
    /// A thread drives a spare worker.
    Serving,
    /// A span of the application.
    Span(StringId),
}

#[derive(Default)]
struct Trace {
    packets: Message,
    /// The unfinished slices of each track.
    open: BTreeMap<u64, Vec<Slice>>,
    /// The tracks of threads that drive spare workers.
    serving: BTreeMap<u64, u64>,
    /// The arrow that leads to the next poll of a task.
    arrows: BTreeMap<u64, u64>,
    last_arrow: u64,
    /// The messages whose arrival is in the recording.
    arriving: BTreeSet<u64>,
    /// The arrows of messages on their way.
    on_the_way: BTreeMap<u64, u64>,
}

impl Trace {
    fn describe(&mut self, recording: &Recording) {
        let mut processes = recording.processes();
        if processes.is_empty() {
            processes.push("");
        }
        for (index, &name) in processes.iter().enumerate() {
            let name = if name.is_empty() { PROCESS_NAME } else { name };
            let process = Message::default()
                .integer(schema::PROCESS_PID, pid(index))
                .text(schema::PROCESS_NAME, name);
            let track = Message::default()
                .integer(schema::TRACK_UUID, PROCESS_TRACKS + index as u64)
                .message(schema::TRACK_PROCESS, process);
            self.packet(Message::default().message(schema::PACKET_TRACK_DESCRIPTOR, track));
        }
        // The tracks of a process that are those of no thread, with their names.
        let mut others = BTreeMap::new();
        for (&number, thread) in &recording.threads {
            let process = processes.iter().position(|name| *name == thread.process);
            let process = process.unwrap_or_default();
            // A thread without a system number gets a unique one.
            let id = match thread.os_id {
                0 => u64::from(u32::MAX >> 1).saturating_sub(number),
                id => id,
            };
            let descriptor = Message::default()
                .integer(schema::THREAD_PID, pid(process))
                .integer(schema::THREAD_TID, id)
                .text(schema::THREAD_NAME, &thread.name);
            let track = Message::default()
                .integer(schema::TRACK_UUID, track_of(number))
                .text(schema::TRACK_NAME, &thread.name)
                .message(schema::TRACK_THREAD, descriptor);
            self.packet(Message::default().message(schema::PACKET_TRACK_DESCRIPTOR, track));
            for entry in thread.all() {
                let (track, name) = match entry.event {
                    Event::SpareWorkerStarted { spare, .. } => {
                        (track_of_spare(spare), format!("spare worker {spare}"))
                    }
                    Event::FaultStarted { text } => {
                        (track_of_fault(text), recording.text(text).to_owned())
                    }
                    _ => continue,
                };
                others.insert(track, (process, name));
            }
        }
        for (track, (process, name)) in others {
            let track = Message::default()
                .integer(schema::TRACK_UUID, track)
                .integer(schema::TRACK_PARENT_UUID, PROCESS_TRACKS + process as u64)
                .text(schema::TRACK_NAME, &name);
            self.packet(Message::default().message(schema::PACKET_TRACK_DESCRIPTOR, track));
        }
    }

    fn add(&mut self, tasks: &Tasks<'_>, thread: u64, time: u64, event: Event) {
        let words = |id| tasks.recording.text(id);
        match event {
            Event::PollStarted { task } => {
                let mut begin = named(schema::TYPE_SLICE_BEGIN, "poll", &tasks.label(task));
                if let Some(arrow) = self.arrows.remove(&task) {
                    begin = begin.fixed(schema::EVENT_TERMINATING_FLOW_IDS, arrow);
                }
                self.begin(
                    thread,
                    time,
                    Slice::Poll(task),
                    annotated(begin, "task", task),
                );
            }
            Event::PollFinished { task, result } => {
                self.end(thread, time, Slice::Poll(task));
                if result == PollResult::Ended {
                    self.arrows.remove(&task);
                }
            }
            Event::TaskWoken { task } => {
                let woken = self.with_arrow(instant("wake", "woken"), task);
                self.emit(thread, time, annotated(woken, "task", task));
            }
            Event::TaskSpawned { task, .. } => {
                let name = format!("spawned {}", tasks.label(task));
                let spawned = self.with_arrow(instant("spawn", &name), task);
                self.emit(thread, time, annotated(spawned, "task", task));
            }
            Event::TaskNamed { .. } => {}
            Event::TaskEnded { task, reason } => {
                let ended = instant("task", &format!("task {reason:?}").to_lowercase());
                self.emit(thread, time, annotated(ended, "task", task));
            }
            Event::WorkerParked { worker } => {
                let parked = named(schema::TYPE_SLICE_BEGIN, "park", "parked");
                let parked = annotated(parked, "worker", worker.into());
                self.begin(thread, time, Slice::Parked, parked);
            }
            Event::WorkerUnparked { .. } => self.end(thread, time, Slice::Parked),
            Event::DriverStarted => {
                let driver = named(schema::TYPE_SLICE_BEGIN, "driver", "driver");
                self.begin(thread, time, Slice::Driver, driver);
            }
            Event::DriverFinished { events, timers } => {
                self.end(thread, time, Slice::Driver);
                if events > 0 || timers > 0 {
                    let found = instant("driver", "events");
                    let found = annotated(found, "events", events.into());
                    self.emit(thread, time, annotated(found, "timers", timers.into()));
                }
            }
            Event::JobQueued { job } => {
                self.emit(
                    thread,
                    time,
                    annotated(instant("job", "job queued"), "job", job),
                );
            }
            Event::JobStarted { job } => {
                let started = named(schema::TYPE_SLICE_BEGIN, "job", "blocking job");
                self.begin(
                    thread,
                    time,
                    Slice::Job(job),
                    annotated(started, "job", job),
                );
            }
            Event::JobFinished { job } => self.end(thread, time, Slice::Job(job)),
            Event::SearchStarted { worker } => {
                let search = instant("steal", "search");
                self.emit(thread, time, annotated(search, "worker", worker.into()));
            }
            Event::TasksStolen { victim, count } => {
                let stolen = annotated(instant("steal", "stolen"), "from", victim.into());
                self.emit(thread, time, annotated(stolen, "tasks", count.into()));
            }
            Event::MonitorActed { worker, action } => {
                let acted = instant("monitor", &format!("monitor: {action:?}"));
                self.emit(thread, time, annotated(acted, "worker", worker.into()));
            }
            Event::WorkerHandedOff { worker } => {
                let moved = instant("worker", "handed off");
                self.emit(thread, time, annotated(moved, "worker", worker.into()));
            }
            Event::SpareWorkerStarted { worker, spare } => {
                let track = track_of_spare(spare);
                // A thread that blocks in place has lost the worker to this one.
                let former = self.serving.iter().find(|(_, other)| **other == track);
                if let Some((&former, _)) = former {
                    self.stop_serving(former, time);
                }
                self.serving.insert(thread, track);
                let serves = named(schema::TYPE_SLICE_BEGIN, "spare", "serves");
                let serves = annotated(serves, "worker", worker.into());
                self.begin(thread, time, Slice::Serving, serves);
            }
            Event::SpareWorkerStopped { .. } => self.stop_serving(thread, time),
            Event::ThreadDelayed { nanos } => {
                let delayed = instant("kernel", "delayed by the kernel");
                self.emit(thread, time, annotated(delayed, "nanoseconds", nanos));
            }
            Event::ContextSwitches {
                voluntary,
                involuntary,
            } => {
                let switches = instant("kernel", "context switches");
                let switches = annotated(switches, "voluntary", voluntary.into());
                let switches = annotated(switches, "involuntary", involuntary.into());
                self.emit(thread, time, switches);
            }
            Event::RuntimeStarted { workers } => {
                let started = instant("runtime", "runtime started");
                self.emit(thread, time, annotated(started, "workers", workers.into()));
            }
            Event::RuntimeShutDown => {
                self.emit(thread, time, instant("runtime", "runtime shut down"));
            }
            Event::MessageSent { message, text } => {
                let mut sent = instant("message", &format!("send {}", words(text)));
                if self.arriving.contains(&message) {
                    self.last_arrow += 1;
                    self.on_the_way.insert(message, self.last_arrow);
                    sent = sent.fixed(schema::EVENT_FLOW_IDS, self.last_arrow);
                }
                self.emit(thread, time, annotated(sent, "message", message));
            }
            Event::MessageArrived { message, text } => {
                let mut arrived = instant("message", &format!("receive {}", words(text)));
                if let Some(arrow) = self.on_the_way.remove(&message) {
                    arrived = arrived.fixed(schema::EVENT_TERMINATING_FLOW_IDS, arrow);
                }
                self.emit(thread, time, annotated(arrived, "message", message));
            }
            Event::MessageLost { text } => {
                let name = format!("lost: {}", words(text));
                self.emit(thread, time, instant("message", &name));
            }
            Event::FaultStarted { text } => {
                let fault = named(schema::TYPE_SLICE_BEGIN, "fault", words(text));
                self.emit_on(track_of_fault(text), time, fault);
            }
            Event::FaultEnded { text } => {
                let end = Message::default().integer(schema::EVENT_TYPE, schema::TYPE_SLICE_END);
                self.emit_on(track_of_fault(text), time, end);
            }
            Event::Marked { text } => self.emit(thread, time, instant("mark", words(text))),
            Event::TaskDelayed { task, tenths } => {
                let name = format!("waited {} ms", tenths / 10);
                let delayed = annotated(instant("delay", &name), "task", task);
                self.emit(thread, time, delayed);
            }
            Event::SpanEntered { name } => {
                let span = named(schema::TYPE_SLICE_BEGIN, "span", words(name));
                self.begin(thread, time, Slice::Span(name), span);
            }
            Event::SpanLeft { name } => self.end(thread, time, Slice::Span(name)),
            Event::RecordsLost { count } => {
                let open = self.open.entry(self.track(thread)).or_default();
                if let Some(first) = open.iter().find(|slice| **slice != Slice::Serving).copied() {
                    self.end(thread, time, first);
                }
                let lost = instant("recorder", "records lost");
                self.emit(thread, time, annotated(lost, "records", count));
            }
        }
    }

    /// Starts an arrow to the next poll of a task, unless the task has an arrow already.
    fn with_arrow(&mut self, event: Message, task: u64) -> Message {
        if self.arrows.contains_key(&task) {
            return event;
        }
        self.last_arrow += 1;
        self.arrows.insert(task, self.last_arrow);
        event.fixed(schema::EVENT_FLOW_IDS, self.last_arrow)
    }

    fn stop_serving(&mut self, thread: u64, time: u64) {
        self.end(thread, time, Slice::Serving);
        self.serving.remove(&thread);
    }

    /// Returns the track of a thread, or that of the spare worker that it drives.
    fn track(&self, thread: u64) -> u64 {
        let serving = self.serving.get(&thread).copied();
        serving.unwrap_or_else(|| track_of(thread))
    }

    fn begin(&mut self, thread: u64, time: u64, slice: Slice, event: Message) {
        let track = self.track(thread);
        self.open.entry(track).or_default().push(slice);
        self.emit(thread, time, event);
    }

    /// Ends a slice, and the slices inside it, whose ends were lost. A slice whose start was lost
    /// is not shown.
    fn end(&mut self, thread: u64, time: u64, slice: Slice) {
        let open = self.open.entry(self.track(thread)).or_default();
        let Some(index) = open.iter().rposition(|other| *other == slice) else {
            return;
        };
        for _ in open.drain(index..).collect::<Vec<_>>() {
            let end = Message::default().integer(schema::EVENT_TYPE, schema::TYPE_SLICE_END);
            self.emit(thread, time, end);
        }
    }

    fn emit(&mut self, thread: u64, time: u64, event: Message) {
        self.emit_on(self.track(thread), time, event);
    }

    fn emit_on(&mut self, track: u64, time: u64, event: Message) {
        let event = event.integer(schema::EVENT_TRACK_UUID, track);
        self.packet(
            Message::default()
                .integer(schema::PACKET_TIMESTAMP, time)
                .message(schema::PACKET_TRACK_EVENT, event),
        );
    }

    fn packet(&mut self, packet: Message) {
        let packet = packet.integer(schema::PACKET_TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
        let packets = std::mem::take(&mut self.packets);
        self.packets = packets.message(schema::TRACE_PACKET, packet);
    }
}

fn track_of(thread: u64) -> u64 {
    THREAD_TRACKS.wrapping_add(thread)
}

fn track_of_fault(text: StringId) -> u64 {
    FAULT_TRACKS + u64::from(text.number())
}

fn pid(process: usize) -> u64 {
    process as u64 + 1
}

fn arrived_message(event: Event) -> Option<u64> {
    match event {
        Event::MessageArrived { message, .. } => Some(message),
        _ => None,
    }
}

fn track_of_spare(spare: u32) -> u64 {
    SPARE_TRACKS + u64::from(spare)
}

fn named(kind: u64, category: &str, name: &str) -> Message {
    Message::default()
        .integer(schema::EVENT_TYPE, kind)
        .text(schema::EVENT_CATEGORIES, category)
        .text(schema::EVENT_NAME, name)
}

fn instant(category: &str, name: &str) -> Message {
    named(schema::TYPE_INSTANT, category, name)
}

fn annotated(event: Message, name: &str, value: u64) -> Message {
    let annotation = Message::default()
        .text(schema::ANNOTATION_NAME, name)
        .integer(schema::ANNOTATION_UINT_VALUE, value);
    event.message(schema::EVENT_DEBUG_ANNOTATIONS, annotation)
}
