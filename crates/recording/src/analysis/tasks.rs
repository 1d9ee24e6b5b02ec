//! Analysis of each task.

use std::collections::BTreeMap;

use crate::{Event, Recording, StringId};

/// A task of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// The spawn location, if the recording contains the spawn.
    pub location: Option<StringId>,
    /// Its name.
    pub name: Option<StringId>,
    /// The task that spawned it, if one did.
    pub parent: Option<u64>,
}

/// The tasks of a recording, by number.
///
/// # Examples
///
/// ```
/// use raddle_recording::analysis::Tasks;
/// use raddle_recording::{Entry, Event, Recording, StringId, Thread};
///
/// let location = StringId::new(1).unwrap();
/// let spawn = Entry { time: 5, event: Event::TaskSpawned { task: 7, location } };
/// let mut recording = Recording::default();
/// recording.strings.insert(location, "src/main.rs:7:5".to_owned());
/// recording.threads.insert(1, Thread { entries: vec![spawn], ..Thread::default() });
///
/// let tasks = Tasks::of(&recording);
/// assert_eq!(tasks.get(7).unwrap().location, Some(location));
/// assert!(tasks.label(7).contains("src/main.rs:7:5"));
/// // Its spawn is not in the recording.
/// assert_eq!(tasks.label(1), "spawned before the recording");
/// ```
#[derive(Debug)]
pub struct Tasks<'a> {
    pub(crate) recording: &'a Recording,
    tasks: BTreeMap<u64, Task>,
}

impl<'a> Tasks<'a> {
    /// Finds the tasks of a recording.
    pub fn of(recording: &'a Recording) -> Self {
        let mut tasks = BTreeMap::<u64, Task>::new();
        for thread in recording.threads.values() {
            let mut polled = Vec::new();
            for entry in &thread.entries {
                match entry.event {
                    Event::PollStarted { task } => polled.push(task),
                    Event::PollFinished { task, .. } => {
                        end_nested(&mut polled, |open| *open == task)
                    }
                    Event::TaskSpawned { task, location } => {
                        let spawned = tasks.entry(task).or_default();
                        spawned.location = Some(location);
                        spawned.parent = polled.last().copied();
                    }
                    Event::TaskNamed { task, name } => {
                        tasks.entry(task).or_default().name = Some(name);
                    }
                    _ => {}
                }
            }
        }
        Self { recording, tasks }
    }

    /// The task of a number, if its spawn was recorded.
    pub fn get(&self, task: u64) -> Option<&Task> {
        self.tasks.get(&task)
    }

    /// Returns where a task was spawned, with its name if it has one.
    pub fn label(&self, task: u64) -> String {
        if task == 0 {
            return "the future of block_on".to_owned();
        }
        let text = |id: Option<StringId>| id.map(|id| self.recording.text(id));
        let found = self.get(task);
        let location = text(found.and_then(|task| task.location));
        let location = location.unwrap_or("spawned before the recording");
        match text(found.and_then(|task| task.name)) {
            Some(name) => format!("{name} ({location})"),
            None => location.to_owned(),
        }
    }

    /// Returns the labels of a task and of its ancestors, the first ancestor first.
    pub fn ancestry(&self, task: u64) -> Vec<String> {
        let mut numbers = vec![task];
        while let Some(parent) = numbers.last().and_then(|last| self.get(*last)?.parent) {
            // A damaged file may contain a cycle.
            if numbers.contains(&parent) {
                break;
            }
            numbers.push(parent);
        }
        numbers.iter().rev().map(|task| self.label(*task)).collect()
    }
}

/// Ends the innermost open item that `matches`, and the items inside it, whose ends were lost.
pub(super) fn end_nested<T>(open: &mut Vec<T>, matches: impl Fn(&T) -> bool) {
    if let Some(index) = open.iter().rposition(matches) {
        open.truncate(index);
    }
}
