//! The state of a thread for each recorder that it records to.

use std::cell::RefCell;
use std::panic::Location;

use raddle_primitives::sync::Arc;
use raddle_sched::{PollResult, take_ended_poll};

use crate::event::{MAX_OPERAND, Parts, kind};
use crate::recorder::kernel::Delays;
use crate::recorder::lane::{Lane, Writers, identity_records};
use crate::recorder::live::Shared;
use crate::recorder::observe::number;
use crate::recorder::ring::RingWriter;
use crate::{EndReason, Event, PollEnd, Record, StringId};

/// The number of locations and of names whose ids a thread remembers.
const CACHE_SIZE: usize = 16;
/// A thread records long scheduling delays at most once in this many times the shortest of them.
const DELAY_INTERVAL: u64 = 10;
/// The number of nested spans that a thread times. Those inside them are not recorded.
const MAX_SPANS: usize = 64;

/// The state of a thread for one recorder.
pub(crate) struct Local {
    /// The recorder's [`Shared::id`].
    pub(crate) recorder: u64,
    /// `None` if all rings are taken.
    pub(crate) writer: Option<LaneWriter>,
}

/// The recorders that a thread has recorded to, usually one.
pub(crate) struct Locals {
    pub(crate) first: Option<Local>,
    pub(crate) others: Vec<Local>,
}

raddle_primitives::thread_local! {
    pub(crate) static LOCALS: RefCell<Locals> = RefCell::new(Locals {
        first: None,
        others: Vec::new(),
    });
}

/// Writes to the rings of a thread.
pub(crate) struct LaneWriter {
    pub(crate) lane: Arc<Lane>,
    ring: RingWriter,
    rare: Option<RingWriter>,
    /// The last poll of the thread.
    poll: Poll,
    /// The ticks from which on something is slow. An estimate that is too short, until something
    /// has been slow.
    slow: u64,
    /// When the next long scheduling delay may be recorded.
    next_delay: u64,
    /// Ids of locations and of names, by their addresses.
    locations: [Option<(&'static Location<'static>, StringId)>; CACHE_SIZE],
    names: [Option<(&'static str, StringId)>; CACHE_SIZE],
    /// The spans that the thread is in, the innermost last.
    spans: Vec<Start<StringId>>,
    /// The poll of the driver, if it does not wait.
    driver_poll: Option<Start<()>>,
    pub(crate) delays: Option<Delays>,
}

/// A poll, as reported by [`Recorder::record_poll`](crate::recorder::Recorder::record_poll).
#[derive(Clone, Copy)]
struct Poll {
    task: u64,
    /// The time and the position of its start.
    start: u64,
    position: u64,
    /// [`RUNNING`], or the [number](PollEnd::number) of an end that has no record yet and that the
    /// next record of the thread contains, or 0 if the end has a record.
    end: u32,
}

/// The poll has not ended.
const RUNNING: u32 = u32::MAX;

impl Poll {
    #[inline]
    fn has_unrecorded_end(&self) -> bool {
        (1..=PollEnd::MAX_NUMBER).contains(&self.end)
    }
}

/// The start of something.
struct Start<T> {
    what: T,
    time: u64,
    position: u64,
}

impl LaneWriter {
    pub(crate) fn new(shared: &Shared, lane: Arc<Lane>, writers: Writers) -> Self {
        Self {
            lane,
            ring: writers.ring,
            rare: writers.rare,
            poll: Poll {
                task: 0,
                start: 0,
                position: 0,
                end: 0,
            },
            slow: shared.slow_ticks(),
            next_delay: 0,
            locations: [None; CACHE_SIZE],
            names: [None; CACHE_SIZE],
            spans: Vec::new(),
            driver_poll: None,
            delays: None,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, shared: &Shared, event: Event) {
        let time = shared.clock.now();
        self.push_at(shared, time, event);
    }

    #[inline(always)]
    fn push_at(&mut self, shared: &Shared, time: u64, event: Event) {
        self.push_end(shared, time);
        self.ring.push(Record::new(time, event));
    }

    /// Records an event, and keeps it among the rare ones.
    pub(crate) fn push_rare(&mut self, shared: &Shared, event: Event) {
        let time = shared.clock.now();
        self.push_at(shared, time, event);
        self.keep(shared, self.ring.count() - 1, Record::new(time, event));
    }

    /// Records the end of the last poll at `time`, unless it has a record.
    #[inline]
    fn push_end(&mut self, shared: &Shared, time: u64) {
        self.take_end(shared);
        if self.poll.has_unrecorded_end() {
            self.push_end_record(shared, time);
        }
    }

    #[inline(never)]
    fn push_end_record(&mut self, shared: &Shared, time: u64) {
        let Some(end) = PollEnd::from_number(self.poll.end) else {
            return;
        };
        self.poll.end = 0;
        let position = self.ring.count();
        for event in end.events(self.poll.task) {
            self.ring.push(Record::new(time, event));
        }
        if time.wrapping_sub(self.poll.start) >= self.slow {
            self.keep_poll(shared, time, end, position, 0);
        }
    }

    /// Records the end of the last poll now.
    pub(crate) fn end_poll(&mut self, shared: &Shared) {
        self.take_end(shared);
        if self.poll.has_unrecorded_end() {
            self.push_end_record(shared, shared.clock.now());
        }
    }

    /// Notes the end of the current poll if the scheduler has not called the recorder at its end.
    /// Called before each event of the thread.
    #[inline]
    fn take_end(&mut self, shared: &Shared) {
        let Some((task, result, reason)) = take_ended_poll() else {
            return;
        };
        let task = number(task);
        if result == PollResult::Ended {
            shared.tasks.ended(task);
        }
        if self.poll.end == RUNNING && self.poll.task == task {
            self.poll.end = PollEnd::number(Some(PollEnd::of(result, reason)));
        }
    }

    /// The task that the thread polls.
    #[inline]
    pub(crate) fn polled(&mut self, shared: &Shared) -> Option<u64> {
        self.take_end(shared);
        (self.poll.end == RUNNING).then_some(self.poll.task)
    }

    #[inline]
    pub(crate) fn start_poll(&mut self, shared: &Shared, task: u64) {
        let time = shared.clock.now();
        self.take_end(shared);
        let mut former = self.poll.end;
        if former > PollEnd::MAX_NUMBER {
            // This poll is within another.
            former = 0;
        } else if time.wrapping_sub(self.poll.start) >= self.slow {
            self.keep_former_poll(shared, time);
        }
        self.poll = Poll {
            task,
            start: time,
            position: self.ring.count(),
            end: RUNNING,
        };
        self.ring.push(Record::of_poll_number(time, task, former));
        let wait = shared.tasks.take_wait(task, time);
        if wait >= self.slow && time >= self.next_delay {
            self.keep_delay(shared, task, time, wait);
        }
    }

    #[inline]
    pub(crate) fn note_end(&mut self, shared: &Shared, task: u64, end: PollEnd) {
        if self.poll.task == task && self.poll.end == RUNNING {
            self.poll.end = PollEnd::number(Some(end));
        } else {
            // The recorder was off when the poll started.
            self.push_unexpected_end(shared, task, end);
        }
    }

    #[cold]
    fn push_unexpected_end(&mut self, shared: &Shared, task: u64, end: PollEnd) {
        for event in end.events(task) {
            self.push(shared, event);
        }
    }

    #[inline]
    pub(crate) fn note_reason(&mut self, shared: &Shared, task: u64, reason: EndReason) {
        self.take_end(shared);
        let is_last = self.poll.task == task && self.poll.has_unrecorded_end();
        match PollEnd::from_number(self.poll.end) {
            Some(PollEnd::Ended(_)) if is_last => {
                self.poll.end = PollEnd::number(Some(PollEnd::Ended(reason)));
            }
            _ => self.push(shared, Event::TaskEnded { task, reason }),
        }
    }

    #[inline]
    pub(crate) fn spawn(
        &mut self,
        shared: &Shared,
        task: u64,
        location: &'static Location<'static>,
        is_on: bool,
    ) {
        let location = self.location(shared, location);
        let time = is_on.then(|| shared.clock.now());
        let parent = self.polled(shared);
        shared.tasks.spawned(task, location, parent, time);
        if let Some(time) = time {
            if parent.is_none() {
                self.push_end(shared, time);
            }
            self.ring
                .push(Record::new(time, Event::TaskSpawned { task, location }));
        }
    }

    #[inline]
    pub(crate) fn wake(&mut self, shared: &Shared, task: u64) {
        let time = shared.clock.now();
        shared.tasks.woken(task, time);
        self.push_at(shared, time, Event::TaskWoken { task });
    }

    /// A worker enters the driver.
    pub(crate) fn start_driver_poll(&mut self, shared: &Shared, waits: bool) {
        let time = shared.clock.now();
        self.push_at(shared, time, Event::DriverStarted);
        self.driver_poll = (!waits).then(|| self.start(time, ()));
    }

    /// A worker leaves the driver.
    pub(crate) fn end_driver_poll(&mut self, shared: &Shared, end: Event) {
        let time = shared.clock.now();
        self.push_at(shared, time, end);
        if let Some(poll) = self.driver_poll.take() {
            self.keep_if_slow(shared, poll, time, Event::DriverStarted, end);
        }
    }

    pub(crate) fn queue_job(&mut self, shared: &Shared, job: u64) {
        let time = shared.clock.now();
        shared.jobs.woken(job, time);
        self.push_at(shared, time, Event::JobQueued { job });
    }

    /// A thread starts a job that was queued at a time, if that is known.
    pub(crate) fn start_job(&mut self, shared: &Shared, job: u64) {
        let time = shared.clock.now();
        let end = Event::JobStarted { job };
        self.push_at(shared, time, end);
        let wait = shared.jobs.take_wait(job, time);
        if wait > 0 {
            let queued = Start {
                time: time.wrapping_sub(wait),
                ..self.start(time, ())
            };
            self.keep_if_slow(shared, queued, time, Event::JobQueued { job }, end);
        }
    }

    pub(crate) fn enter_span(&mut self, shared: &Shared, name: StringId) {
        let time = shared.clock.now();
        self.push_at(shared, time, Event::SpanEntered { name });
        let span = self.start(time, name);
        if self.spans.len() == MAX_SPANS {
            // Spans that were left on other threads.
            self.spans.remove(0);
        }
        self.spans.push(span);
    }

    /// Leaves the innermost span of this name, if the thread is in one.
    pub(crate) fn leave_span(&mut self, shared: &Shared, name: StringId) {
        let Some(index) = self.spans.iter().rposition(|span| span.what == name) else {
            return;
        };
        let span = self.spans.remove(index);
        let time = shared.clock.now();
        let end = Event::SpanLeft { name };
        self.push_at(shared, time, end);
        self.keep_if_slow(shared, span, time, Event::SpanEntered { name }, end);
    }

    /// The start of something whose record was pushed last.
    fn start<T>(&self, time: u64, what: T) -> Start<T> {
        Start {
            what,
            time,
            position: self.ring.count() - 1,
        }
    }

    /// Keeps something that ends now, and whose end was pushed last, if it was slow.
    fn keep_if_slow<T>(
        &mut self,
        shared: &Shared,
        start: Start<T>,
        time: u64,
        first: Event,
        last: Event,
    ) {
        if self
            .is_slow(shared, time.wrapping_sub(start.time))
            .is_some()
        {
            self.keep(shared, start.position, Record::new(start.time, first));
            self.keep(shared, self.ring.count() - 1, Record::new(time, last));
        }
    }

    /// Keeps the last poll if it was slow and the next record, of another poll, contains its end.
    #[cold]
    fn keep_former_poll(&mut self, shared: &Shared, time: u64) {
        if let Some(end) = PollEnd::from_number(self.poll.end) {
            let position = self.ring.count();
            let distance = position - self.poll.position;
            self.keep_poll(shared, time, end, position, distance);
        }
    }

    /// Keeps the last poll if it was slow. `position` is that of the record with its end. If that
    /// is the record of the next poll, `distance` is the number of records from its start to there.
    #[cold]
    fn keep_poll(
        &mut self,
        shared: &Shared,
        time: u64,
        end: PollEnd,
        position: u64,
        distance: u64,
    ) {
        let Poll { task, start, .. } = self.poll;
        let Some(nanos) = self.is_slow(shared, time.wrapping_sub(start)) else {
            return;
        };
        self.keep_identity(shared, task);
        let started = Record::new(start, Event::PollStarted { task });
        self.keep(shared, self.poll.position, started);
        for event in end.events(task) {
            self.keep_at(shared, position, distance, Record::new(time, event));
        }
        shared.notify_slow_poll(nanos);
    }

    #[cold]
    fn keep_delay(&mut self, shared: &Shared, task: u64, time: u64, wait: u64) {
        let Some(nanos) = self.is_slow(shared, wait) else {
            return;
        };
        self.next_delay = time.saturating_add(self.slow.saturating_mul(DELAY_INTERVAL));
        self.keep_identity(shared, task);
        let tenths = u32::try_from(nanos / 100_000).unwrap_or(u32::MAX);
        let delayed = Record::new(time, Event::TaskDelayed { task, tenths });
        self.keep(shared, self.ring.count() - 1, delayed);
    }

    /// Returns the nanoseconds of a time in ticks if it is slow.
    fn is_slow(&mut self, shared: &Shared, ticks: u64) -> Option<u64> {
        if ticks < self.slow {
            return None;
        }
        self.slow = shared.slow_ticks();
        let nanos = shared.clock.nanos_of(ticks);
        (nanos >= shared.slow_nanos).then_some(nanos)
    }

    /// Adds a record to the ring of rare events. `position` is that of the same record in the ring
    /// of all events.
    fn keep(&mut self, shared: &Shared, position: u64, record: Record) {
        self.keep_at(shared, position, 0, record);
    }

    fn keep_at(&mut self, shared: &Shared, position: u64, distance: u64, record: Record) {
        let distance = u32::try_from(distance).unwrap_or(u32::MAX);
        let parts = Parts::of_number(kind::POSITION, position & MAX_OPERAND, distance);
        let rare = self.rare(shared);
        rare.push(Record::of_parts(0, parts));
        rare.push(record);
    }

    fn keep_identity(&mut self, shared: &Shared, task: u64) {
        let known = match task {
            0 => None,
            _ => shared.tasks.get(task & MAX_OPERAND),
        };
        if let Some(known) = known {
            let rare = self.rare(shared);
            identity_records(task, &known).for_each(|record| rare.push(record));
        }
    }

    fn rare(&mut self, shared: &Shared) -> &mut RingWriter {
        let add = || self.lane.add_rare(shared.options.rare_records_per_thread);
        self.rare.get_or_insert_with(add)
    }

    #[inline]
    fn location(&mut self, shared: &Shared, location: &'static Location<'static>) -> StringId {
        let address = std::ptr::from_ref(location).addr() / align_of::<Location<'_>>();
        let place = &mut self.locations[address % CACHE_SIZE];
        match place {
            Some((known, id)) if std::ptr::eq(*known, location) => *id,
            _ => {
                let id = shared.strings.location(location);
                *place = Some((location, id));
                id
            }
        }
    }

    /// Returns the id of a name.
    pub(crate) fn name(&mut self, shared: &Shared, name: &'static str) -> StringId {
        let place = &mut self.names[name.as_ptr().addr() % CACHE_SIZE];
        match place {
            Some((known, id)) if std::ptr::eq(*known, name) => *id,
            _ => {
                let id = shared.strings.text(name);
                *place = Some((name, id));
                id
            }
        }
    }
}

/// Returns the rings when the thread ends, or when the recorder was dropped.
impl Drop for LaneWriter {
    fn drop(&mut self) {
        self.lane.release(Writers {
            ring: self.ring.hand_over(),
            rare: self.rare.take(),
        });
    }
}
