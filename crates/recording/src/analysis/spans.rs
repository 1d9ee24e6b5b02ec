//! The spans of the application.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use super::Distribution;
use super::text::escaped;
use crate::{Event, Recording};

/// Returns how long threads were in spans, by the names of the spans. The name with the longest
/// time is first. A future that is in a span has a time for each poll.
pub fn spans_by_name(recording: &Recording) -> Vec<(String, Distribution)> {
    let mut times = BTreeMap::<_, Vec<Duration>>::new();
    for thread in recording.threads.values() {
        let mut open = Vec::new();
        for entry in thread.all() {
            match entry.event {
                Event::RecordsLost { .. } => open.clear(),
                Event::SpanEntered { name } => open.push((name, entry.time)),
                Event::SpanLeft { name } => {
                    if let Some(index) = open.iter().rposition(|(open, _)| *open == name) {
                        let (_, start) = open.remove(index);
                        let time = Duration::from_nanos(entry.time.saturating_sub(start));
                        times.entry(name).or_default().push(time);
                    }
                }
                _ => {}
            }
        }
    }
    let mut spans: Vec<_> = times
        .into_iter()
        .map(|(name, times)| {
            let name = escaped(recording.text(name)).into_owned();
            (name, times.into_iter().collect::<Distribution>())
        })
        .collect();
    spans.sort_by_key(|(_, times)| Reverse(times.max()));
    spans
}
