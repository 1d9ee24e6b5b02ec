//! Dumps of all tasks of a runtime.

#[cfg(unix)]
use std::fmt;
use std::sync::Arc;

use raddle_dump::{Dump, DumpError, TaskTable};

#[cfg(unix)]
use crate::runtime::tools::RunningStacks;
use crate::runtime::tools::{SpanListener, Tool, Tools};
use crate::runtime::{Builder, Handle};

/// Adds a table of tasks to the tools of a runtime.
fn start(tools: &mut Tools) -> TaskTable {
    let tasks = TaskTable::new();
    tools.observers.add_scheduler_observer(tasks.observer());
    tools.shared.add_span_listener(DumpSpans(tasks.clone()));
    tools.shared.add(tasks.clone());
    tasks
}

/// Returns the table of tasks of a runtime, which starts with the first tool that needs it.
pub(crate) fn table(tools: &mut Tools) -> TaskTable {
    if let Some(tasks) = tools.shared.get::<TaskTable>() {
        return tasks.clone();
    }
    start(tools)
}

/// Shows the spans of tasks in dumps.
struct DumpSpans(TaskTable);

impl SpanListener for DumpSpans {
    fn entered(&self, _: &'static str, span: &Arc<str>) {
        self.0.enter_span(span);
    }

    fn closed(&self, span: &Arc<str>, present: Option<&Arc<str>>) {
        self.0.close_span(span, present);
    }
}

impl Builder {
    /// Keeps a table of the tasks of each runtime that is built, so that [`Handle::dump`] can
    /// describe them. Default: no table.
    ///
    /// Each spawn, wake, poll and end of a task takes a lock and reads the clock while there is a
    /// table. Without one, nothing of this exists.
    pub fn enable_task_dumps(&mut self) -> &mut Self {
        let start = |tools: &mut Tools| {
            table(tools);
            Ok(())
        };
        self.tools.insert(Tool::TaskDumps, Arc::new(start));
        self
    }

    /// [Enables dumps](Self::enable_task_dumps), and prints one to standard error each time the
    /// process gets SIGQUIT (`kill -QUIT`, or Ctrl and backslash in a terminal). A separate thread
    /// prints it, even while all workers are stuck. On a runtime with a watchdog, the stacks of the
    /// polls and the blocking jobs that run follow. Default: SIGQUIT ends the process.
    ///
    /// SIGQUIT may be blocked, as in a program that reads signals from a descriptor: the thread
    /// unblocks it for itself.
    ///
    /// The thread ends when the runtime and all its handles are dropped. SIGQUIT does not end the
    /// process after that either. Each runtime that is built with this setting prints its own dump.
    ///
    /// [`build`](Self::build) fails if the system has no thread or descriptor for it.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().dump_tasks_on_sigquit().build()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(unix)]
    pub fn dump_tasks_on_sigquit(&mut self) -> &mut Self {
        let start_with_signal = |tools: &mut Tools| {
            let tasks = table(tools);
            let stacks = RunningStacks::default();
            tools.shared.add(stacks.clone());
            let write_stacks = move |text: &mut dyn fmt::Write| match stacks.0.get() {
                Some(write) => write(text),
                None => Ok(()),
            };
            // The thread prints until this value is dropped, with the last handle.
            tools.shared.add(tasks.print_on_sigquit(write_stacks)?);
            Ok(())
        };
        self.tools
            .insert(Tool::DumpOnSigquit, Arc::new(start_with_signal));
        self
    }
}

impl Handle {
    /// Describes every task of the runtime without polling any: id, name, spawn location, state,
    /// age, polls and their times, when and by what the task was last woken, and what it waits for.
    /// It needs no worker, so a thread outside the runtime can call it while all workers are stuck.
    ///
    /// The dump also has the futures of `block_on`, the wait-for graph and its deadlocks. The tasks
    /// of a [`LocalSet`](crate::task::LocalSet) and blocking work are not in it.
    ///
    /// # Errors
    ///
    /// [`DumpError`] if the runtime was built without
    /// [`enable_task_dumps`](Builder::enable_task_dumps) and without a live page.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::{Builder, dump::TaskState};
    ///
    /// let runtime = Builder::new_current_thread().enable_task_dumps().build()?;
    /// runtime.block_on(async {
    ///     let task = raddle::spawn(std::future::pending::<()>());
    ///     raddle::task::yield_now().await;
    ///     let dump = runtime.handle().dump().unwrap();
    ///     assert_eq!(dump.tasks()[0].state(), TaskState::Waiting);
    ///     print!("{dump}");
    ///     task.abort();
    /// });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn dump(&self) -> Result<Dump, DumpError> {
        let tasks = self.inner.tools.get();
        tasks
            .map(TaskTable::dump)
            .ok_or_else(DumpError::not_enabled)
    }
}
