//! Short runs: the known counts of each load, and the same counts from the same seed.
#![cfg(raddle_count)]

use std::sync::{Mutex, MutexGuard, PoisonError};

use raddle_scaling::{Figure, Load, Phase, Run, Scope, run};

/// Only one run at a time can count.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn word_of(run: &Run, name: &str) -> raddle_scaling::Word {
    let word = run.words.iter().find(|word| word.name == name);
    word.unwrap_or_else(|| panic!("nothing is counted under {name}"))
        .clone()
}

#[test]
fn a_seed_counts_the_same_again() {
    let _alone = alone();
    for load in Load::ALL {
        let counted = |seed| {
            let mut run = run(load, 4, seed);
            // The busy time of a worker, which depends on the clock, is among these words.
            run.words.retain(|word| word.name != "counters");
            run
        };
        let (first, again, other) = (counted(7), counted(7), counted(8));
        for (one, other) in first.words.iter().zip(&again.words) {
            assert_eq!(one, other, "{load:?}");
        }
        assert_eq!(first, again, "{load:?}");
        assert_ne!(first.words, other.words, "{load:?}");
    }
}

#[test]
fn a_load_runs_each_of_its_tasks() {
    let _alone = alone();
    for workers in [2, 16] {
        // Each spawner is polled once per batch, and once more at its end; it spawns 256 tasks.
        let storm = run(Load::SpawnStorm, workers, 1);
        assert_eq!(storm.polls as usize, workers * (17 + 256));
        let one = run(Load::OneSpawner, workers, 1);
        assert_eq!(one.polls, 257 + 4_096);
        let leaves = 128 * workers;
        let tree = run(Load::ForkJoin, workers, 1);
        assert!(tree.polls as usize >= 2 * leaves - 1, "{}", tree.polls);
        // A request takes three polls; some requests find their connection busy.
        let servers = run(Load::ServersAt90, workers, 1);
        let expected = 0.9 * workers as f64 * 1_000.0;
        assert!(servers.polls as f64 > 0.7 * expected, "{}", servers.polls);
        assert!((servers.polls as f64) < 1.1 * expected, "{}", servers.polls);
    }
}

#[test]
fn a_push_is_a_store_of_the_tail_and_a_pop_a_change_of_the_head() {
    let _alone = alone();
    let run = run(Load::SpawnStorm, 2, 1);
    let head = word_of(&run, "queue head").of(&Phase::ALL);
    let tail = word_of(&run, "queue tail").of(&Phase::ALL);
    // A batch of 16 goes to the slot and the queue; its spawner goes behind them.
    let queued = 2 * 16 * 16;
    assert!(
        (queued - 32..=queued + 32).contains(&tail.writes),
        "{tail:?}"
    );
    assert!(head.writes <= queued + 32, "{head:?}");
    assert_eq!(word_of(&run, "queue tail").made, 2);
}

/// The limits of `docs/scaling.md`.
#[test]
fn nothing_but_loads_grows_with_the_number_of_workers() {
    /// The largest allowed number of attempts per successful steal.
    const ATTEMPTS: f64 = 2.5;
    /// The largest allowed ratio of a figure with 64 workers to that with 16.
    const GROWTH: f64 = 1.3;
    /// A figure per task below this counts as zero.
    const NOTHING: f64 = 0.05;
    let _alone = alone();
    for load in Load::ALL {
        let [few, many] = [16, 64].map(|workers| run(load, workers, 1));
        for run in [&few, &many] {
            let attempts = run.figure(Figure::Attempts);
            assert!(
                attempts.is_none_or(|one| one < ATTEMPTS),
                "{load:?}: {attempts:?}"
            );
        }
        for figure in [Figure::CommonWrites, Figure::Locks, Figure::Wakeups] {
            let [few, many] = [&few, &many].map(|run| run.figure(figure).unwrap_or(0.0));
            assert!(
                many <= few * GROWTH + NOTHING,
                "{load:?}, {figure:?}: {few} with 16 workers, {many} with 64"
            );
        }
    }
}

#[test]
fn no_lock_is_taken_to_park_or_to_wake() {
    let _alone = alone();
    for load in Load::ALL {
        let run = run(load, 16, 1);
        assert_eq!(
            run.figure(Figure::LocksOfAPark).unwrap_or(0.0),
            0.0,
            "{load:?}"
        );
        let locks = run
            .words
            .iter()
            .filter(|word| word.of(&Phase::ALL).locks > 0);
        let names: Vec<_> = locks.map(|word| word.name.as_str()).collect();
        assert!(
            names.iter().all(|name| *name == "injection queue"),
            "{load:?}: {names:?}"
        );
    }
}

#[test]
fn a_worker_that_returns_changes_the_idle_set_once_at_most() {
    let _alone = alone();
    let run = run(Load::ServersAt5, 16, 1);
    let idle = word_of(&run, "idle set");
    assert_eq!(idle.scope, Scope::Common);
    assert!(run.parks > 100, "{}", run.parks);
    assert!(idle.of(&[Phase::Unpark]).writes <= run.parks);
}
