//! The workloads of the scheduler, which are the same for each runtime.

mod shapes;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::sync::{Notify, oneshot};

use crate::executors::{Executor, Spawn};

pub use shapes::{MICROSECOND, Request, burn, chain, tree};

const CHAINED: usize = 1_000;
const PAIRS: usize = 1_000;
const SPAWNED: usize = 10_000;
const JOINED_AT_ONCE: usize = 100;
const YIELDING: usize = 200;
const YIELDS: usize = 1_000;

/// Defines the enum of the workloads from their list.
macro_rules! workloads {
    ($($(#[$doc:meta])+ $variant:ident, $name:literal: |$spawner:ident| $run:expr;)+) => {
        /// A workload, which is the same for every runtime.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Workload {
            $($(#[$doc])+ $variant,)+
        }

        impl Workload {
            /// Every workload, in the order of tables.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name in tables and on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Runs the workload once on `executor`, until all its tasks have completed.
            pub fn run(self, executor: &impl Executor) {
                let spawner = executor.spawner();
                match self {
                    $(Self::$variant => executor.block_on(async move {
                        let $spawner = spawner;
                        $run.await;
                    }),)+
                }
            }
        }
    };
}

workloads! {
    /// 1,000 tasks, each spawning the next.
    ChainedSpawn, "chained_spawn": |spawner| chained_spawn(spawner);
    /// 1,000 pairs of tasks exchanging two oneshots.
    PingPong, "ping_pong": |spawner| ping_pong(spawner);
    /// 10,000 empty tasks spawned from the thread of `block_on`.
    SpawnManyRemote, "spawn_many_remote": |spawner| spawn_many_remote(spawner);
    /// 10,000 empty tasks spawned from a task.
    SpawnManyLocal, "spawn_many_local": |spawner| spawn_many_local(spawner, SPAWNED);
    /// 10,000 empty tasks spawned and awaited in hundreds, from a task.
    SpawnJoin, "spawn_join": |spawner| spawn_join(spawner);
    /// 200 tasks waking themselves 1,000 times each.
    YieldMany, "yield_many": |spawner| yield_many(spawner, YIELDING, YIELDS);
    /// 2,000 tasks spawned from one; one in 200 is long.
    Skewed, "skewed": |spawner| shapes::skewed(spawner);
    /// A binary tree of tasks, each awaiting what it has spawned, with 2,048 leaves.
    ForkJoin, "fork_join": |spawner| shapes::fork_join(spawner);
    /// A task that spreads work over 64 others and gathers it, 50 times.
    FanOut, "fan_out": |spawner| shapes::fan_out(spawner);
    /// 16 clients sending 50 requests each down a chain of 4 tasks.
    RequestChain, "request_chain": |spawner| shapes::request_chain(spawner);
}

async fn chained_spawn(spawner: impl Spawn) {
    fn link(spawner: impl Spawn, countdown: Arc<Countdown>, left: usize) {
        if left == 0 {
            countdown.finish_one();
        } else {
            spawner.spawn(async move { link(spawner, countdown, left - 1) });
        }
    }

    let countdown = Countdown::new(1);
    link(spawner, Arc::clone(&countdown), CHAINED);
    countdown.wait().await;
}

async fn ping_pong(spawner: impl Spawn) {
    let countdown = Countdown::new(PAIRS);
    let finished = Arc::clone(&countdown);
    spawner.spawn(async move {
        for _ in 0..PAIRS {
            let countdown = Arc::clone(&countdown);
            spawner.spawn(async move {
                let (ping, pinged) = oneshot::channel();
                let (pong, ponged) = oneshot::channel();
                spawner.spawn(async move {
                    pinged.await.expect("the other task pings");
                    pong.send(()).expect("the other task waits");
                });
                ping.send(()).expect("the other task waits");
                ponged.await.expect("the other task answers");
                countdown.finish_one();
            });
        }
    });
    finished.wait().await;
}

/// Spawns `tasks` empty tasks from a task, and waits until all have completed.
pub fn spawn_all(executor: &impl Executor, tasks: usize) {
    let spawner = executor.spawner();
    executor.block_on(spawn_many_local(spawner, tasks));
}

/// Spawns `tasks` tasks that each wake themselves `yields` times, and waits until all have
/// completed.
pub fn yield_all(executor: &impl Executor, tasks: usize, yields: usize) {
    let spawner = executor.spawner();
    executor.block_on(yield_many(spawner, tasks, yields));
}

async fn spawn_many_remote(spawner: impl Spawn) {
    let countdown = Countdown::new(SPAWNED);
    spawn_many(spawner, SPAWNED, &countdown);
    countdown.wait().await;
}

async fn spawn_many_local(spawner: impl Spawn, tasks: usize) {
    let countdown = Countdown::new(tasks);
    let finished = Arc::clone(&countdown);
    spawner.spawn(async move { spawn_many(spawner, tasks, &countdown) });
    finished.wait().await;
}

fn spawn_many(spawner: impl Spawn, tasks: usize, countdown: &Arc<Countdown>) {
    for _ in 0..tasks {
        let countdown = Arc::clone(countdown);
        spawner.spawn(async move { countdown.finish_one() });
    }
}

async fn spawn_join(spawner: impl Spawn) {
    let countdown = Countdown::new(1);
    let finished = Arc::clone(&countdown);
    spawner.spawn(async move {
        let mut handles = Vec::with_capacity(JOINED_AT_ONCE);
        for _ in 0..SPAWNED / JOINED_AT_ONCE {
            handles.extend((0..JOINED_AT_ONCE).map(|_| spawner.spawn_joined(async {})));
            for handle in handles.drain(..) {
                handle.await;
            }
        }
        countdown.finish_one();
    });
    finished.wait().await;
}

async fn yield_many(spawner: impl Spawn, tasks: usize, yields: usize) {
    let countdown = Countdown::new(tasks);
    for _ in 0..tasks {
        let countdown = Arc::clone(&countdown);
        spawner.spawn(async move {
            Yields(yields).await;
            countdown.finish_one();
        });
    }
    countdown.wait().await;
}

/// Notifies one waiting task when a given number of tasks have finished.
struct Countdown {
    left: AtomicUsize,
    done: Notify,
}

impl Countdown {
    fn new(count: usize) -> Arc<Self> {
        Arc::new(Self {
            left: AtomicUsize::new(count),
            done: Notify::new(),
        })
    }

    fn finish_one(&self) {
        // ORDERING: Relaxed: only counts; `done` synchronizes with the waiting task.
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.done.notify_one();
        }
    }

    async fn wait(&self) {
        self.done.notified().await;
    }
}

/// Wakes itself and yields to the worker, a number of times.
struct Yields(usize);

impl Future for Yields {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
