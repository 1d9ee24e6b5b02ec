//! The loads. All but one grow with the number of workers.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use crate::driver::Events;
use crate::rng::Rng;

/// A load: its name in tables, and the function that spawns its tasks.
pub type Load = (&'static str, fn(&mut Context) -> Box<dyn Body>);

/// All loads.
pub const LOADS: [Load; 7] = [
    // One task per worker spawns 16 tasks in each of 16 polls.
    ("spawn storm", |context| {
        storm(context.workers, BATCH * BATCHES)
    }),
    // A single task spawns 16 tasks in each poll, 4,096 in all.
    ("one spawner", |_| storm(1, ONE_SPAWNS)),
    // A binary tree of tasks with 128 leaves per worker. Each task awaits the tasks that it has
    // spawned.
    ("fork-join", |context| tree(LEAVES * context.workers)),
    // Servers at 5 % of the workers' capacity: requests come as events of the driver, and each
    // takes three polls of two tasks.
    ("servers at 5 %", |context| Servers::start(context, 0.05)),
    ("servers at 90 %", |context| Servers::start(context, 0.9)),
    // Two tasks per worker. Each exchanges messages with every other task, with two at a time.
    ("ping-pong", |context| tournament(2 * context.workers)),
    // Eight waiting tasks per worker. In each round code outside wakes a quarter as many tasks as
    // there are workers.
    ("wakes from outside", |context| Sleepers::start(context)),
];

/// What a load needs for its run.
pub struct Context {
    workers: usize,
    pub(crate) events: Events,
    rng: Rng,
}

/// A running load.
pub trait Body {
    /// Does what happens outside the workers after one of the first [`ROUNDS`] rounds.
    fn act_outside(&mut self, context: &mut Context);

    /// Whether the load is done after a number of rounds.
    fn is_done(&self, rounds: u64) -> bool;
}

/// The number of rounds in which requests and wake-ups come.
pub(crate) const ROUNDS: u64 = 1_000;
/// The number of tasks that a spawner spawns in a poll, and the number of such polls of a spawner.
const BATCH: usize = 16;
const BATCHES: usize = 16;
/// The number of tasks that a single spawner spawns.
const ONE_SPAWNS: usize = 4_096;
const LEAVES: usize = 128;
/// The number of connections per worker.
const CONNECTIONS: usize = 8;
const POLLS_OF_A_REQUEST: f64 = 3.0;
/// The least number of messages that each worker receives on average.
const MESSAGES: usize = 256;
/// The number of tasks per worker that wait to be woken from outside.
const WAITING: usize = 8;
const OUTSIDE_RATE: f64 = 0.25;

impl Context {
    pub(crate) fn new(workers: usize, events: Events, seed: u64) -> Self {
        Self {
            workers,
            events,
            rng: Rng::new(seed),
        }
    }
}

/// Yields once.
async fn yield_once() {
    let mut yielded = false;
    poll_fn(|cx| match std::mem::replace(&mut yielded, true) {
        true => Poll::Ready(()),
        false => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

/// Counts unfinished tasks down to zero.
#[derive(Clone)]
struct Remaining(Arc<AtomicUsize>);

impl Remaining {
    fn new(count: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(count)))
    }

    fn done(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A load without actions from outside.
impl Body for Remaining {
    fn act_outside(&mut self, _: &mut Context) {}

    fn is_done(&self, _: u64) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

fn storm(spawners: usize, each: usize) -> Box<dyn Body> {
    let left = Remaining::new(spawners * (each + 1));
    for _ in 0..spawners {
        let left = left.clone();
        let spawner = async move {
            for _ in 0..each / BATCH {
                for _ in 0..BATCH {
                    let left = left.clone();
                    drop(raddle_sched::spawn(async move { left.done() }));
                }
                yield_once().await;
            }
            left.done();
        };
        drop(raddle_sched::spawn(spawner));
    }
    Box::new(left)
}

fn tree(leaves: usize) -> Box<dyn Body> {
    let left = Remaining::new(1);
    let done = left.clone();
    drop(raddle_sched::spawn(async move {
        branch(leaves).await;
        done.done();
    }));
    Box::new(left)
}

fn branch(leaves: usize) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        if leaves > 1 {
            let first = raddle_sched::spawn(branch(leaves / 2));
            let second = raddle_sched::spawn(branch(leaves - leaves / 2));
            for half in [first, second] {
                half.await.expect("a branch does not panic");
            }
        }
    })
}

/// An inbox in which one task waits for messages of others.
#[derive(Default)]
struct Inbox(Mutex<(usize, Option<Waker>)>);

impl Inbox {
    /// Sends one message.
    fn send(&self) {
        let waker = {
            let mut inbox = self.0.lock().unwrap();
            inbox.0 += 1;
            inbox.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits for one message and takes it.
    async fn receive(&self) {
        poll_fn(|cx| {
            let mut inbox = self.0.lock().unwrap();
            if inbox.0 > 0 {
                inbox.0 -= 1;
                return Poll::Ready(());
            }
            inbox.1 = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Adds one message, and returns the waker of the waiting task.
    fn add_message(&self) -> Option<Waker> {
        let mut inbox = self.0.lock().unwrap();
        let waker = inbox.1.take()?;
        inbox.0 += 1;
        Some(waker)
    }
}

struct Servers {
    connections: Vec<Arc<Inbox>>,
    /// The number of requests per round.
    rate: f64,
    under_way: Arc<AtomicUsize>,
}

impl Servers {
    fn start(context: &Context, load: f64) -> Box<dyn Body> {
        let under_way = Arc::new(AtomicUsize::new(0));
        let connections = (0..CONNECTIONS * context.workers)
            .map(|_| Self::connection(under_way.clone()))
            .collect();
        Box::new(Self {
            connections,
            rate: load * context.workers as f64 / POLLS_OF_A_REQUEST,
            under_way,
        })
    }

    /// A task that passes each request to another task and waits for the answer.
    fn connection(under_way: Arc<AtomicUsize>) -> Arc<Inbox> {
        let [requests, questions, answers] = [(); 3].map(|()| Arc::new(Inbox::default()));
        let inbox = requests.clone();
        let (asked, answered) = (questions.clone(), answers.clone());
        drop(raddle_sched::spawn(async move {
            loop {
                asked.receive().await;
                answered.send();
            }
        }));
        drop(raddle_sched::spawn(async move {
            loop {
                requests.receive().await;
                questions.send();
                answers.receive().await;
                under_way.fetch_sub(1, Ordering::Relaxed);
            }
        }));
        inbox
    }
}

impl Body for Servers {
    fn act_outside(&mut self, context: &mut Context) {
        for _ in 0..context.rng.around(self.rate) {
            // Takes another connection if this one is busy, and none if many are.
            let free = (0..4).find_map(|_| {
                let connection = context.rng.below(self.connections.len());
                self.connections[connection].add_message()
            });
            if let Some(waker) = free {
                self.under_way.fetch_add(1, Ordering::Relaxed);
                context.events.raise(waker);
            }
        }
    }

    fn is_done(&self, rounds: u64) -> bool {
        rounds > ROUNDS && self.under_way.load(Ordering::Relaxed) == 0
    }
}

/// Tasks of which each meets every other, by the circle method: one keeps its place and the others
/// rotate.
fn tournament(tasks: usize) -> Box<dyn Body> {
    let left = Remaining::new(tasks);
    let meetings = (MESSAGES / 2).max(tasks - 1);
    let inboxes = |_| (0..tasks).map(|_| Inbox::default()).collect();
    let inboxes: Arc<Vec<Vec<Inbox>>> = Arc::new((0..tasks).map(inboxes).collect());
    for own in 0..tasks {
        let (inboxes, left) = (inboxes.clone(), left.clone());
        drop(raddle_sched::spawn(async move {
            for meeting in 0..meetings {
                let other = partner(own, meeting % (tasks - 1), tasks);
                inboxes[other][own].send();
                inboxes[own][other].receive().await;
            }
            left.done();
        }));
    }
    Box::new(left)
}

/// Returns the task that a task meets.
fn partner(own: usize, meeting: usize, tasks: usize) -> usize {
    let round = tasks - 1;
    match own {
        0 => 1 + meeting,
        _ if own == 1 + meeting => 0,
        _ => 1 + (2 * meeting + round - (own - 1)) % round,
    }
}

struct Sleepers {
    inboxes: Vec<Arc<Inbox>>,
    rate: f64,
}

impl Sleepers {
    fn start(context: &Context) -> Box<dyn Body> {
        let inboxes = (0..WAITING * context.workers)
            .map(|_| {
                let inbox = Arc::new(Inbox::default());
                let own = inbox.clone();
                drop(raddle_sched::spawn(async move {
                    loop {
                        own.receive().await;
                    }
                }));
                inbox
            })
            .collect();
        Box::new(Self {
            inboxes,
            rate: OUTSIDE_RATE * context.workers as f64,
        })
    }
}

impl Body for Sleepers {
    fn act_outside(&mut self, context: &mut Context) {
        for _ in 0..context.rng.around(self.rate) {
            let sleeper = context.rng.below(self.inboxes.len());
            self.inboxes[sleeper].send();
        }
    }

    fn is_done(&self, rounds: u64) -> bool {
        rounds > ROUNDS
    }
}
