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

const SEEDS: u64 = 10_000;
/// A run takes about a millisecond; one that takes this long hangs.
const SECONDS_OF_A_RUN: u32 = 30;

/// The seed that was asked for, to make one run and tell its story.
fn asked_for() -> Option<u64> {
    let seed = std::env::var("RADDLE_SEED").ok()?;
    Some(seed.parse().expect("RADDLE_SEED is a number"))
}

fn replay(seed: u64) -> String {
    format!("again: RADDLE_SEED={seed} cargo test -p raddle-sched --test seeded every")
}

/// Ends the process when a seed takes too long, and says which: a run that
/// hangs does so in the scheduler, and cannot be ended from inside.
fn name_a_hanging_seed(current: Arc<AtomicU64>) {
    thread::spawn(move || {
        let (mut seed, mut seconds) = (u64::MAX, 0);
        while seconds < SECONDS_OF_A_RUN {
            thread::sleep(Duration::from_secs(1));
            let now = current.load(Ordering::Relaxed);
            seconds = if now == seed { seconds + 1 } else { 0 };
            seed = now;
        }
        // Past the capture of the tests' output, which ends with the process.
        let _ = writeln!(std::io::stderr(), "seed {seed} hangs\n{}", replay(seed));
        std::process::exit(101);
    });
}

#[test]
fn every_order_keeps_the_promises() {
    let (seeds, verbose) = match asked_for() {
        Some(seed) => (seed..seed + 1, true),
        None => (0..SEEDS, false),
    };
    let current = Arc::new(AtomicU64::new(seeds.start));
    name_a_hanging_seed(current.clone());
    for seed in seeds {
        current.store(seed, Ordering::Relaxed);
        if let (_, Err(failure)) = run(seed, Plant::Nothing, verbose) {
            panic!("seed {seed}: {failure}\n{}", replay(seed));
        }
    }
}

#[test]
fn a_seed_makes_the_same_run_again() {
    let mut hashes = std::collections::HashSet::new();
    for seed in 0..200 {
        let first = run(seed, Plant::Nothing, false);
        assert_eq!(first, run(seed, Plant::Nothing, false), "seed {seed}");
        hashes.insert(first.0);
    }
    assert_eq!(hashes.len(), 200, "each seed makes a run of its own");
}

/// The first of `seeds` whose run fails.
fn first_failure(plant: Plant) -> (u64, (u64, Result<(), String>)) {
    (0..200)
        .map(|seed| (seed, run(seed, plant, false)))
        .find(|(_, (_, result))| result.is_err())
        .expect("no seed finds the lost wake-up")
}

fn finds_and_replays(plant: Plant) {
    let (seed, found) = first_failure(plant);
    let failure = found.1.as_ref().unwrap_err();
    println!("{plant:?} is found by seed {seed}: {failure}");
    assert!(failure.starts_with("lost wake-up"), "{failure}");
    assert_eq!(run(seed, plant, false), found);
    assert_eq!(run(seed, Plant::Nothing, false).1, Ok(()));
}

#[test]
fn a_lost_unpark_of_the_driver_is_found() {
    finds_and_replays(Plant::DriverUnpark);
}

#[test]
fn a_lost_unpark_of_a_thread_is_found() {
    finds_and_replays(Plant::ThreadUnpark);
}
