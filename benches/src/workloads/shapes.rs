//! Work in the shapes of real programs: skewed, fork-join, fan-out, and chains.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::Countdown;
use crate::executors::Spawn;

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

/// Computes, and does nothing else.
pub fn burn(rounds: u64) {
    let mut state = black_box(1_u64);
    for _ in 0..rounds {
        state = state.wrapping_mul(6_364_136_223_846_793_005).rotate_left(7);
    }
    black_box(state);
}

/// One task spawns all the others, a few of which compute for long.
pub(super) async fn skewed(spawner: impl Spawn) {
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
pub(super) async fn fork_join<S: Spawn>(spawner: S) {
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
pub(super) async fn fan_out(spawner: impl Spawn) {
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
pub(super) async fn request_chain(spawner: impl Spawn) {
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
