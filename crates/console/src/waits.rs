//! How long blocking jobs wait for a thread.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use raddle_blocking::{JobMeta, JobObserver};
use raddle_primitives::sync::{Mutex, Rank};
use raddle_sched::SampledTimes;

/// An observer of a blocking pool that measures how long jobs wait for a thread. Clones share the
/// histogram.
///
/// Each job takes a lock twice and reads the clock twice.
///
/// ```
/// use std::sync::Arc;
///
/// use raddle_blocking::{Config, Pool};
/// use raddle_console::BlockingWaits;
///
/// let waits = BlockingWaits::new();
/// let config = Config { observer: Some(Arc::new(waits.clone())), ..Config::default() };
/// let mut pool = Pool::new(config);
/// pool.handle().submit_mandatory(|| ()).unwrap();
/// pool.shutdown(None);
/// assert_eq!(waits.times().count(), 1);
/// ```
#[derive(Clone)]
pub struct BlockingWaits(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// When each job that waits was submitted. Jobs with the same number, such as closures, which
    /// have the number 0, are measured by the first one that waits.
    queued: HashMap<u64, Instant>,
    times: SampledTimes,
}

impl BlockingWaits {
    /// Starts with an empty histogram.
    pub fn new() -> Self {
        let state = Mutex::ranked(Rank::leaf("waits of blocking jobs"), State::default());
        Self(Arc::new(state))
    }

    /// Returns the histogram.
    pub fn times(&self) -> SampledTimes {
        self.0.lock().times.clone()
    }
}

impl JobObserver for BlockingWaits {
    fn queued(&self, job: JobMeta) {
        let now = Instant::now();
        self.0.lock().queued.entry(job.id).or_insert(now);
    }

    fn started(&self, job: JobMeta) {
        let now = Instant::now();
        let mut state = self.0.lock();
        if let Some(since) = state.queued.remove(&job.id) {
            state.times.record(now.saturating_duration_since(since), 1);
        }
    }

    fn dropped(&self, job: JobMeta) {
        self.0.lock().queued.remove(&job.id);
    }
}

impl Default for BlockingWaits {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for BlockingWaits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockingWaits").finish_non_exhaustive()
    }
}
