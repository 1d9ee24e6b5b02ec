//! Several schedulers of one worker each, which are used as one:
//! `docs/policies.md`, `Sharded`.

use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};

use crate::config::Config;
use crate::driver::Driver;
use crate::handle::Handle;
use crate::id::Id;
use crate::policy::Order;
use crate::shared::Shared;
use crate::worker::Worker;

/// The schedulers of a sharded one, by the numbers of their workers.
pub(crate) struct Shards {
    all: Box<[Arc<Shared>]>,
    /// How many spawns came from outside.
    spawned: AtomicUsize,
}

impl Shards {
    /// Makes a scheduler for each driver.
    pub(crate) fn build(
        config: &Config,
        drivers: Vec<Option<Box<dyn Driver>>>,
    ) -> (Handle, Vec<Worker>) {
        let order = Order::from(config.policy);
        let id = Id::next();
        let mut workers = Vec::with_capacity(drivers.len());
        let mut all = Vec::with_capacity(drivers.len());
        for (number, driver) in drivers.into_iter().enumerate() {
            let config = Config {
                workers: 1,
                ..config.clone()
            };
            let (shared, worker) = Shared::new(id, number, config, driver, order);
            all.push(shared);
            workers.extend(worker);
        }
        let shards = Arc::new(Self {
            all: all.into(),
            spawned: AtomicUsize::new(0),
        });
        for worker in &workers {
            worker.join(&shards);
        }
        (Handle::of_shards(shards), workers)
    }

    pub(crate) fn all(&self) -> &[Arc<Shared>] {
        &self.all
    }

    /// The shard whose turn it is to get a task from outside: of those that
    /// have not ended, if there is any.
    pub(crate) fn next(&self) -> &Arc<Shared> {
        // ORDERING: any spread will do.
        let turn = self.spawned.fetch_add(1, Ordering::Relaxed);
        let (earlier, next) = self.all.split_at(turn % self.all.len());
        let mut in_turn = next.iter().chain(earlier);
        in_turn
            .find(|shard| !shard.is_closed())
            .unwrap_or(&self.all[0])
    }
}
