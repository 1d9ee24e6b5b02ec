//! Everything at once, for as long as one likes, with every task accounted for:
//! `cargo xtask stress`. As a test it makes one round of each kind.
//!
//! A round is chosen by its seed: what it does, on what runtime, with how many of
//! each thing. How the threads come to lie is not, so that a seed that failed may
//! have to be tried many times.
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

/// Longer than any round takes, under a sanitizer on a busy machine too.
const LIMIT: Duration = Duration::from_secs(180);

struct Kind {
    name: &'static str,
    round: fn(&mut Random),
}

const KINDS: &[Kind] = &[
    kind("queues: owners, stealers and overflow", queues::round),
    kind("tasks: bursts and trees, joined", tasks::spawns),
    kind("tasks: aborts against completion", tasks::aborts),
    kind("wakes: rings through foreign threads", wakes::rings),
    kind("wakes: notifications against time-outs", wakes::time_outs),
    kind("end: with all there is armed", ending::armed),
    kind("end: many short runtimes", ending::short),
    kind("blocking: a cap, short lives, aborts", blocking::pool),
    kind("blocking: in place", blocking::in_place),
    kind("timers: set, reset, dropped elsewhere", timers::round),
    kind("channels: each message once", channels::round),
    #[cfg(unix)]
    kind("sockets: bytes in pieces, streams that go", sockets::round),
    kind("local tasks: woken from elsewhere", local::round),
];

const fn kind(name: &'static str, round: fn(&mut Random)) -> Kind {
    Kind { name, round }
}

/// The present round, for the message of a failure, and how many there were.
static SEED: AtomicU64 = AtomicU64::new(0);
static ROUNDS: AtomicU64 = AtomicU64::new(0);

struct Args {
    /// None: one round of each kind.
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
                eprintln!("{arg} wants a number");
                exit(2)
            })
        };
        match arg.as_str() {
            "--minutes" => parsed.time = Some(Duration::from_secs(60 * number())),
            "--seed" => parsed.seed = number(),
            // The other options of libtest have no meaning here: there are no tests with names.
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
    // No panic is meant here, and one in a task would go no further than its
    // handle.
    std::panic::set_hook(Box::new(move |info| {
        default_hook(info);
        give_up("it panicked");
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

/// Ends the process if a round does not.
fn watch() {
    let mut rounds = ROUNDS.load(SeqCst);
    let mut since = Instant::now();
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let now = ROUNDS.load(SeqCst);
        if now != rounds {
            (rounds, since) = (now, Instant::now());
        } else if since.elapsed() > LIMIT {
            give_up("it hangs: something was lost");
        }
    }
}

fn give_up(why: &str) -> ! {
    let seed = SEED.load(SeqCst);
    let name = KINDS[(seed % KINDS.len() as u64) as usize].name;
    eprintln!("\nstress: {why}, in \"{name}\"; cargo xtask stress --seed {seed}");
    exit(101);
}
