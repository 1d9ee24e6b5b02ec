//! A runtime for tests: a pool of one thread and a minimal executor.

use std::cell::RefCell;

use raddle_blocking::{Config, Handle, Job, Pool};
use raddle_task::Runnable;
use raddle_task::blocking::{self, BlockingTask, SubmitError};

thread_local! {
    static CURRENT: RefCell<Option<Handle<Task>>> = const { RefCell::new(None) };
}

/// A blocking task as a job.
struct Task(Runnable);

impl Job for Task {
    fn run(self) {
        drop(self.0.run());
    }
}

/// A pool of one thread.
pub(super) struct Runtime(Pool<Task>);

impl Runtime {
    pub(super) fn new() -> Self {
        Self::with_stack_size(None)
    }

    pub(super) fn with_stack_size(stack_size: Option<usize>) -> Self {
        blocking::set_submit(submit);
        Self(Pool::new(Config {
            max_threads: 1,
            stack_size,
            ..Config::default()
        }))
    }

    pub(super) fn handle(&self) -> RuntimeHandle {
        RuntimeHandle(self.0.handle().clone())
    }

    pub(super) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle().enter(|| raddle_testing::block_on(future))
    }
}

/// A handle of the runtime, usable after its shutdown.
pub(super) struct RuntimeHandle(Handle<Task>);

impl RuntimeHandle {
    pub(super) fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        CURRENT.set(Some(self.0.clone()));
        let result = f();
        CURRENT.set(None);
        result
    }
}

fn submit(task: BlockingTask) -> Result<(), SubmitError> {
    let is_mandatory = task.is_mandatory();
    let task = Task(task.into_runnable());
    let Some(pool) = CURRENT.with_borrow(Clone::clone) else {
        return Err(SubmitError::no_runtime(task.0, "no runtime".to_owned()));
    };
    let submitted = match is_mandatory {
        true => pool.submit_mandatory(task),
        false => pool.submit(task),
    };
    submitted.map_err(|refused| {
        let reason = refused.to_string();
        match refused.is_no_thread() {
            true => SubmitError::no_thread(refused.into_job().0, reason),
            false => SubmitError::shut_down(refused.into_job().0, reason),
        }
    })
}
