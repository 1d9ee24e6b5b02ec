//! Folded stacks.

use std::collections::BTreeMap;

use crate::Recording;
use crate::analysis::{Tasks, polls};

/// The time that polls take, as folded stacks: a line for each chain of tasks that spawned one
/// another, `first;second;third 12345`, with the nanoseconds of all polls of such tasks. Tools that
/// draw flame graphs read it.
///
/// A semicolon in a name becomes a comma.
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
    let mut stacks = BTreeMap::<String, u128>::new();
    for poll in polls(recording) {
        let frames = tasks.ancestry(poll.task);
        let frames: Vec<_> = frames.iter().map(|frame| clean(frame)).collect();
        *stacks.entry(frames.join(";")).or_default() += poll.duration.as_nanos();
    }
    let lines = stacks
        .iter()
        .map(|(stack, nanos)| format!("{stack} {nanos}\n"));
    lines.collect()
}

/// Replaces the separators of frames and lines in a frame.
fn clean(frame: &str) -> String {
    let replace = |letter| match letter {
        ';' => ',',
        letter if char::is_control(letter) => ' ',
        letter => letter,
    };
    frame.chars().map(replace).collect()
}
