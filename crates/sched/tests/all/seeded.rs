//! Thousands of runs of a pool's workers, each in a different order. A failing test prints its
//! seed, which repeats the run.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::harness::{PlantedFault, run};
use raddle_sched::Policy;

/// A sanitizer slows a run down and watches only one thread here, so fewer seeds suffice to reach
/// all code.
const SEEDS: u64 = if cfg!(raddle_sanitize) { 500 } else { 5_000 };
/// Workers that share less have fewer orders.
const ORDERED_SEEDS: u64 = SEEDS / 2;
const REPEATED_SEEDS: u64 = SEEDS / 50;
/// Set by `cargo xtask platforms` under qemu-user, where a run takes many times as long. A run has
/// one thread, so its orders are the same there.
const EMULATED: &str = "RADDLE_EMULATED";
const EMULATED_SHARE: u64 = 20;
/// A run takes about a millisecond. A run that takes this long hangs.
const MAX_SECONDS_PER_RUN: u32 = 30;
/// Not a seed: all runs are done.
const DONE: u64 = u64::MAX;

/// The seed in `RADDLE_SEED`, which makes one run and prints its trace.
fn requested_seed() -> Option<u64> {
    let seed = std::env::var("RADDLE_SEED").ok()?;
    Some(seed.parse().expect("RADDLE_SEED is a number"))
}

fn replay_command(seed: u64, policy: Policy) -> String {
    let test = match policy {
        Policy::Shared => "a_shared_queue_passes_all_checks_under_every_seed",
        Policy::Sharded => "shards_pass_all_checks_under_every_seed",
        _ => "work_stealing_passes_all_checks_under_every_seed",
    };
    format!(
        "repeat it with: RADDLE_SEED={seed} cargo test -p raddle-sched --test all seeded::{test}"
    )
}

/// Ends the process when a run takes too long, and prints its seed. A run hangs inside the
/// scheduler, so the test cannot end it.
fn exit_if_a_seed_hangs(current: Arc<AtomicU64>, policy: Policy) {
    thread::spawn(move || {
        let (mut seed, mut seconds) = (DONE, 0);
        while seconds < MAX_SECONDS_PER_RUN {
            thread::sleep(Duration::from_secs(1));
            let now = current.load(Ordering::Relaxed);
            if now == DONE {
                return;
            }
            seconds = if now == seed { seconds + 1 } else { 0 };
            seed = now;
        }
        // Written directly to stderr: captured output is lost when the process exits.
        let _ = writeln!(
            std::io::stderr(),
            "seed {seed} hangs\n{}",
            replay_command(seed, policy)
        );
        std::process::exit(101);
    });
}

/// How many of `seeds` this machine can run in reasonable time.
fn seeds_to_run(seeds: u64) -> u64 {
    match std::env::var_os(EMULATED) {
        Some(_) => seeds.div_ceil(EMULATED_SHARE),
        None => seeds,
    }
}

fn run_seeds(seeds: u64, policy: Policy) {
    let (seeds, verbose) = match requested_seed() {
        Some(seed) => (seed..seed + 1, true),
        None => (0..seeds_to_run(seeds), false),
    };
    let current = Arc::new(AtomicU64::new(seeds.start));
    exit_if_a_seed_hangs(current.clone(), policy);
    for seed in seeds {
        current.store(seed, Ordering::Relaxed);
        if let (_, Err(failure)) = run(seed, policy, PlantedFault::None, verbose) {
            panic!("seed {seed}: {failure}\n{}", replay_command(seed, policy));
        }
    }
    current.store(DONE, Ordering::Relaxed);
}

#[test]
fn work_stealing_passes_all_checks_under_every_seed() {
    run_seeds(SEEDS, Policy::WorkStealing);
}

#[test]
fn a_shared_queue_passes_all_checks_under_every_seed() {
    run_seeds(ORDERED_SEEDS, Policy::Shared);
}

#[test]
fn shards_pass_all_checks_under_every_seed() {
    run_seeds(ORDERED_SEEDS, Policy::Sharded);
}

#[test]
fn a_seed_makes_the_same_run_again() {
    for policy in [Policy::WorkStealing, Policy::Shared, Policy::Sharded] {
        let mut hashes = std::collections::HashSet::new();
        let seeds = seeds_to_run(REPEATED_SEEDS);
        for seed in 0..seeds {
            let first = run(seed, policy, PlantedFault::None, false);
            let again = run(seed, policy, PlantedFault::None, false);
            assert_eq!(first, again, "seed {seed}");
            hashes.insert(first.0);
        }
        assert_eq!(
            hashes.len() as u64,
            seeds,
            "each seed must make a different run"
        );
    }
}

/// The first seed whose run finds a lost wake-up, with the result of that run.
fn first_failure(policy: Policy, fault: PlantedFault) -> (u64, (u64, Result<(), String>)) {
    let is_lost = |failure: &String| failure.starts_with("lost wake-up");
    (0..200)
        .map(|seed| (seed, run(seed, policy, fault, false)))
        .find(|(_, (_, result))| result.as_ref().is_err_and(is_lost))
        .expect("no seed finds the lost wake-up")
}

fn finds_and_replays(policy: Policy, fault: PlantedFault) {
    let (seed, found) = first_failure(policy, fault);
    let failure = found.1.as_ref().unwrap_err();
    println!("{fault:?} under {policy:?} is found by seed {seed}: {failure}");
    assert_eq!(run(seed, policy, fault, false), found);
    assert_eq!(run(seed, policy, PlantedFault::None, false).1, Ok(()));
}

#[test]
fn a_lost_unpark_of_the_driver_is_found() {
    for policy in [Policy::WorkStealing, Policy::Shared, Policy::Sharded] {
        finds_and_replays(policy, PlantedFault::DriverUnpark);
    }
}

#[test]
fn a_lost_unpark_of_a_thread_is_found() {
    // A worker of a sharded pool always waits in its driver.
    for policy in [Policy::WorkStealing, Policy::Shared] {
        finds_and_replays(policy, PlantedFault::ThreadUnpark);
    }
}
