//! The recorder: it assigns rings to threads, and reads all rings.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::Location;

use crate::{EndReason, Event, MonitorAction, PollEnd, Recording, StringId};
use raddle_primitives::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use raddle_primitives::sync::{Arc, Mutex, Rank};
use raddle_primitives::{Numbers, named};

use crate::recorder::clock::{Anchor, Clock, Scale};
use crate::recorder::lane::{Identity, Lane, LaneRecords, Polled};
use crate::recorder::local::{LOCALS, LaneWriter, Local, Locals};
use crate::recorder::observe::number;
use crate::recorder::strings::Strings;
use crate::recorder::tasks::TaskTable;
use crate::recorder::trigger::SlowPolls;
use crate::recorder::{Follower, RecorderOptions, kernel};

/// The number of blocking jobs that may be queued at a time before some of their times are unknown.
const JOB_PLACES: usize = 1_024;

/// Records the events of a runtime's threads.
///
/// Clones share the records. A thread gets its ring when it records for the first time; from then
/// on recording takes no lock and allocates nothing.
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    /// A number that is unique among the recorders of the process.
    pub(crate) id: u64,
    pub(crate) options: RecorderOptions,
    is_on: AtomicBool,
    pub(crate) clock: Clock,
    /// [`RecorderOptions::slow`].
    pub(crate) slow_nanos: u64,
    pub(crate) strings: Strings,
    pub(crate) tasks: TaskTable,
    pub(crate) jobs: TaskTable,
    pub(crate) slow_polls: SlowPolls,
    lanes: Mutex<Vec<Arc<Lane>>>,
    /// The number of threads that have recorded, which is the number of the last.
    threads: AtomicU64,
    /// The greatest number of workers of a scheduler that reports to the recorder.
    workers: AtomicU32,
    /// The number of threads that got no ring.
    refused: AtomicU64,
}

/// The number of the future of `block_on`; no task has it.
const ROOT: u64 = 0;

impl Recorder {
    /// Makes a recorder that is on.
    pub fn new(options: RecorderOptions) -> Self {
        static IDS: Numbers = Numbers::new();
        Self {
            shared: Arc::new(Shared {
                id: IDS.take(1),
                clock: Clock::new(),
                is_on: named("recorder is on", AtomicBool::new(true)),
                slow_nanos: u64::try_from(options.slow.as_nanos()).unwrap_or(u64::MAX),
                strings: Strings::new(options.max_strings),
                tasks: TaskTable::new(options.task_places),
                jobs: TaskTable::new(JOB_PLACES),
                slow_polls: SlowPolls::default(),
                lanes: Mutex::ranked(Rank::leaf("recorder lanes"), Vec::new()),
                threads: AtomicU64::new(0),
                workers: AtomicU32::new(0),
                refused: AtomicU64::new(0),
                options,
            }),
        }
    }

    /// Returns whether events are recorded.
    #[inline]
    pub fn is_on(&self) -> bool {
        // ORDERING: none. An event shortly after the switch may be recorded or not.
        self.shared.is_on.load(Ordering::Relaxed)
    }

    /// Starts recording again, after [`stop`](Self::stop).
    pub fn start(&self) {
        if !self.is_on() {
            self.shared.tasks.forget_wakes();
            self.shared.jobs.forget_wakes();
        }
        // ORDERING: as in `is_on`.
        self.shared.is_on.store(true, Ordering::Relaxed);
    }

    /// Stops recording. Recorded events are kept. An event that another thread is just recording
    /// may still be added.
    pub fn stop(&self) {
        // ORDERING: as in `is_on`.
        self.shared.is_on.store(false, Ordering::Relaxed);
    }

    /// Records an event on the calling thread, if the recorder is on.
    #[inline]
    pub fn record(&self, event: Event) {
        match event {
            Event::TaskWoken { task } => {
                return self.with_writer_if_on(|shared, writer| writer.wake(shared, task));
            }
            Event::TaskNamed { task, name } => self.shared.tasks.named(task, name),
            Event::TaskEnded { task, .. } => self.shared.tasks.ended(task),
            _ => {}
        }
        match is_rare(event, self.shared.slow_nanos) {
            true => self.with_writer_if_on(|shared, writer| writer.push_rare(shared, event)),
            false => self.with_writer_if_on(|shared, writer| writer.push(shared, event)),
        }
    }

    /// Returns the id of a text, for [`Event::TaskNamed`] or [`enter`](Self::enter). Takes a lock.
    pub fn text(&self, text: &str) -> StringId {
        self.shared.strings.text(text)
    }

    /// Records that something happened that is worth a mark, such as a new configuration. A mark is
    /// kept among the [rare](crate::Thread::rare) events, so it must be rare. Takes a lock.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_recording::Event;
    /// use raddle_recording::recorder::{Recorder, RecorderOptions};
    ///
    /// let recorder = Recorder::new(RecorderOptions::default());
    /// recorder.mark("configuration 7");
    /// let recording = recorder.snapshot();
    /// let Event::Marked { text } = recording.by_time()[0].1.event else {
    ///     panic!("the mark is the only event");
    /// };
    /// assert_eq!(recording.text(text), "configuration 7");
    /// ```
    pub fn mark(&self, text: &str) {
        if self.is_on() {
            let text = self.text(text);
            self.record(Event::Marked { text });
        }
    }

    /// Records that the calling thread enters a span of the application, such as the handling of a
    /// request. A future that is in a span enters it at the start of each poll.
    ///
    /// The thread remembers the ids of the latest names. [`enter`](Self::enter) takes names that
    /// are made at run time.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_recording::analysis::spans_by_name;
    /// use raddle_recording::recorder::{Recorder, RecorderOptions};
    ///
    /// let recorder = Recorder::new(RecorderOptions::default());
    /// recorder.enter_span("request");
    /// recorder.leave_span("request");
    /// let [(name, times)] = &spans_by_name(&recorder.snapshot())[..] else {
    ///     panic!("there is one span");
    /// };
    /// assert_eq!((name.as_str(), times.count()), ("request", 1));
    /// ```
    #[inline]
    pub fn enter_span(&self, name: &'static str) {
        self.with_writer_if_on(|shared, writer| {
            let name = writer.name(shared, name);
            writer.enter_span(shared, name);
        });
    }

    /// Records that the calling thread leaves the innermost span of this name that it is in. Does
    /// nothing if it is in none.
    #[inline]
    pub fn leave_span(&self, name: &'static str) {
        self.with_writer_if_on(|shared, writer| {
            let name = writer.name(shared, name);
            writer.leave_span(shared, name);
        });
    }

    /// Like [`enter_span`](Self::enter_span), with a name whose id is from [`text`](Self::text).
    #[inline]
    pub fn enter(&self, name: StringId) {
        self.with_writer_if_on(|shared, writer| writer.enter_span(shared, name));
    }

    /// Like [`leave_span`](Self::leave_span), with a name whose id is from [`text`](Self::text).
    #[inline]
    pub fn leave(&self, name: StringId) {
        self.with_writer_if_on(|shared, writer| writer.leave_span(shared, name));
    }

    /// Records that a task is spawned at `location`. The calling thread remembers the ids of the
    /// latest locations; for any other location it takes a lock. The location stays known while the
    /// task lives, also if the recorder is off.
    #[inline]
    pub fn record_spawn(&self, task: u64, location: &'static Location<'static>) {
        let is_on = self.is_on();
        self.with_lane_writer(|shared, writer| writer.spawn(shared, task, location, is_on));
    }

    /// Records that the calling thread starts to poll a task.
    ///
    /// Call [`record_poll_end`](Self::record_poll_end) when the poll returns. That call writes no
    /// record and reads no clock: the thread's next record contains the result of this poll, and
    /// its time counts as the end of the poll. A poll therefore costs one reading of the clock and
    /// one record.
    ///
    /// # Examples
    ///
    /// ```
    /// # use raddle_recording::recorder::{Recorder, RecorderOptions};
    /// # use raddle_recording::{Event, PollEnd, PollResult};
    /// # let recorder = Recorder::new(RecorderOptions::default());
    /// recorder.record_poll(1);
    /// recorder.record_poll_end(1, PollEnd::Pending);
    /// recorder.record_poll(2);
    /// let events: Vec<_> = recorder.snapshot().by_time().iter().map(|(_, e)| e.event).collect();
    /// assert_eq!(events, [
    ///     Event::PollStarted { task: 1 },
    ///     Event::PollFinished { task: 1, result: PollResult::Pending },
    ///     Event::PollStarted { task: 2 },
    /// ]);
    /// ```
    #[inline]
    pub fn record_poll(&self, task: u64) {
        let start = |shared: &Shared, writer: &mut LaneWriter| writer.start_poll(shared, task);
        if !self.is_on() || !self.with_lane_writer(start) {
            self.shared.note_unrecorded_end();
        }
    }

    /// Stores the result of the poll that [`record_poll`](Self::record_poll) started on this
    /// thread. It is written with the thread's next record.
    #[inline]
    pub fn record_poll_end(&self, task: u64, end: PollEnd) {
        self.with_writer_if_on(|shared, writer| writer.note_end(shared, task, end));
    }

    /// Records why a task has ended. After [`record_poll_end`](Self::record_poll_end) of the task
    /// on this thread, it replaces the reason that was given there.
    #[inline]
    pub fn record_end(&self, task: u64, reason: EndReason) {
        self.shared.tasks.ended(task);
        self.with_writer_if_on(|shared, writer| writer.note_reason(shared, task, reason));
    }

    /// Records the end of this thread's last poll, if that has no record yet. Call it before the
    /// thread waits; otherwise the poll seems to last until the end of the wait.
    pub fn end_poll(&self) {
        self.with_writer_if_on(|shared, writer| writer.end_poll(shared));
    }

    /// Records the start of a scheduler of this many workers.
    pub(crate) fn record_runtime(&self, workers: u32) {
        // ORDERING: the threads of the workers are started later.
        self.shared.workers.fetch_max(workers, Ordering::Relaxed);
        self.record(Event::RuntimeStarted { workers });
    }

    /// Returns which of the spare workers a worker is, if it is one.
    pub(crate) fn spare_number(&self, worker: u32) -> Option<u32> {
        // ORDERING: as in `record_runtime`.
        worker.checked_sub(self.shared.workers.load(Ordering::Relaxed))
    }

    /// Records the start of a poll of the future of `block_on`, unless it is within another poll.
    pub(crate) fn record_root_poll(&self) {
        self.with_writer_if_on(|shared, writer| {
            if writer.polled(shared).is_none() {
                writer.start_poll(shared, ROOT);
            }
        });
    }

    /// Records the end of such a poll.
    pub(crate) fn record_root_poll_end(&self) {
        self.with_writer_if_on(|shared, writer| {
            if writer.polled(shared) == Some(ROOT) {
                writer.note_end(shared, ROOT, PollEnd::Pending);
                // The thread may leave the runtime without a further record.
                writer.end_poll(shared);
            }
        });
    }

    /// Records that a worker enters the driver, where it may wait.
    pub(crate) fn record_turn(&self, waits: bool) {
        self.with_writer_if_on(|shared, writer| writer.start_driver_poll(shared, waits));
    }

    /// Records that a worker leaves the driver.
    pub(crate) fn record_turn_end(&self, end: Event) {
        self.with_writer_if_on(|shared, writer| writer.end_driver_poll(shared, end));
    }

    /// Records that a blocking job waits for a thread.
    pub(crate) fn record_job(&self, job: u64) {
        self.with_writer_if_on(|shared, writer| writer.queue_job(shared, job));
    }

    /// Records that a thread starts a blocking job.
    pub(crate) fn record_job_start(&self, job: u64) {
        self.with_writer_if_on(|shared, writer| writer.start_job(shared, job));
    }

    /// Records how long the calling thread was runnable without running, and its context switches,
    /// since the last call on this thread. Does nothing if the last call was less than 100 ms ago,
    /// if there is nothing to record, or if the system does not report it; only Linux does. It
    /// costs two system calls, so call it when the thread is about to block.
    pub fn record_kernel_delays(&self) {
        if !self.shared.options.kernel_delays {
            return;
        }
        self.with_writer_if_on(|shared, writer| {
            for event in writer.delays.get_or_insert_default().read() {
                match is_rare(event, shared.slow_nanos) {
                    true => writer.push_rare(shared, event),
                    false => writer.push(shared, event),
                }
            }
        });
    }

    /// Returns the current content of the rings. Threads continue to record; an event that is
    /// recorded during the call may be missing.
    pub fn snapshot(&self) -> Recording {
        self.follow().read()
    }

    /// Returns a reader of the events in pieces, starting with the oldest one in the rings.
    pub fn follow(&self) -> Follower {
        Follower::new(self.clone(), self.shared.clock.origin())
    }

    /// Returns the number of threads that record nothing, because [`RecorderOptions::max_threads`]
    /// others do.
    pub fn refused_threads(&self) -> u64 {
        // ORDERING: only shown to users; no access depends on it.
        self.shared.refused.load(Ordering::Relaxed)
    }

    /// Returns a recording of the records that were read from the lanes. `former` is the previous
    /// reading of the clock, and is set to a new one.
    pub(crate) fn recording(
        &self,
        all: &[LaneRecords],
        former: &mut Anchor,
        polled: &mut Polled,
    ) -> Recording {
        // Read after the records, so that no record is in the future or refers to a missing string.
        let scale = Scale {
            origin: self.shared.clock.origin(),
            former: *former,
            present: self.shared.clock.anchor(),
        };
        *former = scale.present;
        let mut recording = Recording {
            origin: self.shared.clock.unix(),
            strings: self.shared.strings.all(),
            ..Recording::default()
        };
        for records in all {
            records.add_to(&mut recording, &scale, polled);
        }
        self.identify_tasks(&mut recording);
        recording
    }

    /// Adds the identities of the tasks whose spawns are not among the entries, and of their
    /// ancestors.
    fn identify_tasks(&self, recording: &mut Recording) {
        let mut spawned = BTreeSet::new();
        let mut wanted = BTreeSet::new();
        for entry in recording.threads.values().flat_map(|thread| thread.all()) {
            if let Event::TaskSpawned { task, .. } = entry.event {
                spawned.insert(task);
            }
            wanted.extend(entry.event.task());
        }
        // The parent of a task that is spawned in a poll whose start is lost.
        let mut next: Vec<_> = wanted.iter().copied().collect();
        while let Some(task) = next.pop() {
            let known = match recording.tasks.get(&task) {
                Some(known) => Some(known.clone()),
                None => self.shared.tasks.get(task),
            };
            let Some(known) = known else { continue };
            if let Some(parent) = known.parent.filter(|parent| wanted.insert(*parent)) {
                next.push(parent);
            }
            if !spawned.contains(&task) {
                recording.tasks.insert(task, known);
            }
        }
    }

    #[cfg(all(test, not(raddle_loom)))]
    pub(crate) fn tasks(&self) -> &TaskTable {
        &self.shared.tasks
    }

    pub(crate) fn slow_polls(&self) -> &SlowPolls {
        &self.shared.slow_polls
    }

    pub(crate) fn lanes(&self) -> Vec<Arc<Lane>> {
        self.shared.lanes.lock().clone()
    }

    #[inline]
    fn with_writer_if_on(&self, f: impl FnOnce(&Shared, &mut LaneWriter)) {
        if self.is_on() {
            self.with_lane_writer(f);
        }
    }

    /// Calls `f` with the ring of the thread, and returns true. Does nothing and returns false if
    /// the thread has no ring, or is about to end.
    #[inline]
    fn with_lane_writer(&self, f: impl FnOnce(&Shared, &mut LaneWriter)) -> bool {
        let called = LOCALS.try_with(|locals| {
            let mut locals = locals.borrow_mut();
            let local = match &mut locals.first {
                Some(local) if local.recorder == self.shared.id => local,
                _ => self.find_local(&mut locals),
            };
            let writer = local.writer.as_mut();
            writer.map(|writer| f(&self.shared, writer)).is_some()
        });
        called.unwrap_or(false)
    }

    /// Finds the thread's entry for this recorder if it is not the first one, or adds an entry.
    #[cold]
    fn find_local<'a>(&self, locals: &'a mut Locals) -> &'a mut Local {
        let is_ours = |local: &Local| local.recorder == self.shared.id;
        if !locals.others.iter().any(is_ours) {
            // If the recorder was dropped, only this thread refers to the lane.
            let is_shared = |writer: &LaneWriter| Arc::strong_count(&writer.lane) > 1;
            let is_of_use = |local: &Local| local.writer.as_ref().is_some_and(is_shared);
            locals.others.retain(is_of_use);
            let local = Local {
                recorder: self.shared.id,
                writer: self.shared.claim_lane(),
            };
            if !locals.first.as_ref().is_some_and(is_of_use) {
                return locals.first.insert(local);
            }
            locals.others.push(local);
        }
        let others = locals.others.iter_mut();
        let mut ours = others.filter(|local| local.recorder == self.shared.id);
        ours.next()
            .expect("the recorder is in the list: it was added above if it was missing")
    }
}

impl Shared {
    /// Finds a ring for the calling thread.
    fn claim_lane(&self) -> Option<LaneWriter> {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        let identity = Identity {
            // ORDERING: none, the number only has to be unique.
            number: self.threads.fetch_add(1, Ordering::Relaxed) + 1,
            os_id: kernel::thread_id(),
            name,
        };
        let lanes = self.lanes.lock().clone();
        let claim = |lane: &Arc<Lane>| Some((Arc::clone(lane), lane.claim(&identity)?));
        let (lane, writers) = lanes
            .iter()
            .find_map(claim)
            .or_else(|| self.add_lane(claim))
            .or_else(|| {
                // ORDERING: only shown to users; no access depends on it.
                self.refused.fetch_add(1, Ordering::Relaxed);
                None
            })?;
        Some(LaneWriter::new(self, lane, writers))
    }

    /// Notes that the last poll of the calling thread has ended its task, where the thread records
    /// nothing.
    #[cold]
    fn note_unrecorded_end(&self) {
        if let Some((task, raddle_sched::PollResult::Ended, _)) = raddle_sched::take_ended_poll() {
            self.tasks.ended(number(task));
        }
    }

    /// Returns the number of ticks from which on something may be slow.
    pub(crate) fn slow_ticks(&self) -> u64 {
        self.clock.ticks_within(self.slow_nanos).max(1)
    }

    /// Notifies the triggers of a poll that was slow.
    pub(crate) fn notify_slow_poll(&self, nanos: u64) {
        self.slow_polls.push(nanos);
    }

    /// Adds a ring and claims it, unless there are as many as allowed. No other thread can claim it
    /// before.
    fn add_lane<R>(&self, claim: impl FnOnce(&Arc<Lane>) -> Option<R>) -> Option<R> {
        let lane = Lane::new(self.options.records_per_thread);
        let claimed = claim(&lane)?;
        let mut lanes = self.lanes.lock();
        (lanes.len() < self.options.max_threads).then(|| {
            lanes.push(lane);
            claimed
        })
    }
}

/// Whether an event is kept among the rare ones.
#[inline]
fn is_rare(event: Event, slow_nanos: u64) -> bool {
    match event {
        Event::RuntimeStarted { .. }
        | Event::RuntimeShutDown
        | Event::WorkerHandedOff { .. }
        | Event::SpareWorkerStarted { .. }
        | Event::SpareWorkerStopped { .. }
        | Event::Marked { .. } => true,
        Event::MonitorActed { action, .. } => matches!(
            action,
            MonitorAction::StartedSpare | MonitorAction::LacksSpare
        ),
        Event::ThreadDelayed { nanos } => nanos >= slow_nanos,
        _ => false,
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("is_on", &self.is_on())
            .field("options", &self.shared.options)
            .finish_non_exhaustive()
    }
}
