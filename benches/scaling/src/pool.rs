//! Runs a load on stepped workers and counts.

use std::sync::{Mutex, PoisonError};

use raddle_primitives::counting::{self, Entry, Kind, OUTSIDE, Operations};
use raddle_sched::{Config, Driver, Pool, Step, Worker, WorkerWait};

use crate::counts::{Phase, Run};
use crate::driver::Events;
use crate::loads::{Context, Load, ROUNDS};
use crate::rng::Rng;

/// More rounds than any run takes.
const MAX_ROUNDS: u64 = 10_000_000;
/// Locks that threads share, not workers: a thread takes one when its own cache is empty or full.
/// Here all workers share the cache of one thread.
const OF_THREADS: [&str; 1] = ["depot of cells"];
/// The phase of operations that do not belong to the scheduler.
const NOT_COUNTED: usize = counting::PHASES - 1;

enum Posture {
    Awake,
    /// The last step found no task.
    Idle,
    Parked(WorkerWait),
}

/// A worker, and what it does.
type Stepped = (Worker, Posture);

/// Runs a load until it is done.
///
/// Waits for runs on other threads: only one at a time can count.
pub fn run((name, load): Load, workers: usize, seed: u64) -> Run {
    static COUNTING: Mutex<()> = Mutex::new(());
    let _counting = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    counting::act_as(OUTSIDE);
    counting::reset();
    let mut rng = Rng::new(seed);
    let events = Events::default();
    let config = Config {
        workers,
        ..Config::default()
    };
    let (handle, stepped) = Pool::stepped(config, [Box::new(events.clone()) as Box<dyn Driver>]);
    let current = handle.enter();
    let stepped = stepped.into_iter();
    let mut stepped: Vec<Stepped> = stepped.map(|worker| (worker, Posture::Awake)).collect();
    let mut context = Context::new(workers, events, rng.below(usize::MAX) as u64);
    let mut tally = Run {
        workers,
        ..Run::default()
    };
    let mut body = load(&mut context);
    let mut rounds = 0;
    counting::settle(NOT_COUNTED);
    let mut order: Vec<usize> = (0..workers).collect();
    while !body.is_done(rounds) {
        rng.shuffle(&mut order);
        for &worker in &order {
            counting::act_as(worker + 1);
            drive(&mut stepped[worker], &context.events, &mut tally);
        }
        counting::act_as(OUTSIDE);
        if rounds < ROUNDS {
            body.act_outside(&mut context);
        }
        counting::settle(Phase::Outside as usize);
        rounds += 1;
        assert!(
            rounds < MAX_ROUNDS,
            "{name} on {workers} workers does not end: a wake-up was lost"
        );
    }
    let metrics = handle.metrics();
    for worker in 0..workers {
        tally.steals += metrics.worker(worker).steal_operations;
    }
    counting::settle(NOT_COUNTED);
    tally.words = words(&mut tally);
    drop(stepped);
    drop(current);
    tally
}

/// Lets a worker do one thing, unless it waits.
fn drive((worker, state): &mut Stepped, events: &Events, tally: &mut Run) {
    let phase = match &state {
        Posture::Awake => match worker.step() {
            Step::Ran => {
                tally.polls += 1;
                Phase::Task
            }
            Step::Idle | Step::Shutdown => {
                *state = Posture::Idle;
                Phase::Search
            }
        },
        Posture::Idle => {
            let waiting = worker.begin_park();
            tally.parks += u64::from(waiting.is_some());
            *state = posture(waiting);
            Phase::Park
        }
        Posture::Parked(waiting) => {
            // The check is no operation of the worker, which sleeps.
            let notified = match waiting.in_driver {
                true => events.is_ready(),
                false => worker.is_unparked(),
            };
            counting::settle(NOT_COUNTED);
            if !notified {
                return;
            }
            let is_event = waiting.in_driver && events.is_due();
            tally.wakeups += u64::from(!is_event);
            let waiting = worker.resume_park();
            *state = posture(waiting);
            Phase::Unpark
        }
    };
    counting::settle(phase as usize);
}

fn posture(waiting: Option<WorkerWait>) -> Posture {
    waiting.map_or(Posture::Awake, Posture::Parked)
}

/// Returns the counts of each word. The attempts to steal, which are an event, become a count of
/// the run.
fn words(tally: &mut Run) -> Vec<Entry> {
    let mut words = counting::report();
    words.retain(|entry| {
        let phases = &entry.phases[..Phase::ALL.len()];
        if entry.kind == Kind::Event {
            if entry.name == "steal attempt" {
                tally.steal_attempts = phases.iter().map(|phase| phase.events).sum();
            }
            return false;
        }
        let is_used = phases.iter().any(|phase| *phase != Operations::default());
        is_used && !OF_THREADS.contains(&entry.name.as_str())
    });
    words.sort_by(|a, b| a.name.cmp(&b.name));
    words
}
