//! The loads. Each grows with the number of workers, but for one.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::driver::Events;
use crate::rng::Rng;

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// One task for each worker spawns 16 tasks in each of 16 polls.
    SpawnStorm,
    /// One task alone spawns 16 tasks in each poll, 4,096 in all.
    OneSpawner,
    /// A binary tree of tasks with 128 leaves for each worker, in which each task
    /// awaits those that it has spawned.
    ForkJoin,
    /// Servers at 5 % of what the workers could do: requests come as events of
    /// the driver, and take three polls of two tasks.
    ServersAt5,
    /// The same at 90 %.
    ServersAt90,
    /// Two tasks for each worker; each exchanges messages with each other one, two
    /// at a time.
    PingPong,
    /// Eight tasks for each worker that wait; a quarter as many as workers are woken
    /// from outside in each round.
    OutsideWakes,
}

/// What a load needs of its run.
pub(crate) struct Context {
    workers: usize,
    pub(crate) events: Events,
    rng: Rng,
}

/// A load that runs.
pub(crate) trait Body {
    /// What happens outside the workers after a round.
    fn act_outside(&mut self, round: u64, context: &mut Context);

    /// Whether everything has been done.
    fn is_done(&self) -> bool;
}

/// For how many rounds requests and wake-ups come.
const ROUNDS: u64 = 1_000;
/// Tasks that a spawner spawns in a poll, and the polls in which one of many does.
const BATCH: usize = 16;
const BATCHES: usize = 16;
/// How many tasks one spawner alone spawns.
const ONE_SPAWNS: usize = 4_096;
const LEAVES: usize = 128;
/// Connections for each worker.
const CONNECTIONS: usize = 8;
const POLLS_OF_A_REQUEST: f64 = 3.0;
/// How many messages each worker receives at least, on average.
const MESSAGES: usize = 256;
/// Tasks for each worker that wait to be woken from outside.
const WAITING: usize = 8;
const OUTSIDE_RATE: f64 = 0.25;

impl Load {
    /// All loads.
    pub const ALL: [Self; 7] = [
        Self::SpawnStorm,
        Self::OneSpawner,
        Self::ForkJoin,
        Self::ServersAt5,
        Self::ServersAt90,
        Self::PingPong,
        Self::OutsideWakes,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::SpawnStorm => "spawn storm",
            Self::OneSpawner => "one spawner",
            Self::ForkJoin => "fork-join",
            Self::ServersAt5 => "servers at 5 %",
            Self::ServersAt90 => "servers at 90 %",
            Self::PingPong => "ping-pong",
            Self::OutsideWakes => "wakes from outside",
        }
    }

    /// Spawns what runs.
    pub(crate) fn body(self, context: &mut Context) -> Box<dyn Body> {
        match self {
            Self::SpawnStorm => Box::new(storm(context.workers, BATCH * BATCHES)),
            Self::OneSpawner => Box::new(storm(1, ONE_SPAWNS)),
            Self::ForkJoin => Box::new(tree(LEAVES * context.workers)),
            Self::ServersAt5 => Box::new(Servers::start(context, 0.05)),
            Self::ServersAt90 => Box::new(Servers::start(context, 0.9)),
            Self::PingPong => Box::new(tournament(2 * context.workers)),
            Self::OutsideWakes => Box::new(Sleepers::start(context)),
        }
    }
}

impl Context {
    pub(crate) fn new(workers: usize, events: Events, seed: u64) -> Self {
        Self {
            workers,
            events,
            rng: Rng::new(seed),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns to the scheduler once.
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

/// Counts tasks down to none.
#[derive(Clone)]
struct Left(Arc<AtomicUsize>);

impl Left {
    fn new(count: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(count)))
    }

    fn done(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A load to which nothing is done from outside.
impl Body for Left {
    fn act_outside(&mut self, _: u64, _: &mut Context) {}

    fn is_done(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

fn storm(spawners: usize, each: usize) -> Left {
    let left = Left::new(spawners * (each + 1));
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
    left
}

fn tree(leaves: usize) -> Left {
    let left = Left::new(1);
    let done = left.clone();
    drop(raddle_sched::spawn(async move {
        branch(leaves).await;
        done.done();
    }));
    left
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

/// A place where one task waits for others to bring it something.
#[derive(Default)]
struct Inbox(Mutex<(usize, Option<Waker>)>);

impl Inbox {
    /// Brings one thing.
    fn send(&self) {
        let waker = {
            let mut inbox = lock(&self.0);
            inbox.0 += 1;
            inbox.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits for one thing, and takes it.
    async fn receive(&self) {
        poll_fn(|cx| {
            let mut inbox = lock(&self.0);
            if inbox.0 > 0 {
                inbox.0 -= 1;
                return Poll::Ready(());
            }
            inbox.1 = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// The waker of the task that waits, with one thing brought.
    fn bring(&self) -> Option<Waker> {
        let mut inbox = lock(&self.0);
        let waker = inbox.1.take()?;
        inbox.0 += 1;
        Some(waker)
    }
}

struct Servers {
    connections: Vec<Arc<Inbox>>,
    /// Requests a round.
    rate: f64,
    under_way: Arc<AtomicUsize>,
    is_over: bool,
}

impl Servers {
    fn start(context: &Context, load: f64) -> Self {
        let under_way = Arc::new(AtomicUsize::new(0));
        let connections = (0..CONNECTIONS * context.workers)
            .map(|_| Self::connection(under_way.clone()))
            .collect();
        Self {
            connections,
            rate: load * context.workers as f64 / POLLS_OF_A_REQUEST,
            under_way,
            is_over: false,
        }
    }

    /// A task that passes each request on to another, and waits for the answer.
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
    fn act_outside(&mut self, round: u64, context: &mut Context) {
        self.is_over = round >= ROUNDS;
        if self.is_over {
            return;
        }
        for _ in 0..context.rng.around(self.rate) {
            // Another one if its connection is busy; none if many are.
            let free = (0..4).find_map(|_| {
                let connection = context.rng.below(self.connections.len());
                self.connections[connection].bring()
            });
            if let Some(waker) = free {
                self.under_way.fetch_add(1, Ordering::Relaxed);
                context.events.raise(waker);
            }
        }
    }

    fn is_done(&self) -> bool {
        self.is_over && self.under_way.load(Ordering::Relaxed) == 0
    }
}

/// Tasks of which each meets each, in the order of the circle method: one stays,
/// the others go round.
fn tournament(tasks: usize) -> Left {
    let left = Left::new(tasks);
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
    left
}

/// The number of the task that a task meets.
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
    is_over: bool,
}

impl Sleepers {
    fn start(context: &Context) -> Self {
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
        Self {
            inboxes,
            rate: OUTSIDE_RATE * context.workers as f64,
            is_over: false,
        }
    }
}

impl Body for Sleepers {
    fn act_outside(&mut self, round: u64, context: &mut Context) {
        self.is_over = round >= ROUNDS;
        if self.is_over {
            return;
        }
        for _ in 0..context.rng.around(self.rate) {
            let sleeper = context.rng.below(self.inboxes.len());
            self.inboxes[sleeper].send();
        }
    }

    fn is_done(&self) -> bool {
        self.is_over
    }
}
