//! Threads that take over workers. A test joins them at its end.

use std::sync::Arc;

use raddle_primitives::sync::Mutex;
use raddle_primitives::thread::{self, JoinHandle};
use raddle_sched::{Config, Handoff, Pool};

#[derive(Clone, Default)]
pub(crate) struct Handoffs {
    threads: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Handoffs {
    /// A pool whose workers can be handed off.
    pub(crate) fn pool(&self, config: Config) -> Pool {
        Pool::start(self.config(config), None).unwrap()
    }

    pub(crate) fn config(&self, config: Config) -> Config {
        let theirs = self.clone();
        Config {
            handoff: Some(Arc::new(move |handoff| theirs.start(handoff))),
            ..config
        }
    }

    fn start(&self, handoff: Handoff) {
        let thread = thread::spawn(move || handoff.run());
        self.threads.lock().push(thread);
    }

    /// How many handoffs were requested.
    pub(crate) fn count(&self) -> usize {
        self.threads.lock().len()
    }

    /// Joins all threads. Call it after the pool has shut down.
    pub(crate) fn join(&self) {
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            thread.join().unwrap();
        }
    }
}
