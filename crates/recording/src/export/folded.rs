//! Folded stacks.

use std::collections::BTreeMap;

use crate::Recording;
use crate::analysis::{Callers, Tasks, polls};

/// The greatest number of letters of a frame.
const MAX_FRAME: usize = 200;

/// The time that polls take, as folded stacks: a line for each chain of spawns,
/// `first;second;third 12345`, with the nanoseconds of all polls of such tasks. Tools that draw
/// flame graphs read it. The frames of a line are an [ancestry](Tasks::ancestry), at most 33.
///
/// A semicolon in a name becomes a comma, and control characters are escaped.
///
/// # Examples
///
/// ```
/// use raddle_recording::{Entry, Event, PollResult, Recording, Thread};
/// use raddle_recording::export::folded_stacks;
///
/// let entries = vec![
///     Entry { time: 10, event: Event::PollStarted { task: 1 } },
///     Entry { time: 35, event: Event::PollFinished { task: 1, result: PollResult::Pending } },
/// ];
/// let mut recording = Recording::default();
/// recording.threads.insert(1, Thread { entries, ..Thread::default() });
/// assert_eq!(folded_stacks(&recording), "spawned before the recording 25\n");
/// ```
pub fn folded_stacks(recording: &Recording) -> String {
    let tasks = Tasks::of(recording);
    let mut times = BTreeMap::<u64, u128>::new();
    for poll in polls(recording) {
        *times.entry(poll.task).or_default() += poll.duration.as_nanos();
    }
    let mut callers = Callers::new();
    let mut places = BTreeMap::new();
    let mut stacks = BTreeMap::<String, u128>::new();
    for (task, nanos) in times {
        let mut stack = String::new();
        for ancestor in tasks.ancestors(task, &mut callers).into_iter().rev() {
            let place = places.entry((ancestor == 0, tasks.location(ancestor)));
            stack += place.or_insert_with(|| clean(&tasks.place(ancestor)));
            stack.push(';');
        }
        stack += &clean(&tasks.label(task));
        *stacks.entry(stack).or_default() += nanos;
    }
    let lines = stacks
        .iter()
        .map(|(stack, nanos)| format!("{stack} {nanos}\n"));
    lines.collect()
}

/// Replaces the separator of frames in a frame, whose control characters are escaped, and shortens
/// the frame.
fn clean(frame: &str) -> String {
    let letters = frame.chars().take(MAX_FRAME);
    letters
        .map(|letter| if letter == ';' { ',' } else { letter })
        .collect()
}
