//! Dumps of all tasks of a runtime.

use std::error::Error;
use std::fmt;
use std::io;
#[cfg(unix)]
use std::sync::Arc;

use raddle_dump::{Dump, Tasks};

use crate::runtime::observers::Observers;
use crate::runtime::{Builder, Handle};

/// Whether a builder's runtimes have dumps.
#[derive(Clone, Default)]
pub(super) struct Settings {
    is_enabled: bool,
    #[cfg(unix)]
    prints_on_sigquit: bool,
}

/// The table of a runtime's tasks, if it has dumps.
#[derive(Clone, Default)]
pub(crate) struct Attached {
    tasks: Option<Tasks>,
    /// Held for its drop.
    #[cfg(unix)]
    _printing: Option<Arc<raddle_dump::Printing>>,
}

/// The runtime has no task dumps.
///
/// # Examples
///
/// ```
/// use raddle::runtime::Runtime;
///
/// let runtime = Runtime::new()?;
/// let error = runtime.handle().dump().unwrap_err();
/// assert!(error.to_string().contains("Builder::enable_task_dumps"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct DumpError(());

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no task dumps on this runtime; call Builder::enable_task_dumps")
    }
}

impl Error for DumpError {}

impl Settings {
    /// Makes the table of a runtime, which observes it.
    pub(super) fn attach(&self, observers: &mut Observers) -> io::Result<Attached> {
        let tasks = self.is_enabled.then(Tasks::new);
        if let Some(tasks) = &tasks {
            observers.add_of_tasks(tasks.observer());
        }
        #[cfg(unix)]
        let printing = match &tasks {
            Some(tasks) if self.prints_on_sigquit => Some(Arc::new(tasks.print_on_sigquit()?)),
            _ => None,
        };
        Ok(Attached {
            tasks,
            #[cfg(unix)]
            _printing: printing,
        })
    }
}

impl Builder {
    /// Keeps a table of the tasks of each runtime that is built, so that [`Handle::dump`] can
    /// describe them. Default: no table.
    ///
    /// Each spawn, wake, poll and end of a task takes a lock and reads the clock while there is a
    /// table. Without one, nothing of this exists.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().enable_task_dumps().build()?;
    /// assert!(runtime.handle().dump().is_ok());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn enable_task_dumps(&mut self) -> &mut Self {
        self.dumps.is_enabled = true;
        self
    }

    /// [Enables dumps](Self::enable_task_dumps), and prints one to standard error each time the
    /// process gets SIGQUIT (`kill -QUIT`, or Ctrl and backslash in a terminal). A thread of its
    /// own prints it, also while all workers are stuck. Default: SIGQUIT ends the process.
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
    /// let runtime = Builder::new_current_thread().dump_tasks_on_sigquit().build()?;
    /// assert!(runtime.handle().dump().is_ok());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(unix)]
    pub fn dump_tasks_on_sigquit(&mut self) -> &mut Self {
        self.dumps.prints_on_sigquit = true;
        self.enable_task_dumps()
    }
}

impl Handle {
    /// Describes every task of the runtime without polling any: id, name, spawn location, state,
    /// age, polls and their times, when and by what the task was last woken, and what it waits
    /// for. It needs no worker, so a thread outside the runtime can call it while all workers are
    /// stuck.
    ///
    /// The dump has the futures of `block_on`, the wait-for graph and its deadlocks, too. The tasks
    /// of a [`LocalSet`](crate::task::LocalSet) and blocking work are not in it.
    ///
    /// # Errors
    ///
    /// [`DumpError`] if the runtime was built without
    /// [`enable_task_dumps`](Builder::enable_task_dumps).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::{Builder, dump::State};
    ///
    /// let runtime = Builder::new_current_thread().enable_task_dumps().build()?;
    /// runtime.block_on(async {
    ///     let task = raddle::spawn(std::future::pending::<()>());
    ///     raddle::task::yield_now().await;
    ///     let dump = runtime.handle().dump().unwrap();
    ///     assert_eq!(dump.tasks()[0].state(), State::Waiting);
    ///     print!("{dump}");
    ///     task.abort();
    /// });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn dump(&self) -> Result<Dump, DumpError> {
        let tasks = self.inner.dumps.tasks.as_ref();
        tasks.map(Tasks::dump).ok_or(DumpError(()))
    }
}
