//! What has changed since a report was saved.
//!
//! Figures of two runs are not to be compared: the machine was another one each
//! time. But how Raddle stood to Tokio, which ran beside it both times, is.

use crate::record::Comparison;
use crate::stats::Interval;

use super::{Report, parts};

/// How a comparison stood then, and stands now.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) name: String,
    pub(super) rival: String,
    pub(super) then: Interval,
    pub(super) now: Interval,
}

impl Change {
    /// By how much the lead has grown.
    pub(super) fn factor(&self) -> f64 {
        self.now.median / self.then.median
    }

    /// Whether the intervals are apart: chance alone is no explanation then.
    pub(super) fn is_sure(&self) -> bool {
        let sure = self.now.is_sure() && self.then.is_sure();
        sure && (self.now.low > self.then.high || self.now.high < self.then.low)
    }
}

/// What is in both, what changed most first: what changed for sure, and the rest.
pub(super) fn changes(report: &Report) -> Vec<Change> {
    let Some(saved) = &report.saved else {
        return Vec::new();
    };
    let saved = parts(&saved.records);
    let then: Vec<&Comparison> = saved
        .iter()
        .flat_map(|part| &part.groups)
        .flat_map(|group| &group.0)
        .collect();
    let mut changes: Vec<_> = report
        .comparisons()
        .filter_map(|now| {
            let then = then.iter().find(|then| then.is_same(now))?;
            let rival = now.rival()?;
            Some(Change {
                name: format!("{}, {}", now.name(), now.figure),
                rival: rival.to_owned(),
                then: then.lead(rival)?,
                now: now.lead(rival)?,
            })
        })
        .collect();
    let size = |change: &Change| change.factor().ln().abs();
    changes.sort_by(|a, b| {
        let sure = b.is_sure().cmp(&a.is_sure());
        sure.then(size(b).total_cmp(&size(a)))
    });
    changes
}
