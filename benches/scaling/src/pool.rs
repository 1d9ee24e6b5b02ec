//! Runs a load on stepped workers and counts.

use raddle_primitives::counting::{self, Kind, OUTSIDE, Operations};
use raddle_sched::{Config, Driver, Pool, Step, Worker, WorkerWait};

use crate::counts::{Phase, Run, Scope, Tally, Word};
use crate::driver::Events;
use crate::loads::{Context, Load, ROUNDS};
use crate::rng::Rng;

/// The virtual duration of a round, for waits with a time-out: that of a poll.
const ROUND_MICROS: u64 = 1;
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
    Parked {
        waiting: WorkerWait,
        deadline: Option<u64>,
    },
}

struct SteppedWorker {
    worker: Worker,
    posture: Posture,
}

/// Runs a load until it is done.
///
/// Only one run at a time can count: it removes the counts of the run before.
pub fn run(load: Load, workers: usize, seed: u64) -> Run {
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
    let mut stepped_workers: Vec<SteppedWorker> = stepped
        .into_iter()
        .map(|worker| SteppedWorker {
            worker,
            posture: Posture::Awake,
        })
        .collect();
    let mut context = Context::new(workers, events, rng.below(usize::MAX) as u64);
    let mut tally = Run {
        load: load.name().to_owned(),
        workers,
        seed,
        ..Run::default()
    };
    let mut body = load.body(&mut context);
    counting::settle(NOT_COUNTED);
    let mut order: Vec<usize> = (0..workers).collect();
    while !body.is_done(tally.rounds) {
        rng.shuffle(&mut order);
        for &worker in &order {
            counting::act_as(worker + 1);
            drive(&mut stepped_workers[worker], &context.events, &mut tally);
        }
        counting::act_as(OUTSIDE);
        if tally.rounds < ROUNDS {
            body.act_outside(&mut context);
        }
        counting::settle(Phase::Outside as usize);
        tally.rounds += 1;
        assert!(
            tally.rounds < MAX_ROUNDS,
            "{} on {workers} workers does not end: a wake-up was lost",
            tally.load
        );
    }
    count_steals(&handle, &mut tally);
    tally.words = words(workers, &mut tally);
    drop(stepped_workers);
    drop(current);
    tally
}

/// Lets a worker do one thing, unless it waits.
fn drive(stepped: &mut SteppedWorker, events: &Events, tally: &mut Run) {
    let now = tally.rounds * ROUND_MICROS;
    let phase = match &stepped.posture {
        Posture::Awake => match stepped.worker.step() {
            Step::Ran => {
                tally.polls += 1;
                Phase::Task
            }
            Step::Idle | Step::Shutdown => {
                stepped.posture = Posture::Idle;
                Phase::Search
            }
        },
        Posture::Idle => {
            let waiting = stepped.worker.begin_park();
            tally.parks += u64::from(waiting.is_some());
            stepped.posture = posture(waiting, now);
            Phase::Park
        }
        Posture::Parked { waiting, deadline } => {
            // The check is no operation of the worker, which sleeps.
            let notified = match waiting.in_driver {
                true => events.is_ready(),
                false => stepped.worker.is_unparked(),
            };
            counting::settle(NOT_COUNTED);
            let over = deadline.is_some_and(|deadline| deadline <= now);
            if !notified && !over {
                return;
            }
            match (notified, waiting.in_driver && events.is_due()) {
                (false, _) => tally.timeouts += 1,
                (true, true) => tally.events += 1,
                (true, false) => tally.wakeups += 1,
            }
            let waiting = stepped.worker.resume_park();
            stepped.posture = posture(waiting, now);
            Phase::Unpark
        }
    };
    counting::settle(phase as usize);
}

fn posture(waiting: Option<WorkerWait>, now: u64) -> Posture {
    match waiting {
        None => Posture::Awake,
        Some(waiting) => Posture::Parked {
            waiting,
            deadline: waiting
                .timeout
                .map(|timeout| now + timeout.as_micros() as u64),
        },
    }
}

fn count_steals(handle: &raddle_sched::Handle, tally: &mut Run) {
    let metrics = handle.metrics();
    for worker in 0..metrics.workers() {
        let counts = metrics.worker(worker);
        tally.steals += counts.steal_operations;
        tally.stolen += counts.steals;
    }
    counting::settle(NOT_COUNTED);
}

/// Returns the counts of each word. Events become figures of the run.
fn words(workers: usize, tally: &mut Run) -> Vec<Word> {
    let mut words = Vec::new();
    for entry in counting::report() {
        let phases = Phase::ALL.map(|phase| entry.phases[phase as usize]);
        if entry.kind == Kind::Event {
            let events = phases.iter().map(|phase| phase.events).sum();
            match entry.name.as_str() {
                "steal attempt" => tally.steal_attempts = events,
                "fence" => tally.fences = events,
                _ => {}
            }
            continue;
        }
        let is_used = phases.iter().any(|phase| *phase != Operations::default());
        if !is_used || OF_THREADS.contains(&entry.name.as_str()) {
            continue;
        }
        words.push(Word {
            name: entry.name,
            scope: match (entry.made as usize) < workers {
                true => Scope::Common,
                false => Scope::Own,
            },
            made: entry.made,
            actors: entry.actors,
            phases: phases.map(|phase| Tally {
                loads: phase.loads,
                writes: phase.stores + phase.read_modify_writes,
                locks: phase.locks,
                transfers: phase.transfers,
            }),
        });
    }
    words.sort_by(|a, b| a.name.cmp(&b.name));
    words
}
