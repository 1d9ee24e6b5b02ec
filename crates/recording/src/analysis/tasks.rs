//! Analysis of each task.

use std::collections::{BTreeMap, HashMap};

use super::text::escaped;
use crate::{Event, Recording, StringId, Task};

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
    /// The greatest number of ancestors in an [`ancestry`](Self::ancestry).
    pub const MAX_ANCESTORS: usize = 32;

    /// Finds the tasks of a recording.
    pub fn of(recording: &'a Recording) -> Self {
        let mut tasks = recording.tasks.clone();
        for thread in recording.threads.values() {
            let mut polled = Vec::new();
            for entry in &thread.entries {
                match entry.event {
                    Event::RecordsLost { .. } => polled.clear(),
                    Event::PollStarted { task } => polled.push(task),
                    Event::PollFinished { task, .. } => {
                        end_nested(&mut polled, |open| *open == task)
                    }
                    Event::TaskSpawned { task, location } => {
                        let spawned = tasks.entry(task).or_default();
                        spawned.location = Some(location);
                        spawned.parent = polled.last().copied().or(spawned.parent);
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

    /// The task of a number, if it is known.
    pub fn get(&self, task: u64) -> Option<&Task> {
        self.tasks.get(&task)
    }

    /// Returns where a task was spawned, with its name if it has one. Control characters are
    /// escaped.
    pub fn label(&self, task: u64) -> String {
        if task == 0 {
            return "the future of block_on".to_owned();
        }
        let text = |id: Option<StringId>| id.map(|id| self.recording.text(id));
        let found = self.get(task);
        let location = text(found.and_then(|task| task.location));
        let location = escaped(location.unwrap_or("spawned before the recording"));
        match text(found.and_then(|task| task.name)) {
            Some(name) => format!("{} ({location})", escaped(name)),
            None => location.into_owned(),
        }
    }

    /// Returns the label of a task after the spawn locations of its ancestors, the first ancestor
    /// first. A task that has the location of its parent takes the place of the parent, and of
    /// more than [`MAX_ANCESTORS`](Self::MAX_ANCESTORS) locations the first are left out.
    pub fn ancestry(&self, task: u64) -> Vec<String> {
        let ancestors = self.ancestors(task, &mut Callers::new());
        let ancestors = ancestors.into_iter().rev();
        let places = ancestors.map(|ancestor| self.place(ancestor));
        places.chain([self.label(task)]).collect()
    }

    /// Returns the tasks of an [`ancestry`](Self::ancestry) without the last, the closest first.
    /// `callers` has what former calls have found.
    pub(crate) fn ancestors(&self, task: u64, callers: &mut Callers) -> Vec<u64> {
        let mut ancestors = Vec::new();
        let mut last = task;
        while let Some(caller) = self.caller(last, callers) {
            if ancestors.len() == Self::MAX_ANCESTORS {
                break;
            }
            ancestors.push(caller);
            last = caller;
        }
        ancestors
    }

    /// Returns where a task was spawned.
    pub(crate) fn place(&self, task: u64) -> String {
        match self.location(task) {
            Some(location) => escaped(self.recording.text(location)).into_owned(),
            None => self.label(task),
        }
    }

    pub(crate) fn location(&self, task: u64) -> Option<StringId> {
        self.get(task)?.location
    }

    /// Returns the closest ancestor of a task that has another location.
    fn caller(&self, task: u64, callers: &mut Callers) -> Option<u64> {
        let location = self.location(task);
        let mut same = vec![task];
        let mut last = task;
        let caller = loop {
            if let Some(known) = callers.get(&last) {
                break *known;
            }
            let parent = self.get(last).and_then(|task| task.parent);
            match parent {
                // A damaged file may contain a cycle.
                Some(_) if same.len() > self.tasks.len() => break None,
                Some(parent) if parent != 0 && self.location(parent) == location => {
                    same.push(parent);
                    last = parent;
                }
                other => break other,
            }
        };
        callers.extend(same.into_iter().map(|task| (task, caller)));
        caller
    }
}

/// The closest ancestors of tasks that have other locations.
pub(crate) type Callers = HashMap<u64, Option<u64>>;

/// Ends the innermost open item that `matches`, and the items inside it, whose ends were lost.
pub(super) fn end_nested<T>(open: &mut Vec<T>, matches: impl Fn(&T) -> bool) {
    if let Some(index) = open.iter().rposition(matches) {
        open.truncate(index);
    }
}
