//! The number of slow polls by location.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use raddle_primitives::sync::{Mutex, Rank};

/// The highest number of labels, and the length of each in bytes. Each is a time series of the
/// system that reads the metrics.
const MAX_LABELS: usize = 100;
const MAX_LENGTH: usize = 200;
/// The label of all further slow polls.
const OTHER: &str = "other";

/// The number of slow polls by a label, such as the location of a function. Clones share the
/// counts.
///
/// The first 100 labels are counted, and all others together as `other`. A label has at most 200
/// bytes.
///
/// ```
/// let counts = raddle_console::SlowPollCounts::new();
/// counts.add("src/main.rs:17:5");
/// counts.add("src/main.rs:17:5");
/// assert_eq!(counts.counts(), [("src/main.rs:17:5".to_owned(), 2)]);
/// ```
#[derive(Clone)]
pub struct SlowPollCounts(Arc<Mutex<BTreeMap<String, u64>>>);

impl SlowPollCounts {
    /// Starts without a slow poll.
    pub fn new() -> Self {
        let counts = Mutex::ranked(Rank::leaf("counts of slow polls"), BTreeMap::new());
        Self(Arc::new(counts))
    }

    /// Counts a slow poll.
    pub fn add(&self, label: &str) {
        let mut end = label.len().min(MAX_LENGTH);
        while !label.is_char_boundary(end) {
            end -= 1;
        }
        let label = &label[..end];
        let mut counts = self.0.lock();
        if let Some(count) = counts.get_mut(label) {
            *count += 1;
            return;
        }
        let label = if counts.len() < MAX_LABELS {
            label
        } else {
            OTHER
        };
        *counts.entry(label.to_owned()).or_insert(0) += 1;
    }

    /// Returns the counts, ordered by label.
    pub fn counts(&self) -> Vec<(String, u64)> {
        let counts = self.0.lock();
        let counts = counts.iter().map(|(label, count)| (label.clone(), *count));
        counts.collect()
    }
}

impl Default for SlowPollCounts {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for SlowPollCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlowPollCounts").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
