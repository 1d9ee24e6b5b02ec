//! What the page shows, as JSON. Each response has a bounded size.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::panic::Location;

use raddle_dump::{
    BlockOn, Dump, Edge, PollCause, Resource, ResourceDump, ResourceKind, ResourceWaiter, Role,
    TaskDump, TaskGroup, TaskTable, Wait, WokenBy,
};
use serde_json::{Value, json};

use crate::table::{MAX_ROWS, Query, SLOW};

/// The size of the rows of one response, in bytes of JSON. Further rows are left off, and the
/// response has their number.
pub(crate) const MAX_BYTES: usize = 1024 * 1024;
/// The length up to which a name, a location or another text is shown, in bytes.
const MAX_TEXT: usize = 256;
/// The greatest number of deadlocks, of awaited tasks, and of the entries of each.
const MAX_WAITS: usize = 50;
/// The size of the text of an edge and of a deadlock, in bytes.
const MAX_SENTENCE: usize = 1024;
const MAX_DEADLOCK: usize = 16 * 1024;
/// The greatest number of waits in the row of a task, of blockers of a wait, and of the named tasks
/// of a group.
const MAX_FEW: usize = 4;

/// The bytes that are left for the rows of a response.
pub(crate) struct Budget(usize);

/// Rows of a response, and the number of those that are left off.
pub(crate) struct Rows {
    pub(crate) rows: Vec<Value>,
    pub(crate) left_off: usize,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self(MAX_BYTES)
    }

    /// Makes at most `max` rows, as long as there are bytes for them.
    fn rows<T>(&mut self, items: &[T], max: usize, row: impl Fn(&T) -> Value) -> Rows {
        let mut rows = Vec::new();
        for item in items.iter().take(max) {
            let row = row(item);
            let size = row.to_string().len() + 1;
            if size > self.0 {
                break;
            }
            self.0 -= size;
            rows.push(row);
        }
        let left_off = items.len() - rows.len();
        Rows { rows, left_off }
    }
}

/// Returns a name, or the beginning of a long one.
pub(crate) fn text(text: &str) -> String {
    beginning(text, MAX_TEXT)
}

/// Returns the beginning of a long text, with an ellipsis.
pub(crate) fn beginning(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let mut end = max - '…'.len_utf8();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

/// Returns a location. The end of a long path says most.
pub(crate) fn place(location: &Location<'_>) -> String {
    let text = location.to_string();
    if text.len() <= MAX_TEXT {
        return text;
    }
    let mut start = text.len() - MAX_TEXT + '…'.len_utf8();
    while !text.is_char_boundary(start) {
        start += 1;
    }
    format!("…{}", &text[start..])
}

/// Names a task, which may have ended, or a `block_on`.
fn who(dump: &Dump, id: u64) -> Value {
    if !BlockOn::has_id(id) {
        let name = dump.task(id).and_then(TaskDump::name);
        return json!({ "task": id, "label": format!("task {id}"), "name": name.map(text) });
    }
    let call = dump.block_ons().iter().find(|call| call.id() == id);
    let thread = call.and_then(BlockOn::thread);
    let label = thread.map_or_else(
        || "a block_on".to_owned(),
        |thread| text(&format!("block_on on thread {thread}")),
    );
    json!({ "task": null, "label": label, "name": null })
}

/// What the task at the end of an edge has to do with the wait.
fn role(wait: &Wait) -> &'static str {
    match wait.resource() {
        Resource::Lock(_) | Resource::Semaphore(_) => "held by",
        Resource::Messages(_) => "sender used by",
        Resource::Room(_) => "receiver used by",
        _ => "",
    }
}

/// Describes a wait of a task or a `block_on`, with the tasks that can end it.
fn wait(dump: &Dump, id: u64, wait: &Wait) -> Value {
    let edges = dump.edges_from(id).iter();
    let of_wait: Vec<_> = edges.filter(|edge| edge.wait() == wait).collect();
    let by = of_wait.iter().take(MAX_FEW).map(|edge| {
        let mut by = who(dump, edge.to());
        by["since"] = edge.location().map(place).into();
        by
    });
    let object = ResourceKind::of(wait.resource());
    json!({
        "operation": wait.operation(),
        "location": wait.location().map(place),
        "resource": match wait.resource() {
            Resource::Unknown => None,
            resource => Some(resource.to_string()),
        },
        "kind": object.map(|(kind, _)| kind.to_string()),
        "address": object.map(|(_, address)| format!("{address:#x}")),
        "role": role(wait),
        "by": by.collect::<Vec<_>>(),
        "by_more": of_wait.len().saturating_sub(MAX_FEW),
    })
}

/// Describes the first waits, those that other tasks end before the others.
fn waits(dump: &Dump, id: u64, sorted: &[Wait], max: usize) -> Vec<Value> {
    let first = sorted.iter().take(max);
    first.map(|one| wait(dump, id, one)).collect()
}

fn task_row(dump: &Dump, task: &TaskDump, max_waits: usize) -> Value {
    let sorted = task.sorted_waits();
    json!({
        "id": task.id(),
        "name": task.name().map(text),
        "span": task.span().map(text),
        "location": place(task.spawned_at()),
        "state": task.state().to_string(),
        "is_slow": task.longest_poll() >= SLOW,
        "age": task.age().as_secs_f64(),
        "since": task.time_in_state().as_secs_f64(),
        "polls": task.polls(),
        "busy": task.busy().as_secs_f64(),
        "longest": task.longest_poll().as_secs_f64(),
        "waits": waits(dump, task.id(), &sorted, max_waits),
        "waits_more": sorted.len().saturating_sub(max_waits),
    })
}

/// The tasks that a query selects.
pub(crate) fn tasks(dump: &Dump, query: &Query) -> Value {
    let page = query.select(dump);
    let Rows { rows, left_off } =
        Budget::new().rows(&page.tasks, MAX_ROWS, |task| task_row(dump, task, MAX_FEW));
    json!({
        "total": page.total,
        "matching": page.matching,
        "offset": query.offset,
        "tasks": rows,
        "left_off": left_off,
    })
}

/// One task: its row, its polls and wakes, and the tasks that wait for it. `None` if it has ended.
pub(crate) fn task(dump: &Dump, table: &TaskTable, id: u64) -> Option<Value> {
    let history = table.history(id)?;
    // The copy has edges for its waits. It may be older than the task.
    let task = match dump.task(id) {
        Some(task) => task.clone(),
        None => table.task(id)?,
    };
    let mut budget = Budget::new();
    let polls = budget.rows(history.polls(), usize::MAX, |poll| {
        let (cause, by) = cause(poll.cause());
        json!({
            "ago": poll.ago().as_secs_f64(),
            "time": poll.time().as_secs_f64(),
            "delay": poll.delay().as_secs_f64(),
            "cause": cause,
            "by": by.map(|by| who(dump, by)),
        })
    });
    let edges: Vec<&Edge> = dump.edges().iter().filter(|edge| edge.to() == id).collect();
    let waiters = budget.rows(&edges, MAX_WAITS, |edge| {
        let mut row = who(dump, edge.from());
        row["operation"] = edge.wait().operation().into();
        row["location"] = edge.wait().location().map(place).into();
        row["since"] = edge.location().map(place).into();
        row
    });
    let wakes = history.wakes();
    let last_wake = task.last_wake().map(|wake| {
        let (cause, by) = cause(PollCause::Woken(wake.by()));
        json!({
            "ago": wake.ago().as_secs_f64(),
            "cause": cause,
            "by": by.map(|by| who(dump, by)),
        })
    });
    Some(json!({
        "task": task_row(dump, &task, usize::MAX),
        "group": format!("{:x}", task.group_key()),
        "polls": polls.rows,
        "wakes": {
            "tasks": wakes.by_tasks,
            "driver": wakes.by_driver,
            "other": wakes.by_other,
            "self": wakes.during_polls,
        },
        "wakers": task.wakers(),
        "last_wake": last_wake,
        "thread": history.last_thread().map(text),
        "mean_delay": history.mean_delay().as_secs_f64(),
        "longest_delay": history.longest_delay().as_secs_f64(),
        "waiters": waiters.rows,
        "waiters_more": waiters.left_off,
    }))
}

/// Returns the cause of a poll in words, and the task that is the cause.
fn cause(cause: PollCause) -> (&'static str, Option<u64>) {
    match cause {
        PollCause::Spawn => ("spawned", None),
        PollCause::WokenDuringPoll => ("woken during the poll before", None),
        PollCause::Woken(WokenBy::Task(task)) => ("woken by", Some(task)),
        PollCause::Woken(WokenBy::Driver) => ("woken by the driver", None),
        _ => ("woken by code outside tasks", None),
    }
}

/// The groups of tasks, the largest first.
pub(crate) fn groups(dump: &Dump) -> Value {
    let mut groups = dump.groups();
    groups.sort_by_key(|group| Reverse(group.tasks().len()));
    let Rows { rows, left_off } = Budget::new().rows(&groups, MAX_ROWS, |group| {
        let first = group.first();
        let times = || group.tasks().iter().map(|task| task.time_in_state());
        let named = group.tasks().iter().take(MAX_FEW);
        json!({
            "key": format!("{:x}", group.key()),
            "count": group.tasks().len(),
            "location": place(first.spawned_at()),
            "state": first.state().to_string(),
            "shortest": times().min().unwrap_or_default().as_secs_f64(),
            "longest": times().max().unwrap_or_default().as_secs_f64(),
            "waits": group_waits(dump, group),
            "spans": few_spans(group),
            "tasks": named.map(|task| who(dump, task.id())).collect::<Vec<_>>(),
        })
    });
    json!({ "total": groups.len(), "groups": rows, "left_off": left_off })
}

fn few_spans(group: &TaskGroup<'_>) -> Vec<Value> {
    let spans = group.spans().into_iter().take(MAX_FEW);
    spans
        .map(|(span, count)| json!([text(span), count]))
        .collect()
}

fn group_waits(dump: &Dump, group: &TaskGroup<'_>) -> Vec<Value> {
    let first = group.first().id();
    let waits = group.waits().iter().take(MAX_FEW).map(|(one, is_shared)| {
        let mut row = wait(dump, first, one);
        row["is_shared"] = (*is_shared).into();
        row
    });
    waits.collect()
}

/// The locks, channels and other objects that tasks wait for.
pub(crate) fn resources(dump: &Dump) -> Value {
    let resources = dump.resources();
    let mut budget = Budget::new();
    let Rows { rows, left_off } = budget.rows(&resources, MAX_ROWS, |resource| {
        resource_row(dump, resource)
    });
    json!({ "total": resources.len(), "resources": rows, "left_off": left_off })
}

fn resource_row(dump: &Dump, resource: &ResourceDump) -> Value {
    let users = resource.users().iter().take(MAX_WAITS).map(|user| {
        let mut row = match user.task() {
            Some(id) => who(dump, id),
            None => json!({ "task": null, "label": "code outside tasks", "name": null }),
        };
        row["role"] = match user.role() {
            Role::Sender => "sends",
            Role::Receiver => "receives",
            _ => "holds it",
        }
        .into();
        row["since"] = user.location().map(place).into();
        row
    });
    let waiters = resource.waiters().iter().take(MAX_WAITS);
    let waiter = |waiter: &ResourceWaiter| {
        let mut row = who(dump, waiter.task());
        row["operation"] = waiter.wait().operation().into();
        row["location"] = waiter.wait().location().map(place).into();
        row["time"] = waiter.time().as_secs_f64().into();
        row
    };
    json!({
        "kind": resource.kind().to_string(),
        "address": format!("{:#x}", resource.address()),
        "users": users.collect::<Vec<_>>(),
        "users_more": resource.users().len().saturating_sub(MAX_WAITS),
        "count": resource.waiters().len(),
        "waiters": waiters.map(waiter).collect::<Vec<_>>(),
        "waiters_more": resource.waiters().len().saturating_sub(MAX_WAITS),
    })
}

/// The deadlocks, and the tasks that others wait for, the most awaited first.
pub(crate) fn waits_graph(dump: &Dump) -> Value {
    let mut budget = Budget::new();
    let deadlocks = budget.rows(dump.deadlocks(), MAX_WAITS, |deadlock| {
        json!({
            "is_suspected": deadlock.is_suspected(),
            "count": deadlock.edges().len(),
            "edges": sentences(deadlock.edges()),
            "text": display(deadlock, MAX_DEADLOCK),
        })
    });
    let mut waiters: BTreeMap<u64, Vec<Edge>> = BTreeMap::new();
    for edge in dump.edges() {
        waiters.entry(edge.to()).or_default().push(*edge);
    }
    let mut waiters: Vec<_> = waiters.into_iter().collect();
    waiters.sort_by_key(|(_, edges)| Reverse(edges.len()));
    let awaited = budget.rows(&waiters, MAX_WAITS, |(id, of_task)| {
        let mut row = who(dump, *id);
        let task = dump.task(*id);
        row["location"] = task.map(|task| place(task.spawned_at())).into();
        let sorted = task.map(TaskDump::sorted_waits).unwrap_or_default();
        row["waits"] = waits(dump, *id, &sorted, MAX_FEW).into();
        row["count"] = of_task.len().into();
        row["edges"] = sentences(of_task).into();
        row
    });
    json!({
        "deadlocks": deadlocks.rows,
        "awaited": awaited.rows,
        "total": waiters.len(),
    })
}

/// Describes the first edges in sentences.
fn sentences(edges: &[Edge]) -> Vec<String> {
    let first = edges.iter().take(MAX_WAITS);
    first.map(|edge| display(edge, MAX_SENTENCE)).collect()
}

/// Returns the beginning of the text of a value.
fn display(value: &dyn fmt::Display, max: usize) -> String {
    struct Beginning {
        text: String,
        max: usize,
    }
    impl fmt::Write for Beginning {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            if self.text.len() + part.len() > self.max {
                self.text.push('…');
                return Err(fmt::Error);
            }
            self.text.push_str(part);
            Ok(())
        }
    }
    let text = String::new();
    let mut beginning = Beginning { text, max };
    // The error is that of a long text.
    let _ = write!(beginning, "{value}");
    beginning.text
}

/// Bounds the texts of the groups of slow polls, and of all their stacks together.
pub(crate) fn slow(mut groups: Vec<Value>) -> Vec<Value> {
    let max_stack = MAX_BYTES / groups.len().max(1);
    for group in &mut groups {
        for field in [
            "frame", "frame_at", "name", "span", "location", "thread", "stack",
        ] {
            let max = if field == "stack" {
                max_stack
            } else {
                MAX_TEXT
            };
            if let Some(long) = group[field].as_str().filter(|long| long.len() > max) {
                group[field] = beginning(long, max).into();
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests;
