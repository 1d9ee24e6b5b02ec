//! Random load on all parts of a runtime at once, for a given time, with every task accounted for:
//! `cargo xtask stress`. As a test it runs one round of each kind.
//!
//! The seed of a round determines its operations, its runtime and its numbers of tasks. It does not
//! determine how the threads interleave, so a seed that failed may have to be run many times.
#![allow(clippy::disallowed_types, reason = "never modelled")]

mod blocking;
mod channels;
mod ending;
mod ledger;
mod local;
mod queues;
mod random;
#[cfg(unix)]
mod sockets;
mod tasks;
mod timers;
mod wakes;

use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use random::Random;

/// No round takes longer, even under a sanitizer on a busy machine.
const LIMIT: Duration = Duration::from_secs(180);

struct Kind {
    name: &'static str,
    round: fn(&mut Random),
}

const KINDS: &[Kind] = &[
    kind("queues: owners, stealers and overflow", queues::round),
    kind("tasks: bursts and trees, joined", tasks::spawns),
    kind("tasks: aborts against completion", tasks::aborts),
    kind("wakes: rings through other threads", wakes::rings),
    kind("wakes: notifications against time-outs", wakes::time_outs),
    kind("shutdown: everything in use", ending::armed),
    kind("shutdown: many short runtimes", ending::short),
    kind("blocking: few threads, short lives, aborts", blocking::pool),
    kind("blocking: in place", blocking::in_place),
    kind("timers: set, reset, dropped elsewhere", timers::round),
    kind("channels: each message once", channels::round),
    #[cfg(unix)]
    kind("sockets: bytes in pieces, closed streams", sockets::round),
    kind("local tasks: woken from elsewhere", local::round),
];

const fn kind(name: &'static str, round: fn(&mut Random)) -> Kind {
    Kind { name, round }
}

/// The seed of the current round, for the message of a failure, and the number of completed rounds.
static SEED: AtomicU64 = AtomicU64::new(0);
static ROUNDS: AtomicU64 = AtomicU64::new(0);

struct Args {
    /// `None` runs one round of each kind.
    time: Option<Duration>,
    seed: u64,
}

fn args() -> Args {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut parsed = Args {
        time: None,
        seed: now.map_or(0, |now| now.as_secs() << 20),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || -> u64 {
            let value = args.next().and_then(|value| value.parse().ok());
            value.unwrap_or_else(|| {
                eprintln!("{arg} needs a number");
                exit(2)
            })
        };
        match arg.as_str() {
            "--seconds" => parsed.time = Some(Duration::from_secs(number())),
            "--seed" => parsed.seed = number(),
            // Other options of libtest are ignored, since there are no named tests.
            "--list" => exit(0),
            name if !name.starts_with('-') && !"stress".contains(name) => exit(0),
            _ => {}
        }
    }
    parsed
}

fn main() {
    let args = args();
    let default_hook = std::panic::take_hook();
    // No panic is expected. Without the hook, a panic in a task would only reach its join handle.
    std::panic::set_hook(Box::new(move |info| {
        default_hook(info);
        give_up("a thread panicked");
    }));
    std::thread::spawn(watch);

    let start = Instant::now();
    let mut counts = vec![0_u64; KINDS.len()];
    for round in 0.. {
        let due = match args.time {
            Some(time) => start.elapsed() < time,
            None => round < KINDS.len() as u64,
        };
        if !due {
            break;
        }
        let seed = args.seed.wrapping_add(round);
        let kind = (seed % KINDS.len() as u64) as usize;
        SEED.store(seed, SeqCst);
        (KINDS[kind].round)(&mut Random::new(seed));
        ROUNDS.fetch_add(1, SeqCst);
        counts[kind] += 1;
    }
    println!("{:<44} {:>8}", "stress", "rounds");
    for (kind, count) in KINDS.iter().zip(&counts) {
        println!("{:<44} {count:>8}", kind.name);
    }
    println!("{:<44} {:>8}", "tasks accounted for", ledger::total());
}

/// Ends the process if a round does not end.
fn watch() {
    let mut rounds = ROUNDS.load(SeqCst);
    let mut since = Instant::now();
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let now = ROUNDS.load(SeqCst);
        if now != rounds {
            (rounds, since) = (now, Instant::now());
        } else if since.elapsed() > LIMIT {
            give_up("the round hangs");
        }
    }
}

fn give_up(why: &str) -> ! {
    let seed = SEED.load(SeqCst);
    let name = KINDS[(seed % KINDS.len() as u64) as usize].name;
    eprintln!("\nstress: {why}, in \"{name}\"; cargo xtask stress --seed {seed}");
    exit(101);
}
