//! Workers on threads of their own.

use std::fmt;
use std::io;
use std::time::Duration;

use raddle_std::thread::{self, JoinHandle};

use crate::config::Config;
use crate::driver::Driver;
use crate::handle::Handle;
use crate::shared::Shared;
use crate::worker::Worker;

/// A pool of worker threads.
///
/// Dropping it shuts it down and waits: see [`shutdown`](Self::shutdown).
pub struct Pool {
    handle: Handle,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// Starts `config.workers` threads. They share the driver: the one that
    /// has it waits in it, the others sleep.
    ///
    /// # Errors
    ///
    /// If the system refuses a thread; those already started have ended then.
    ///
    /// # Panics
    ///
    /// If the number of workers or an interval is zero.
    pub fn start(config: Config, driver: Option<Box<dyn Driver>>) -> io::Result<Self> {
        let (shared, workers) = Shared::new(config, driver, true);
        let mut pool = Self {
            handle: Handle::new(shared),
            threads: Vec::with_capacity(workers.len()),
        };
        for worker in workers {
            let thread = pool.start_thread(worker)?;
            pool.threads.push(thread);
        }
        Ok(pool)
    }

    fn start_thread(&self, mut worker: Worker) -> io::Result<JoinHandle<()>> {
        let config = &self.handle.shared().config;
        let mut builder = thread::Builder::new().name((config.thread_name)());
        if let Some(size) = config.thread_stack_size {
            builder = builder.stack_size(size);
        }
        let handle = self.handle.clone();
        builder
            .spawn(move || {
                let around = handle.shared().config.around_worker.clone();
                let _current = handle.enter();
                match around {
                    Some(around) => around(&mut || worker.run()),
                    None => worker.run(),
                }
            })
            .map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!("the system refused a worker thread: {error}; ask for fewer workers"),
                )
            })
    }

    /// A reference to the pool.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Ends the pool: every task is dropped, on a worker, when its present
    /// poll returns. Waits for that, for at most `wait` if given; zero does not
    /// wait. Whether the pool has ended.
    pub fn shutdown(&mut self, wait: Option<Duration>) -> bool {
        self.handle.shared().close();
        if !self.handle.shared().wait_for_finish(wait) {
            // The threads end by themselves when their polls do.
            self.threads.clear();
            return false;
        }
        for thread in self.threads.drain(..) {
            // A worker that panicked, by a hook, has said so.
            let _ = thread.join();
        }
        true
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            self.shutdown(None);
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pool").field(&self.handle).finish()
    }
}
