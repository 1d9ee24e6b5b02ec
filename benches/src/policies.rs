//! Raddle under each policy of its scheduler, and loads on which the policies differ.

use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream};
use raddle::runtime::{Builder, Policy, Runtime};
use raddle::task::{JoinHandle, yield_now};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::executors::RaddleSpawner;
use crate::workloads::{MICROSECOND, burn, tree};

/// The policies, by their names in tables.
pub const POLICIES: [(&str, Policy); 3] = [
    ("WorkStealing", Policy::WorkStealing),
    ("Shared", Policy::Shared),
    ("Sharded", Policy::Sharded),
];

/// A multi-thread runtime of a policy, with sockets and timers.
pub fn runtime(policy: Policy, workers: usize) -> Runtime {
    let runtime = Builder::new_multi_thread()
        .worker_threads(workers)
        .scheduler(policy)
        .enable_all()
        .build();
    runtime.expect("raddle starts")
}

/// The number of tasks of the loads that compute.
const TASKS: usize = 64;
/// The number of polls of a task, and of a long task.
const POLLS: usize = 50;
const LONG: usize = 8 * POLLS;
/// The depth of the tree of `fork_join`, which has 2 to the power of this leaves.
const DEPTH: u32 = 12;
/// The number of messages that the tasks of a pair exchange.
const MESSAGES: usize = 100;
const CONNECTIONS: usize = 16;
const REQUESTS: usize = 100;

/// A load: its name in tables, and the function that runs it once on a runtime of the given policy.
pub type Load = (&'static str, fn(&Runtime, Policy));

/// Loads that differ.
pub const LOADS: [Load; 7] = [
    ("even", |runtime, _| compute(runtime, |_, _| POLLS)),
    ("skewed", |runtime, _| {
        compute(runtime, |task, workers| match task % workers {
            0 => LONG,
            _ => POLLS,
        });
    }),
    ("fork-join", |runtime, _| {
        let root = runtime.spawn(tree(RaddleSpawner, DEPTH));
        runtime.block_on(root).unwrap();
    }),
    ("pairs, together", |runtime, _| {
        let pairs = (0..TASKS).map(|_| {
            runtime.spawn(async {
                let (here, there) = ends();
                let other = raddle::spawn(pass(there));
                pass(here).await;
                other.await.unwrap();
            })
        });
        join(runtime, pairs.collect());
    }),
    ("pairs, apart", |runtime, _| {
        let pairs = (0..TASKS).flat_map(|_| {
            let (here, there) = ends();
            [runtime.spawn(pass(here)), runtime.spawn(pass(there))]
        });
        join(runtime, pairs.collect());
    }),
    ("I/O", |runtime, policy| io(runtime, policy, 0)),
    ("I/O, computing", |runtime, policy| {
        io(runtime, policy, 20 * MICROSECOND);
    }),
];

fn join(runtime: &Runtime, tasks: Vec<JoinHandle<()>>) {
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// Runs tasks that compute. `polls` returns the number of polls of a task from its index and the
/// number of workers.
fn compute(runtime: &Runtime, polls: fn(usize, usize) -> usize) {
    let workers = runtime.metrics().num_workers();
    let tasks = (0..TASKS).map(|task| {
        let polls = polls(task, workers);
        runtime.spawn(async move {
            for _ in 0..polls {
                burn(MICROSECOND);
                yield_now().await;
            }
        })
    });
    join(runtime, tasks.collect());
}

type End = (UnboundedSender<()>, UnboundedReceiver<()>);

/// Returns the two ends of a connection between two tasks.
fn ends() -> (End, End) {
    let (to_there, from_here) = unbounded_channel();
    let (to_here, from_there) = unbounded_channel();
    ((to_there, from_there), (to_here, from_here))
}

/// Repeatedly sends a message and waits for the answer.
async fn pass((out, mut back): End) {
    for _ in 0..MESSAGES {
        out.send(()).unwrap();
        back.recv().await.unwrap();
    }
}

/// Runs connections whose two ends are tasks: one asks, the other computes and answers. Under the
/// sharded policy, the connections are distributed over the shards.
fn io(runtime: &Runtime, policy: Policy, computing: u64) {
    let workers = runtime.metrics().num_workers();
    let connections = (0..CONNECTIONS).map(|connection| match policy {
        Policy::Sharded => runtime
            .handle()
            .spawn_on(connection % workers, move || ask(computing)),
        _ => runtime.spawn(ask(computing)),
    });
    join(runtime, connections.collect());
}

async fn ask(computing: u64) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut near = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    let (mut far, _) = listener.accept().await.unwrap();
    let answering = raddle::spawn(async move {
        let mut request = [0; 64];
        while far.read_exact(&mut request).await.is_ok() {
            burn(computing);
            far.write_all(&request).await.unwrap();
        }
    });
    let mut answer = [0; 64];
    for _ in 0..REQUESTS {
        near.write_all(&[7; 64]).await.unwrap();
        near.read_exact(&mut answer).await.unwrap();
    }
    drop(near);
    answering.await.unwrap();
}
