//! The times in which spare workers served.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Distribution;
use crate::{Event, MonitorAction, Recording};

/// What a recording says about spare workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpareWorkers {
    /// How long each spare worker served each time, by its number. Where the end is not recorded,
    /// it served until the end of the recording.
    pub served: BTreeMap<u32, Distribution>,
    /// How often the monitor started one.
    pub starts: usize,
    /// How often the monitor reported that no spare worker was left, at most every 10 s.
    pub lacks: usize,
}

/// Finds out when spare workers served.
pub fn spare_workers(recording: &Recording) -> SpareWorkers {
    let mut found = SpareWorkers::default();
    let mut times = BTreeMap::<u32, Vec<Duration>>::new();
    // By the index of the worker: which spare worker it is, and since when it serves.
    let mut serving = BTreeMap::new();
    let by_time = recording.all_by_time();
    for (_, entry) in &by_time {
        match entry.event {
            // A worker whose thread blocks in place starts again on another thread.
            Event::SpareWorkerStarted { worker, spare } => {
                serving.entry(worker).or_insert((spare, entry.time));
            }
            Event::SpareWorkerStopped { worker } => {
                if let Some((spare, since)) = serving.remove(&worker) {
                    let served = Duration::from_nanos(entry.time.saturating_sub(since));
                    times.entry(spare).or_default().push(served);
                }
            }
            Event::MonitorActed { action, .. } => match action {
                MonitorAction::StartedSpare => found.starts += 1,
                MonitorAction::LacksSpare => found.lacks += 1,
                _ => {}
            },
            _ => {}
        }
    }
    let end = by_time.last().map_or(0, |(_, entry)| entry.time);
    for (spare, since) in serving.into_values() {
        let served = Duration::from_nanos(end.saturating_sub(since));
        times.entry(spare).or_default().push(served);
    }
    found.served = times
        .into_iter()
        .map(|(spare, times)| (spare, times.into_iter().collect()))
        .collect();
    found
}

/// Returns the index of the first spare worker, if the recording has it.
pub(super) fn first_spare(recording: &Recording) -> Option<u32> {
    let entries = recording.threads.values().flat_map(|thread| thread.all());
    let workers = entries.filter_map(|entry| match entry.event {
        Event::RuntimeStarted { workers } => Some(workers),
        Event::SpareWorkerStarted { worker, spare } => worker.checked_sub(spare),
        _ => None,
    });
    workers.max()
}
