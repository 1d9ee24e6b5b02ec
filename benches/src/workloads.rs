//! The workloads of the scheduler, which are the same for each runtime.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use tokio::sync::{Notify, mpsc, oneshot};

use crate::executors::{Executor, Spawn};

const CHAINED: usize = 1_000;
const PAIRS: usize = 1_000;
const SPAWNED: usize = 10_000;
const JOINED_AT_ONCE: usize = 100;
const YIELDING: usize = 200;
const YIELDS: usize = 1_000;

/// The number of rounds of arithmetic that take about a microsecond.
pub const MICROSECOND: u64 = 1_000;

/// The number of tasks that the producer of `skewed` spawns, and the number of short tasks per long
/// task.
const SKEWED: usize = 2_000;
const SHORT_PER_LONG: usize = 200;
const LONG: u64 = 200 * MICROSECOND;

/// The depth of the tree of `fork_join`, which has 2 to the power of this leaves.
const DEPTH: u32 = 11;

/// The number of times that `fan_out` spreads its work, and the number of tasks.
const FANS: usize = 50;
const FAN: usize = 64;

/// The number of clients that send requests down the chain at once, the number of requests of each,
/// and the number of tasks in the chain.
const CLIENTS: usize = 16;
const REQUESTS: usize = 50;
const LINKS: usize = 4;

/// The names of all workloads, in the order of tables.
#[rustfmt::skip]
pub const WORKLOADS: [&str; 10] = [
    "chained_spawn", "ping_pong", "spawn_many_remote", "spawn_many_local", "spawn_join",
    "yield_many", "skewed", "fork_join", "fan_out", "request_chain",
];

/// Runs a workload once on `executor`, until all its tasks have completed.
pub fn run(workload: &str, executor: &impl Executor) {
    let (on, spawner) = (executor, executor.spawner());
    match workload {
        // 1,000 tasks, each spawning the next.
        "chained_spawn" => on.block_on(chained_spawn(spawner)),
        // 1,000 pairs of tasks exchanging two oneshots.
        "ping_pong" => on.block_on(ping_pong(spawner)),
        // 10,000 empty tasks spawned from the thread of `block_on`.
        "spawn_many_remote" => on.block_on(spawn_many_remote(spawner)),
        // 10,000 empty tasks spawned from a task.
        "spawn_many_local" => on.block_on(spawn_many_local(spawner, SPAWNED)),
        // 10,000 empty tasks spawned and awaited in hundreds, from a task.
        "spawn_join" => on.block_on(spawn_join(spawner)),
        // 200 tasks waking themselves 1,000 times each.
        "yield_many" => on.block_on(yield_many(spawner, YIELDING, YIELDS)),
        // 2,000 tasks spawned from one; one in 200 is long.
        "skewed" => on.block_on(skewed(spawner)),
        // A binary tree of tasks, each awaiting what it has spawned, with 2,048 leaves.
        "fork_join" => on.block_on(fork_join(spawner)),
        // A task that spreads work over 64 others and gathers it, 50 times.
        "fan_out" => on.block_on(fan_out(spawner)),
        // 16 clients sending 50 requests each down a chain of 4 tasks.
        "request_chain" => on.block_on(request_chain(spawner)),
        other => panic!("there is no workload {other}"),
    }
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

async fn spawn_many_remote(spawner: impl Spawn) {
    let countdown = Countdown::new(SPAWNED);
    spawn_many(spawner, SPAWNED, &countdown);
    countdown.wait().await;
}

/// Spawns `tasks` empty tasks from a task, and waits until all have completed.
pub async fn spawn_many_local(spawner: impl Spawn, tasks: usize) {
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

/// Spawns `tasks` tasks that each wake themselves `yields` times, and waits until all have
/// completed.
pub async fn yield_many(spawner: impl Spawn, tasks: usize, yields: usize) {
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

/// Computes, and does nothing else.
pub fn burn(rounds: u64) {
    let mut state = black_box(1_u64);
    for _ in 0..rounds {
        state = state.wrapping_mul(6_364_136_223_846_793_005).rotate_left(7);
    }
    black_box(state);
}

/// One task spawns all the others, a few of which compute for long.
async fn skewed(spawner: impl Spawn) {
    let countdown = Countdown::new(SKEWED);
    let finished = Arc::clone(&countdown);
    spawner.spawn(async move {
        for task in 0..SKEWED {
            let countdown = Arc::clone(&countdown);
            spawner.spawn(async move {
                burn(match task % SHORT_PER_LONG {
                    0 => LONG,
                    _ => MICROSECOND,
                });
                countdown.finish_one();
            });
        }
    });
    finished.wait().await;
}

/// A task spawns two tasks, which do the same, and each waits for those that it has spawned.
async fn fork_join<S: Spawn>(spawner: S) {
    spawner.spawn_joined(tree(spawner, DEPTH)).await;
}

/// A tree of this depth, with a microsecond of work at its leaves.
pub fn tree<S: Spawn>(spawner: S, depth: u32) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        if depth == 0 {
            burn(MICROSECOND);
            return;
        }
        let other = spawner.spawn_joined(tree(spawner, depth - 1));
        tree(spawner, depth - 1).await;
        other.await;
    })
}

/// Repeatedly, a task spreads work over others and gathers the results.
async fn fan_out(spawner: impl Spawn) {
    let spread = async move {
        let (results, mut gathered) = mpsc::unbounded_channel();
        for _ in 0..FANS {
            for part in 0..FAN {
                let results = results.clone();
                spawner.spawn(async move {
                    burn(MICROSECOND);
                    results.send(part).expect("the results are gathered");
                });
            }
            for _ in 0..FAN {
                gathered.recv().await.expect("a sender is kept");
            }
        }
    };
    spawner.spawn_joined(spread).await;
}

/// A request that goes down a chain: the sender of its answer.
pub type Request = oneshot::Sender<()>;

/// Spawns tasks of which each passes its requests to the next; the last one answers. They complete
/// when the sender is dropped.
pub fn chain(spawner: impl Spawn, links: usize) -> mpsc::UnboundedSender<Request> {
    let (first, mut behind) = mpsc::unbounded_channel::<Request>();
    for _ in 1..links {
        let (sender, next) = mpsc::unbounded_channel();
        spawner.spawn(async move {
            while let Some(request) = behind.recv().await {
                burn(MICROSECOND);
                // If the next task has completed, no task waits for the answer any more.
                let _ = sender.send(request);
            }
        });
        behind = next;
    }
    spawner.spawn(async move {
        while let Some(request) = behind.recv().await {
            burn(MICROSECOND);
            let _ = request.send(());
        }
    });
    first
}

/// Clients send requests down a chain of tasks, each after the last was answered.
async fn request_chain(spawner: impl Spawn) {
    let first = chain(spawner, LINKS);
    let countdown = Countdown::new(CLIENTS);
    for _ in 0..CLIENTS {
        let (first, countdown) = (first.clone(), Arc::clone(&countdown));
        spawner.spawn(async move {
            for _ in 0..REQUESTS {
                let (request, answer) = oneshot::channel();
                first.send(request).expect("the chain is there");
                answer.await.expect("the chain answers");
            }
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
