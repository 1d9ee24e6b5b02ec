//! Tasks that wait for the same thing at the same lines.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use raddle_leaf::wait::{Resource, Wait};

use crate::dump::{Dump, TaskDump, TaskState};
use crate::table::Hashing;

/// The number of tasks that the text names for one group.
const MAX_NAMED: usize = 4;

/// Tasks with the same spawn location, the same state and the same waits: their operations and
/// source lines are equal, and their resources may differ. They are ordered by id.
///
/// [`Display`](fmt::Display) prints it in one line, without the waits.
#[derive(Clone, Debug)]
pub struct TaskGroup<'a> {
    key: u64,
    /// Never empty.
    tasks: Vec<&'a TaskDump>,
    /// The waits of the first task, each with whether the other tasks wait for the same resource.
    waits: Vec<(Wait, bool)>,
}

impl<'a> TaskGroup<'a> {
    /// Returns a number that equal groups of later dumps have too.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Returns the tasks of the group, at least one.
    pub fn tasks(&self) -> &[&'a TaskDump] {
        &self.tasks
    }

    /// Returns the spans that the tasks are in, each with the number of its tasks, that with the
    /// most tasks first. Tasks without a [span](TaskDump::span) do not count.
    pub fn spans(&self) -> Vec<(&'a str, usize)> {
        let mut counts = BTreeMap::new();
        for span in self.tasks.iter().filter_map(|task| task.span()) {
            *counts.entry(span).or_insert(0) += 1;
        }
        let mut spans = Vec::from_iter(counts);
        spans.sort_by_key(|(_, count)| Reverse(*count));
        spans
    }

    /// Returns the first task of the group.
    pub fn first(&self) -> &'a TaskDump {
        self.tasks[0]
    }

    /// Returns the [sorted waits](TaskDump::sorted_waits) of the first task, each with whether all
    /// tasks of the group wait for this resource.
    pub fn waits(&self) -> &[(Wait, bool)] {
        &self.waits
    }
}

impl Dump {
    /// Groups the tasks: those with the same spawn location, state, and operations and source lines
    /// of their waits are one group. The group whose first task has the lowest id comes first.
    ///
    /// # Examples
    ///
    /// ```
    /// # let dump = raddle_dump::TaskTable::new().dump();
    /// for group in dump.groups() {
    ///     let (count, first) = (group.tasks().len(), group.first());
    ///     println!("{count} tasks from {} are {}", first.spawned_at(), first.state());
    /// }
    /// ```
    pub fn groups(&self) -> Vec<TaskGroup<'_>> {
        let mut indexes: HashMap<u64, usize, Hashing> = HashMap::default();
        let mut groups: Vec<TaskGroup<'_>> = Vec::new();
        for task in self.tasks() {
            let waits = task.sorted_waits();
            let key = key(task, &waits);
            let index = *indexes.entry(key).or_insert(groups.len());
            match groups.get_mut(index) {
                Some(group) => group.add(task, &waits),
                None => groups.push(TaskGroup {
                    key,
                    tasks: vec![task],
                    waits: waits.into_iter().map(|wait| (wait, true)).collect(),
                }),
            }
        }
        groups
    }
}

impl TaskDump {
    /// Returns the [key](TaskGroup::key) of the group that the task belongs to.
    pub fn group_key(&self) -> u64 {
        key(self, &self.sorted_waits())
    }

    /// Returns the [waits](Self::waits), those that other tasks end before the others: locks,
    /// semaphores, tasks that are joined, channels, notifications, and then timers and sockets.
    pub fn sorted_waits(&self) -> Vec<Wait> {
        sorted(self.waits())
    }
}

fn key(task: &TaskDump, waits: &[Wait]) -> u64 {
    // A `select!` polls its branches in random order.
    let places = waits.iter().map(|wait| (wait.operation(), wait.location()));
    let mut places: Vec<_> = places.collect();
    places.sort_unstable();
    // Without random keys, so that the same group has the same key in each dump.
    let mut hasher = DefaultHasher::new();
    (task.spawned_at(), task.state(), places).hash(&mut hasher);
    hasher.finish()
}

/// Returns the waits, those that other tasks end before the others.
pub(crate) fn sorted(waits: &[Wait]) -> Vec<Wait> {
    let mut waits = waits.to_vec();
    waits.sort_by_key(|wait| match wait.resource() {
        Resource::Lock(_) => 0,
        Resource::Semaphore(_) => 1,
        Resource::Task(_) => 2,
        Resource::Messages(_) | Resource::Room(_) => 3,
        Resource::Notification(_) => 4,
        Resource::Deadline(_) => 6,
        Resource::Readiness { .. } => 7,
        _ => 5,
    });
    waits
}

impl fmt::Display for TaskGroup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = || self.tasks.iter().map(|task| task.time_in_state());
        let (shortest, longest) = (times().min(), times().max());
        write!(
            f,
            "{} tasks, spawned at {}: {} for {:.1?} to {:.1?}",
            self.tasks.len(),
            self.first().spawned_at(),
            self.first().state(),
            shortest.unwrap_or_default(),
            longest.unwrap_or_default(),
        )?;
        let mut spans = self.spans().into_iter();
        if let Some((span, _)) = spans.next() {
            write!(f, " in span {span:?}")?;
            match spans.len() {
                0 => {}
                others => write!(f, " and {others} others")?,
            }
        }
        write!(f, ":")?;
        for (index, task) in self.tasks.iter().take(MAX_NAMED).enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma} task {}", task.id())?;
            if let Some(name) = task.name() {
                write!(f, " {name:?}")?;
            }
        }
        match self.tasks.len().saturating_sub(MAX_NAMED) {
            0 => Ok(()),
            others => write!(f, " and {others} others"),
        }
    }
}

/// The least number of tasks of a group that the text of a dump prints in one line. Tasks that run
/// are printed one by one: there is at most one for each worker.
const MIN_GROUP: usize = 5;

impl<'a> TaskGroup<'a> {
    fn add(&mut self, task: &'a TaskDump, waits: &[Wait]) {
        self.tasks.push(task);
        for ((first, is_shared), wait) in self.waits.iter_mut().zip(waits) {
            *is_shared &= first.resource() == wait.resource();
        }
    }

    /// Returns whether the text of a dump prints the group in one line.
    pub(crate) fn is_joined(&self) -> bool {
        self.tasks.len() >= MIN_GROUP && self.first().state() != TaskState::Running
    }
}
