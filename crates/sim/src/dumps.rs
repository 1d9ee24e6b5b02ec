//! What the tasks of all hosts wait for, when the clients of a simulation do not end.

use std::fmt::{Display, Write as _};

use raddle::runtime::dump::{Deadlock, Dump, TaskDump, Wait};
use raddle_primitives::sync::MutexGuard;

use crate::context;
use crate::engine::{self, Engine};
use crate::kernel::{Caller, Kernel};

/// The most tasks of one host that the text has.
const MAX_TASKS: usize = 16;
/// The most tasks of all hosts. A host has at least one.
const MAX_TASKS_IN_ALL: usize = 96;
/// The most waits of a task, tasks that can end a wait, cycles of a host and tasks of a cycle.
const MAX_LINES: usize = 8;

impl Engine {
    /// Fails the simulation since its clients have not ended, and keeps the dumps of its tasks.
    #[cold]
    pub(crate) fn fail_stuck<'a>(
        &'a self,
        mut kernel: MutexGuard<'a, Kernel>,
        failure: String,
    ) -> MutexGuard<'a, Kernel> {
        kernel.fail_with(failure);
        let hosts = kernel.hosts.len();
        drop(kernel);
        let mut text = String::new();
        let mut left = MAX_TASKS_IN_ALL;
        for host in 0..hosts {
            if let Some((name, dump)) = self.dump(host) {
                let shown = dump.tasks().len().min(MAX_TASKS).min(left.max(1));
                left = left.saturating_sub(shown);
                text += &format!("\n  the tasks of {name:?}:");
                add_dump(&mut text, &dump, shown);
            }
        }
        let mut kernel = self.kernel.lock();
        kernel.dumps = Some(text);
        kernel
    }

    /// The dump of a host whose runtime keeps one, and its name.
    fn dump(&self, number: usize) -> Option<(String, Dump)> {
        let kernel = self.kernel.lock();
        let host = &kernel.hosts[number];
        let caller = Caller {
            host: number,
            boot: host.boot,
        };
        let (name, runtime) = (host.name.clone(), host.process.runtime.clone()?);
        let clocks = kernel.clocks(number);
        drop(kernel);
        // The times of the dump are on the clock of the host.
        let dump = context::as_host(caller, clocks, || runtime.handle().dump());
        dump.ok().map(|dump| (name, dump))
    }
}

/// Adds up to `shown` tasks of a host, those of deadlocks first, and its deadlocks.
fn add_dump(text: &mut String, dump: &Dump, shown: usize) {
    let is_deadlocked = |task: &TaskDump| {
        let mut edges = dump.deadlocks().iter().flat_map(Deadlock::edges);
        edges.any(|edge| edge.from() == task.id())
    };
    let mut tasks: Vec<_> = dump.tasks().iter().collect();
    tasks.sort_by_key(|task| !is_deadlocked(task));
    for task in &tasks[..shown] {
        add_line(text, 4, &describe(task));
        add_some(text, 6, task.waits(), "waits", |text, wait| {
            add_wait(text, dump, task.id(), wait);
        });
    }
    add_left_out(text, 4, tasks.len() - shown, "tasks");
    add_some(text, 4, dump.deadlocks(), "deadlocks", |text, deadlock| {
        let suspected = match deadlock.is_suspected() {
            true => "suspected ",
            false => "",
        };
        let tasks = deadlock.edges().len();
        add_line(text, 4, &format!("{suspected}deadlock of {tasks} tasks:"));
        add_some(text, 6, deadlock.edges(), "tasks", |text, edge| {
            add_line(text, 6, edge);
        });
    });
}

fn describe(task: &TaskDump) -> String {
    let mut text = format!("task {}", task.id());
    if let Some(name) = task.name() {
        text += &format!(" {name:?}");
    }
    let location = task.spawned_at();
    text += &match location.file() == engine::FILE {
        true => ", the future of the host".to_owned(),
        false => format!(", spawned at {location}"),
    };
    let (state, time) = (task.state(), task.time_in_state());
    text + &format!(": {state} for {time:.1?}, {} polls", task.polls())
}

/// Adds a wait with the edges of the wait-for graph that belong to it.
fn add_wait(text: &mut String, dump: &Dump, task: u64, wait: &Wait) {
    let edges = dump.edges().iter();
    let edges: Vec<_> = edges
        .filter(|edge| edge.from() == task && edge.wait() == wait)
        .collect();
    match edges.is_empty() {
        true => add_line(text, 6, &format!("waits for {wait}")),
        false => add_some(text, 6, &edges, "tasks that can end it", |text, edge| {
            add_line(text, 6, edge);
        }),
    }
}

/// Adds the first items, and how many others there are.
fn add_some<T>(
    text: &mut String,
    indent: usize,
    items: &[T],
    what: &str,
    add: impl Fn(&mut String, &T),
) {
    let shown = items.len().min(MAX_LINES);
    items[..shown].iter().for_each(|item| add(text, item));
    add_left_out(text, indent, items.len() - shown, what);
}

fn add_left_out(text: &mut String, indent: usize, count: usize, what: &str) {
    if count > 0 {
        add_line(text, indent, &format!("and {count} more {what}"));
    }
}

fn add_line(text: &mut String, indent: usize, line: &dyn Display) {
    let _never_fails = write!(text, "\n{:indent$}{line}", "");
}
