//! Work of a shape that programs have: skewed, forked and joined, fanned out and
//! in, handed along a chain.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::Countdown;
use crate::executors::Spawn;

/// How many rounds of arithmetic take about a microsecond.
pub const MICROSECOND: u64 = 1_000;

/// How many tasks the one producer of `skewed` spawns, and how many of them there
/// are for each that is long.
const SKEWED: usize = 2_000;
const SHORT_PER_LONG: usize = 200;
const LONG: u64 = 200 * MICROSECOND;

/// How deep the tree of `fork_join` is: it has 2 to this power leaves.
const DEPTH: u32 = 11;

/// How often `fan_out` spreads its work, and over how many tasks.
const FANS: usize = 50;
const FAN: usize = 64;

/// How many requests go down the chain of `request_chain` at once, how often each,
/// and how many tasks the chain has.
const CLIENTS: usize = 16;
const REQUESTS: usize = 50;
const LINKS: usize = 4;

/// Computes; nothing else.
pub fn burn(rounds: u64) {
    let mut state = black_box(1_u64);
    for _ in 0..rounds {
        state = state.wrapping_mul(6_364_136_223_846_793_005).rotate_left(7);
    }
    black_box(state);
}

/// One task spawns all the others, of which a few compute for long.
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

/// A task splits in two, and they again, and each waits for what it has spawned.
pub(super) async fn fork_join<S: Spawn>(spawner: S) {
    spawner.spawn_joined(tree(spawner, DEPTH)).await;
}

/// A tree that is so deep, with a microsecond of work at its leaves.
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

/// A task spreads work over others and gathers what they send back, again and
/// again.
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

/// What goes down a chain: where its answer goes.
pub type Request = oneshot::Sender<()>;

/// Spawns so many tasks, each of which hands what it gets to the next; the last
/// answers. They end when the sender is gone.
pub fn chain(spawner: impl Spawn, links: usize) -> mpsc::UnboundedSender<Request> {
    let (first, mut behind) = mpsc::unbounded_channel::<Request>();
    for _ in 1..links {
        let (sender, next) = mpsc::unbounded_channel();
        spawner.spawn(async move {
            while let Some(request) = behind.recv().await {
                burn(MICROSECOND);
                // If the next is gone, no task waits any more.
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

/// Clients send requests down a chain of tasks, each when the last was answered.
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
