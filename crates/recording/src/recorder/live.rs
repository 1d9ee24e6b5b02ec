//! The recorder: it assigns rings to threads, and reads all rings.

use std::cell::RefCell;
use std::fmt;
use std::panic::Location;

use crate::{EndReason, Event, PollEnd, Record, Recording, StringId};
use raddle_primitives::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use raddle_primitives::sync::{Arc, Mutex, Rank};
use raddle_primitives::{Numbers, named};

use crate::recorder::clock::{Anchor, Clock, Scale};
use crate::recorder::kernel::Delays;
use crate::recorder::lane::{Identity, Lane, LaneRecords, Polled};
use crate::recorder::ring::RingWriter;
use crate::recorder::strings::Strings;
use crate::recorder::{Follower, RecorderOptions, kernel};

/// The number of locations whose ids a thread remembers.
const LOCATION_CACHE_SIZE: usize = 16;

/// Records the events of a runtime's threads.
///
/// Clones share the records. A thread gets its ring when it records for the first time; from then
/// on recording takes no lock and allocates nothing.
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
}

struct Shared {
    /// A number that is unique among the recorders of the process.
    id: u64,
    options: RecorderOptions,
    is_on: AtomicBool,
    clock: Clock,
    strings: Strings,
    lanes: Mutex<Vec<Arc<Lane>>>,
    /// The number of threads that have recorded, which is the number of the last.
    threads: AtomicU64,
    /// The greatest number of workers of a scheduler that reports to the recorder.
    workers: AtomicU32,
    /// The number of threads that got no ring.
    refused: AtomicU64,
}

/// The state of a thread for one recorder.
struct Local {
    /// The recorder's [`Shared::id`].
    recorder: u64,
    /// `None` if all rings are taken.
    writer: Option<LaneWriter>,
}

struct LaneWriter {
    lane: Arc<Lane>,
    /// `None` after the ring was returned.
    ring: Option<RingWriter>,
    /// The task of the current poll, as reported by [`Recorder::record_poll`].
    polled: Option<u64>,
    /// The last poll, if its end has no record yet; the next record of the thread contains it.
    ended: Option<(u64, PollEnd)>,
    /// Ids of locations, indexed by the address of the location.
    locations: [Option<(&'static Location<'static>, StringId)>; LOCATION_CACHE_SIZE],
    delays: Option<Delays>,
}

/// The recorders that a thread has recorded to, usually one.
struct Locals {
    first: Option<Local>,
    others: Vec<Local>,
}

raddle_primitives::thread_local! {
    static LOCALS: RefCell<Locals> = RefCell::new(Locals {
        first: None,
        others: Vec::new(),
    });
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
                strings: Strings::new(options.max_strings),
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
        if self.is_on() {
            self.with_lane_writer(|shared, writer| writer.push(shared, event));
        }
    }

    /// Returns the id of a text, for [`Event::TaskNamed`]. Takes a lock.
    pub fn text(&self, text: &str) -> StringId {
        self.shared.strings.text(text)
    }

    /// Records that a task is spawned at `location`. The calling thread remembers the ids of the
    /// latest locations; for any other location it takes a lock.
    #[inline]
    pub fn record_spawn(&self, task: u64, location: &'static Location<'static>) {
        if !self.is_on() {
            return;
        }
        self.with_lane_writer(|shared, writer| {
            let location = writer.location(shared, location);
            writer.push(shared, Event::TaskSpawned { task, location });
        });
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
        if self.is_on() {
            self.with_lane_writer(|shared, writer| writer.start_poll(shared, task));
        }
    }

    /// Stores the result of the poll that [`record_poll`](Self::record_poll) started on this
    /// thread. It is written with the thread's next record.
    #[inline]
    pub fn record_poll_end(&self, task: u64, end: PollEnd) {
        if self.is_on() {
            self.with_lane_writer(|shared, writer| writer.note_end(shared, task, end));
        }
    }

    /// Records why a task has ended. After [`record_poll_end`](Self::record_poll_end) of the task
    /// on this thread, it replaces the reason that was given there.
    #[inline]
    pub fn record_end(&self, task: u64, reason: EndReason) {
        if self.is_on() {
            self.with_lane_writer(|shared, writer| match &mut writer.ended {
                Some((polled, end @ PollEnd::Ended(_))) if *polled == task => {
                    *end = PollEnd::Ended(reason);
                }
                _ => writer.push(shared, Event::TaskEnded { task, reason }),
            });
        }
    }

    /// Records the end of this thread's last poll, if that has no record yet. Call it before the
    /// thread waits; otherwise the poll seems to last until the end of the wait.
    pub fn end_poll(&self) {
        if self.is_on() {
            self.with_lane_writer(|shared, writer| {
                if writer.ended.is_some() {
                    writer.push_end(shared.clock.now());
                }
            });
        }
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
        if self.is_on() {
            self.with_lane_writer(|shared, writer| {
                if writer.polled.is_none() {
                    writer.start_poll(shared, ROOT);
                }
            });
        }
    }

    /// Records the end of such a poll.
    pub(crate) fn record_root_poll_end(&self) {
        if self.is_on() {
            self.with_lane_writer(|shared, writer| {
                if writer.polled == Some(ROOT) {
                    writer.note_end(shared, ROOT, PollEnd::Pending);
                    // The thread may leave the runtime without a further record.
                    writer.push_end(shared.clock.now());
                }
            });
        }
    }

    /// Records how long the calling thread was runnable without running, and its context switches,
    /// since the last call on this thread. Does nothing if the last call was less than 100 ms ago,
    /// if there is nothing to record, or if the system does not report it; only Linux does. It
    /// costs two system calls, so call it when the thread is about to block.
    pub fn record_kernel_delays(&self) {
        if self.is_on() && self.shared.options.kernel_delays {
            self.with_lane_writer(|shared, writer| {
                for event in writer.delays.get_or_insert_default().read() {
                    writer.push(shared, event);
                }
            });
        }
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
        recording
    }

    pub(crate) fn lanes(&self) -> Vec<Arc<Lane>> {
        self.shared.lanes.lock().clone()
    }

    /// Calls `f` with the ring of the thread. Does nothing if the thread has no ring, or is about
    /// to end.
    #[inline]
    fn with_lane_writer(&self, f: impl FnOnce(&Shared, &mut LaneWriter)) {
        let _ended = LOCALS.try_with(|locals| {
            let mut locals = locals.borrow_mut();
            let local = match &mut locals.first {
                Some(local) if local.recorder == self.shared.id => local,
                _ => self.find_local(&mut locals),
            };
            if let Some(writer) = &mut local.writer {
                f(&self.shared, writer);
            }
        });
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
        let (lane, ring) = lanes
            .iter()
            .find_map(claim)
            .or_else(|| claim(&self.add_lane()?))
            .or_else(|| {
                // ORDERING: only shown to users; no access depends on it.
                self.refused.fetch_add(1, Ordering::Relaxed);
                None
            })?;
        Some(LaneWriter {
            lane,
            ring: Some(ring),
            polled: None,
            ended: None,
            locations: [None; LOCATION_CACHE_SIZE],
            delays: None,
        })
    }

    /// Adds a ring, unless there are as many as allowed.
    fn add_lane(&self) -> Option<Arc<Lane>> {
        let lane = Lane::new(self.options.records_per_thread);
        let mut lanes = self.lanes.lock();
        (lanes.len() < self.options.max_threads).then(|| {
            lanes.push(Arc::clone(&lane));
            lane
        })
    }
}

impl LaneWriter {
    #[inline]
    fn push(&mut self, shared: &Shared, event: Event) {
        let time = shared.clock.now();
        if self.ended.is_some() {
            self.push_end(time);
        }
        self.push_record(Record::new(time, event));
    }

    #[inline]
    fn push_record(&mut self, record: Record) {
        if let Some(ring) = &mut self.ring {
            ring.push(record);
        }
    }

    /// Records the end of the last poll.
    fn push_end(&mut self, time: u64) {
        if let Some((task, end)) = self.ended.take() {
            for event in end.events(task) {
                self.push_record(Record::new(time, event));
            }
        }
    }

    #[inline]
    fn start_poll(&mut self, shared: &Shared, task: u64) {
        let former = self.ended.take().map(|(_, end)| end);
        self.polled = Some(task);
        self.push_record(Record::of_poll(shared.clock.now(), task, former));
    }

    #[inline]
    fn note_end(&mut self, shared: &Shared, task: u64, end: PollEnd) {
        if self.polled == Some(task) {
            self.polled = None;
            self.ended = Some((task, end));
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
    fn location(&mut self, shared: &Shared, location: &'static Location<'static>) -> StringId {
        let address = std::ptr::from_ref(location).addr() / align_of::<Location<'_>>();
        let place = &mut self.locations[address % LOCATION_CACHE_SIZE];
        match place {
            Some((known, id)) if std::ptr::eq(*known, location) => *id,
            _ => {
                let id = shared.strings.location(location);
                *place = Some((location, id));
                id
            }
        }
    }
}

/// Returns the ring when the thread ends, or when the recorder was dropped.
impl Drop for LaneWriter {
    fn drop(&mut self) {
        if let Some(ring) = self.ring.take() {
            self.lane.release(ring);
        }
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
