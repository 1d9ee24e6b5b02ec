//! Many spawns, joins and aborts.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::thread;

use raddle::runtime::Handle;
use raddle::task::{JoinSet, yield_now};

use crate::ledger::{Ledger, Ticket};
use crate::random::Random;

/// A counter for each id, so that each task runs once.
type Marks = Arc<[AtomicU32]>;

fn marks(count: usize) -> Marks {
    (0..count).map(|_| AtomicU32::new(0)).collect()
}

fn mark(marks: &Marks, id: usize) {
    assert_eq!(marks[id].fetch_add(1, SeqCst), 0, "{id} ran twice");
}

/// A task that spawns two of its kind and joins them, down to a depth.
fn tree(
    id: usize,
    marks: Marks,
    ticket: Ticket,
    ledger: Ledger,
) -> Pin<Box<dyn Future<Output = usize> + Send>> {
    Box::pin(async move {
        let mut children = Vec::new();
        for child in [2 * id + 1, 2 * id + 2] {
            if child < marks.len() {
                let subtree = tree(child, marks.clone(), ledger.ticket(), ledger.clone());
                children.push(raddle::spawn(subtree));
            }
        }
        if id % 3 == 0 {
            yield_now().await;
        }
        let mut size = 1;
        for child in children {
            size += child.await.unwrap();
        }
        mark(&marks, id);
        ticket.done();
        size
    })
}

async fn leaf(id: usize, yields: usize, marks: Marks, ticket: Ticket) {
    for _ in 0..yields {
        yield_now().await;
    }
    mark(&marks, id);
    ticket.done();
}

/// Bursts of spawns, some longer than a queue, from tasks and other threads; and trees of tasks.
pub(crate) fn spawns(random: &mut Random) {
    let runtime = random.runtime();
    let ledger = Ledger::default();
    let size = random.within(1, 2000);
    let root = tree(0, marks(size), ledger.ticket(), ledger.clone());
    let root = runtime.spawn(root);

    let bursts = marks(random.within(1, 3) * 1000);
    let outside: Vec<_> = (0..bursts.len() / 1000)
        .map(|thread| {
            let (handle, bursts, ledger) =
                (runtime.handle().clone(), bursts.clone(), ledger.clone());
            let mut random = random.split();
            thread::spawn(move || burst(thread, &handle, &bursts, &ledger, &mut random))
        })
        .collect();
    let joined = runtime.block_on(async {
        let size = root.await.unwrap();
        for thread in outside {
            // The threads may wait for the thread that runs this future.
            while !thread.is_finished() {
                yield_now().await;
            }
            for task in thread.join().unwrap() {
                task.await.unwrap();
            }
        }
        size
    });
    assert_eq!(joined, size);
    let expected = size + bursts.len();
    // Detached tasks complete as well.
    runtime.block_on(async {
        while ledger.done() < expected {
            yield_now().await;
        }
    });
    drop(runtime);
    ledger.check(expected);
}

/// Spawns a thousand tasks, and returns those that are to be joined.
fn burst(
    thread: usize,
    handle: &Handle,
    marks: &Marks,
    ledger: &Ledger,
    random: &mut Random,
) -> Vec<raddle::task::JoinHandle<()>> {
    let mut tasks = Vec::new();
    for id in 1000 * thread..1000 * (thread + 1) {
        let task = handle.spawn(leaf(id, random.below(3), marks.clone(), ledger.ticket()));
        match random.below(3) {
            0 => drop(task),
            _ => tasks.push(task),
        }
        if random.once_in(100) {
            thread::yield_now();
        }
    }
    tasks
}

/// Aborts from tasks and threads at any moment: the result of a join handle matches how the task
/// ended.
pub(crate) fn aborts(random: &mut Random) {
    let runtime = random.runtime();
    let ledger = Ledger::default();
    let completed = Arc::new(AtomicUsize::new(0));
    runtime.block_on(async {
        for _ in 0..random.within(1, 4) {
            let mut set = JoinSet::new();
            let mut aborts = Vec::new();
            let count = random.within(1, 200);
            for _ in 0..count {
                let (ticket, completed) = (ledger.ticket(), completed.clone());
                let (yields, endless) = (random.below(5), random.once_in(4));
                aborts.push(set.spawn(async move {
                    for _ in 0..yields {
                        yield_now().await;
                    }
                    if endless {
                        std::future::pending::<()>().await;
                    }
                    completed.fetch_add(1, SeqCst);
                    ticket.done();
                }));
            }
            let mut outside = random.split();
            let all = aborts.clone();
            let aborting = thread::spawn(move || {
                for abort in &aborts {
                    if outside.once_in(2) {
                        abort.abort();
                    }
                    if outside.once_in(10) {
                        thread::yield_now();
                    }
                }
            });
            for _ in 0..random.below(50) {
                all[random.below(count)].abort();
                yield_now().await;
            }
            while !aborting.is_finished() {
                yield_now().await;
            }
            // The remaining handles.
            all.iter().for_each(|abort| abort.abort());
            let before = completed.load(SeqCst);
            let mut outputs = 0;
            while let Some(joined) = set.join_next().await {
                match joined {
                    Ok(()) => outputs += 1,
                    Err(error) => assert!(error.is_cancelled(), "{error}"),
                }
            }
            let after = completed.load(SeqCst);
            assert!(outputs >= after - before, "an output was lost");
            assert!(all.iter().all(|abort| abort.is_finished()));
            assert_eq!(ledger.held(), 0, "an aborted future is still there");
        }
    });
    let completed = completed.load(SeqCst);
    drop(runtime);
    ledger.check(completed);
}
