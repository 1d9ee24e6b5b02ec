//! Thousands of runs of a pool's workers, each in an order of its own. A seed
//! that fails is printed, and makes the same run again.
#![cfg(not(raddle_loom))]

mod harness;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use harness::{Plant, run};
use raddle_sched::Policy;

/// Under a sanitizer, which slows a run down and has one thread to look at, enough to
/// come by all code.
const SEEDS: u64 = if cfg!(raddle_sanitize) { 500 } else { 10_000 };
/// Orders are fewer where workers share less.
const ORDERED_SEEDS: u64 = SEEDS / 2;
const REPEATED_SEEDS: u64 = SEEDS / 50;
/// qemu-user, which `cargo xtask platforms` names by this variable, takes many times as long for a
/// seed. A run has one thread, so its orders are the same there.
const EMULATED: &str = "RADDLE_EMULATED";
const EMULATED_SHARE: u64 = 20;
/// A run takes about a millisecond; one that takes this long hangs.
const SECONDS_OF_A_RUN: u32 = 30;
/// No seed: there is none left.
const OVER: u64 = u64::MAX;

/// The seed that was asked for, to make one run and tell its story.
fn asked_for() -> Option<u64> {
    let seed = std::env::var("RADDLE_SEED").ok()?;
    Some(seed.parse().expect("RADDLE_SEED is a number"))
}

fn replay(seed: u64, policy: Policy) -> String {
    let test = match policy {
        Policy::Shared => "a_shared_queue_passes_all_checks_under_every_seed",
        Policy::Sharded => "shards_pass_all_checks_under_every_seed",
        _ => "work_stealing_keeps",
    };
    format!("again: RADDLE_SEED={seed} cargo test -p raddle-sched --test seeded {test}")
}

/// Ends the process when a seed takes too long, and says which: a run that
/// hangs does so in the scheduler, and cannot be ended from inside.
fn name_a_hanging_seed(current: Arc<AtomicU64>, policy: Policy) {
    thread::spawn(move || {
        let (mut seed, mut seconds) = (OVER, 0);
        while seconds < SECONDS_OF_A_RUN {
            thread::sleep(Duration::from_secs(1));
            let now = current.load(Ordering::Relaxed);
            if now == OVER {
                return;
            }
            seconds = if now == seed { seconds + 1 } else { 0 };
            seed = now;
        }
        // Past the capture of the tests' output, which ends with the process.
        let _ = writeln!(
            std::io::stderr(),
            "seed {seed} hangs\n{}",
            replay(seed, policy)
        );
        std::process::exit(101);
    });
}

/// As many of `seeds` as this machine runs in reasonable time.
fn affordable(seeds: u64) -> u64 {
    match std::env::var_os(EMULATED) {
        Some(_) => seeds.div_ceil(EMULATED_SHARE),
        None => seeds,
    }
}

fn every_order(seeds: u64, policy: Policy) {
    let (seeds, verbose) = match asked_for() {
        Some(seed) => (seed..seed + 1, true),
        None => (0..affordable(seeds), false),
    };
    let current = Arc::new(AtomicU64::new(seeds.start));
    name_a_hanging_seed(current.clone(), policy);
    for seed in seeds {
        current.store(seed, Ordering::Relaxed);
        if let (_, Err(failure)) = run(seed, policy, Plant::Nothing, verbose) {
            panic!("seed {seed}: {failure}\n{}", replay(seed, policy));
        }
    }
    current.store(OVER, Ordering::Relaxed);
}

#[test]
fn work_stealing_passes_all_checks_under_every_seed() {
    every_order(SEEDS, Policy::WorkStealing);
}

#[test]
fn a_shared_queue_passes_all_checks_under_every_seed() {
    every_order(ORDERED_SEEDS, Policy::Shared);
}

#[test]
fn shards_pass_all_checks_under_every_seed() {
    every_order(ORDERED_SEEDS, Policy::Sharded);
}

#[test]
fn a_seed_makes_the_same_run_again() {
    for policy in [Policy::WorkStealing, Policy::Shared, Policy::Sharded] {
        let mut hashes = std::collections::HashSet::new();
        let seeds = affordable(REPEATED_SEEDS);
        for seed in 0..seeds {
            let first = run(seed, policy, Plant::Nothing, false);
            let again = run(seed, policy, Plant::Nothing, false);
            assert_eq!(first, again, "seed {seed}");
            hashes.insert(first.0);
        }
        assert_eq!(
            hashes.len() as u64,
            seeds,
            "each seed makes a run of its own"
        );
    }
}

/// The first of `seeds` whose run fails.
fn first_failure(policy: Policy, plant: Plant) -> (u64, (u64, Result<(), String>)) {
    (0..200)
        .map(|seed| (seed, run(seed, policy, plant, false)))
        .find(|(_, (_, result))| result.is_err())
        .expect("no seed finds the lost wake-up")
}

fn finds_and_replays(policy: Policy, plant: Plant) {
    let (seed, found) = first_failure(policy, plant);
    let failure = found.1.as_ref().unwrap_err();
    println!("{plant:?} under {policy:?} is found by seed {seed}: {failure}");
    assert!(failure.starts_with("lost wake-up"), "{failure}");
    assert_eq!(run(seed, policy, plant, false), found);
    assert_eq!(run(seed, policy, Plant::Nothing, false).1, Ok(()));
}

#[test]
fn a_lost_unpark_of_the_driver_is_found() {
    for policy in [Policy::WorkStealing, Policy::Shared, Policy::Sharded] {
        finds_and_replays(policy, Plant::DriverUnpark);
    }
}

#[test]
fn a_lost_unpark_of_a_thread_is_found() {
    // A worker that is sharded never waits outside of its driver.
    for policy in [Policy::WorkStealing, Policy::Shared] {
        finds_and_replays(policy, Plant::ThreadUnpark);
    }
}
