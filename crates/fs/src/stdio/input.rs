//! The thread that reads the standard input.
//!
//! A read of a terminal or a pipe may wait forever, and nothing can stop it. If it ran on a thread
//! of a runtime's pool, the shutdown of the runtime would wait for it. The process therefore has a
//! pool of one thread for the standard input, which no runtime owns and no shutdown waits for: it
//! ends with the process. The thread starts with the first read, and exits when it has been idle.

use std::sync::{Arc, OnceLock};

use raddle_blocking::{Config, Job, Pool};
use raddle_task::Runnable;
use raddle_task::blocking::{BlockingTask, SubmitError};

/// Submits a read of the standard input to its thread.
pub(super) fn submit(task: BlockingTask) -> Result<(), SubmitError> {
    static POOL: OnceLock<Pool<Read>> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        Pool::new(Config {
            max_threads: 1,
            thread_name: Arc::new(|| "raddle-stdin".to_owned()),
            ..Config::default()
        })
    });
    pool.handle()
        .submit(Read(task.into_runnable()))
        .map_err(|refused| {
            let reason = refused.to_string();
            SubmitError::no_thread(refused.into_job().0, reason)
        })
}

struct Read(Runnable);

impl Job for Read {
    fn run(self) {
        drop(self.0.run());
    }
}
