//! Durations of polls and scheduling delays, measured on a sample.
//!
//! A worker times a poll, and the wait of a task that it queues, if the [`Countdown`] of the worker
//! says so. A measured duration counts once for each poll, or wake, since the one measured before,
//! so that the counts of a histogram add up to the number of polls, or wakes.
//!
//! A wait begins on one thread and often ends on another. [`Probes`] has the times of the waits
//! that are measured, in a table of fixed size.

use std::cell::Cell;
use std::time::Duration;

use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicU64, Ordering};
use raddle_primitives::{Count, Epoch};

/// The upper bounds of the buckets in nanoseconds: 1 us to 10 s, three for each power of ten.
const BOUNDS: [u64; 22] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
];
/// The buckets, with that of longer durations.
const BUCKETS: usize = BOUNDS.len() + 1;

/// The highest mean number of events for each one that is measured.
const MAX_INTERVAL: u32 = 128;
/// The time in nanoseconds between two events that are measured, at least: long compared with the
/// time that it takes to measure one. Events that are as far apart are all measured.
const DISTANCE: u64 = 4_000;

/// The number of entries of [`Probes`]. A power of two.
const SLOTS: usize = 256;
/// The word of an entry that a thread changes. No task has this id.
const BUSY: u64 = u64::MAX;

/// A histogram of durations, measured on a sample: a copy of the counts at one time.
///
/// ```
/// use std::time::Duration;
///
/// use raddle_sched::SampledTimes;
///
/// /// The share of durations of at most 1 ms.
/// fn share(times: &SampledTimes) -> f64 {
///     let short = times.buckets().filter(|(bound, _)| bound <= &Some(Duration::from_millis(1)));
///     let short: u64 = short.filter(|(bound, _)| bound.is_some()).map(|(_, count)| count).sum();
///     short as f64 / times.count() as f64
/// }
/// # assert!(share(&SampledTimes::default()).is_nan());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampledTimes {
    counts: [u64; BUCKETS],
    nanos: u64,
}

impl SampledTimes {
    /// Returns the buckets: the longest duration in each, `None` for the last one, and the number
    /// of durations that are not in a former one.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<Duration>, u64)> {
        let bounds = BOUNDS
            .iter()
            .map(|bound| Some(Duration::from_nanos(*bound)));
        bounds.chain([None]).zip(self.counts)
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the sum of the durations.
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.nanos)
    }

    /// Adds a duration that counts `weight` times.
    pub fn record(&mut self, time: Duration, weight: u64) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(nanos)] += weight;
        self.nanos = self.nanos.saturating_add(nanos.saturating_mul(weight));
    }

    fn add(&mut self, other: &TimeCounts) {
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count.get();
        }
        self.nanos = self.nanos.saturating_add(other.nanos.get());
    }
}

fn bucket(nanos: u64) -> usize {
    BOUNDS.partition_point(|bound| *bound < nanos)
}

/// The counts of a histogram that one thread at a time writes.
#[derive(Debug, Default)]
pub(crate) struct TimeCounts {
    counts: [Count; BUCKETS],
    nanos: Count,
}

impl TimeCounts {
    fn record(&self, nanos: u64, weight: u64) {
        self.counts[bucket(nanos)].add(weight);
        self.nanos.add(nanos.saturating_mul(weight));
    }
}

/// The durations that a worker has measured.
#[derive(Debug, Default)]
pub(crate) struct WorkerTimes {
    polls: TimeCounts,
    delays: TimeCounts,
}

impl WorkerTimes {
    /// Adds these durations to those of other workers: those of polls, and delays.
    pub(crate) fn add_to(&self, polls: &mut SampledTimes, delays: &mut SampledTimes) {
        polls.add(&self.polls);
        delays.add(&self.delays);
    }
}

/// Decides which events are measured. The gaps are random, so that they do not fall into step with
/// events that repeat.
#[derive(Debug)]
struct Countdown {
    left: Cell<u32>,
    /// The number of events from the one measured before to the next one that is.
    gap: Cell<u32>,
    /// The time of the event measured before.
    since: Cell<u64>,
}

impl Countdown {
    /// Measures the first event.
    fn new() -> Self {
        Self {
            left: Cell::new(1),
            gap: Cell::new(1),
            since: Cell::new(0),
        }
    }

    /// Counts an event. Returns whether it is measured.
    #[inline]
    fn is_due(&self) -> bool {
        let left = self.left.get() - 1;
        self.left.set(left);
        left == 0
    }

    /// Whether the event counted last is measured.
    fn has_ended(&self) -> bool {
        self.left.get() == 0
    }

    /// Starts again at an event that is measured, and returns its weight. The next gap is such that
    /// it takes [`DISTANCE`] on average if events are as far apart as those of the last gap.
    fn restart(&self, now: u64, random: &Cell<u32>) -> u64 {
        let gap = u64::from(self.gap.get());
        let elapsed = now.saturating_sub(self.since.replace(now)).max(1);
        let interval = (DISTANCE * gap / elapsed).clamp(1, MAX_INTERVAL.into());
        // Marsaglia's xorshift.
        let mut number = random.get();
        number ^= number << 13;
        number ^= number >> 17;
        number ^= number << 5;
        random.set(number);
        // Even on average: 1 to twice the interval, less one.
        let next = 1 + ((u64::from(number) * (2 * interval - 1)) >> 32) as u32;
        self.gap.set(next);
        self.left.set(next);
        gap
    }
}

/// The state by which a worker takes its sample. Only the thread that drives the worker uses it.
#[derive(Debug)]
pub(crate) struct Sampler {
    polls: Countdown,
    wakes: Countdown,
    random: Cell<u32>,
    probes: Arc<Probes>,
    times: Arc<WorkerTimes>,
}

/// A poll that is timed.
pub(crate) struct TimedPoll {
    start: u64,
    weight: u64,
}

impl Sampler {
    pub(crate) fn new(worker: usize, probes: Arc<Probes>, times: Arc<WorkerTimes>) -> Self {
        Self {
            polls: Countdown::new(),
            wakes: Countdown::new(),
            random: Cell::new((worker as u32 + 1).wrapping_mul(0x9E37_79B9) | 1),
            probes,
            times,
        }
    }

    /// Counts a poll. Returns whether [`begin_poll`](Self::begin_poll) must be called: the poll or
    /// the wait of the task is measured.
    #[inline]
    pub(crate) fn measures_poll(&self, task: u64) -> bool {
        self.polls.is_due() || self.probes.has(task)
    }

    /// Begins such a poll. Records how long the task has waited, if that is measured. Returns
    /// `Some` if the poll is timed.
    pub(crate) fn begin_poll(&self, task: u64) -> Option<TimedPoll> {
        let start = self.probes.now();
        if let Some((since, weight)) = self.probes.take(task) {
            let delays = &self.times.delays;
            delays.record(start.saturating_sub(since), weight);
        }
        self.polls.has_ended().then(|| TimedPoll {
            start,
            weight: self.polls.restart(start, &self.random),
        })
    }

    /// Ends a poll that is timed.
    pub(crate) fn end_poll(&self, poll: TimedPoll) {
        let time = self.probes.now().saturating_sub(poll.start);
        self.times.polls.record(time, poll.weight);
    }

    /// Counts a task that the worker is about to queue. Returns whether
    /// [`measure_wait`](Self::measure_wait) must be called.
    #[inline]
    pub(crate) fn measures_wait(&self) -> bool {
        self.wakes.is_due()
    }

    /// Measures the wait of the task.
    #[cold]
    pub(crate) fn measure_wait(&self, task: u64) {
        let now = self.probes.now();
        let weight = self.wakes.restart(now, &self.random);
        self.probes.put(task, weight, now);
    }
}

/// The tasks whose waits are measured, and when these began: a table with one entry for several
/// tasks, in which each wait stands for those of its weight.
///
/// # Access
///
/// The word of an entry is 0 if it is empty, else the task, or [`BUSY`] while a thread changes the
/// other fields. A task is put before it is queued, and taken by the worker that has taken it from
/// the queue, so that the time of a task is never that of an earlier wait.
#[derive(Debug)]
pub(crate) struct Probes {
    tasks: [AtomicU64; SLOTS],
    /// The times of the wakes, in nanoseconds since the epoch.
    times: [AtomicU64; SLOTS],
    weights: [AtomicU64; SLOTS],
    epoch: Epoch,
}

impl Probes {
    pub(crate) fn new(epoch: Epoch) -> Self {
        let zeros = || std::array::from_fn(|_| AtomicU64::new(0));
        Self {
            tasks: zeros(),
            times: zeros(),
            weights: zeros(),
            epoch,
        }
    }

    pub(crate) fn now(&self) -> u64 {
        self.epoch.nanos()
    }

    /// Whether the wait of a task may be measured.
    #[inline]
    fn has(&self, task: u64) -> bool {
        // ORDERING: the queue orders it after `put`; `take` follows.
        self.tasks[slot(task)].load(Ordering::Relaxed) == task
    }

    /// Measures the wait of a task that is about to be queued; it counts `weight` times. If another
    /// task of the entry waits, one of the two is measured for both, by chance: otherwise many
    /// tasks that are woken at once would be represented by the first ones, which wait least.
    pub(crate) fn put(&self, task: u64, weight: u64, now: u64) {
        let slot = slot(task);
        let (word, total) = (&self.tasks[slot], &self.weights[slot]);
        // ORDERING: only counts. Whichever task is taken next has the weight.
        let former = total.fetch_add(weight, Ordering::Relaxed);
        // ORDERING: a guess, which the exchange below checks.
        let present = word.load(Ordering::Relaxed);
        // From 0 to 2^32 - 1.
        let chance = mix(now ^ task.wrapping_mul(GOLDEN)) >> 32;
        let is_chosen = chance.saturating_mul(former + weight) >> 32 < weight;
        if present == BUSY || (present != 0 && !is_chosen) {
            return;
        }
        // ORDERING: Acquire pairs with the releases below and in `take`: the fields are those of
        // the word. A failure leaves the entry to another thread.
        let claimed = word.compare_exchange(present, BUSY, Ordering::Acquire, Ordering::Relaxed);
        if claimed.is_ok() {
            // ORDERING: the word orders it.
            self.times[slot].store(now, Ordering::Relaxed);
            // ORDERING: Release pairs with `take`.
            word.store(task, Ordering::Release);
        }
    }

    /// Takes the time and the weight of a task that has been taken from a queue.
    fn take(&self, task: u64) -> Option<(u64, u64)> {
        let slot = slot(task);
        let word = &self.tasks[slot];
        // ORDERING: Acquire pairs with `put`.
        word.compare_exchange(task, BUSY, Ordering::Acquire, Ordering::Relaxed)
            .ok()?;
        // ORDERING: the word orders it.
        let time = self.times[slot].load(Ordering::Relaxed);
        // ORDERING: only counts.
        let weight = self.weights[slot].swap(0, Ordering::Relaxed);
        // ORDERING: Release pairs with `put`.
        word.store(0, Ordering::Release);
        Some((time, weight))
    }
}

/// 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns a number whose upper half seems random, also for times at equal distances: one product
/// would make the chances of tasks that are woken one after the other depend on each other.
#[inline]
fn mix(number: u64) -> u64 {
    let product = number.wrapping_mul(GOLDEN);
    (product ^ (product >> 32)).wrapping_mul(GOLDEN)
}

#[inline]
fn slot(task: u64) -> usize {
    task as usize % SLOTS
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
