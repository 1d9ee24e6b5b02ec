//! The messages between processes.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Distribution;
use super::text::escaped;
use crate::{Event, Recording};

/// Returns how long messages were on their way, by sender and receiver. Messages whose arrival is
/// not recorded are left out.
///
/// # Examples
///
/// ```
/// use raddle_recording::analysis::message_times;
/// use raddle_recording::{Entry, Event, Recording, StringId, Thread};
///
/// let (message, text) = (1, StringId::UNKNOWN);
/// let thread = |process: &str, time, event| Thread {
///     process: process.to_owned(),
///     entries: vec![Entry { time, event }],
///     ..Thread::default()
/// };
/// let mut recording = Recording::default();
/// let sent = thread("client", 100, Event::MessageSent { message, text });
/// let arrived = thread("server", 250, Event::MessageArrived { message, text });
/// recording.threads.extend([(1, sent), (2, arrived)]);
/// let [(way, times)] = &message_times(&recording)[..] else {
///     panic!("there is one way");
/// };
/// assert_eq!((way.as_str(), times.max().as_nanos()), ("client to server", 150));
/// ```
pub fn message_times(recording: &Recording) -> Vec<(String, Distribution)> {
    let mut sent = BTreeMap::new();
    let mut ways = BTreeMap::<_, Vec<Duration>>::new();
    for (thread, entry) in recording.by_time() {
        let process = recording.threads[&thread].process.as_str();
        match entry.event {
            Event::MessageSent { message, .. } => {
                sent.insert(message, (process, entry.time));
            }
            Event::MessageArrived { message, .. } => {
                if let Some((from, start)) = sent.remove(&message) {
                    let time = Duration::from_nanos(entry.time.saturating_sub(start));
                    ways.entry((from, process)).or_default().push(time);
                }
            }
            _ => {}
        }
    }
    let ways = ways.into_iter();
    ways.map(|((from, to), times)| {
        (
            format!("{} to {}", escaped(from), escaped(to)),
            times.into_iter().collect(),
        )
    })
    .collect()
}
