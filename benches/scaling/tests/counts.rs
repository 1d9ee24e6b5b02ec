//! Short runs: the known counts of each load, and the same counts from the same seed.
#![cfg(raddle_count)]

use raddle_primitives::counting::Entry;
use raddle_scaling::{Figure, LOADS, Phase, Run, operations, run};

fn run_named(name: &str, workers: usize) -> Run {
    let load = LOADS.iter().find(|(load, _)| *load == name).unwrap();
    run(*load, workers, 1)
}

fn word_of<'a>(run: &'a Run, name: &str) -> &'a Entry {
    run.words.iter().find(|word| word.name == name).unwrap()
}

#[test]
fn a_seed_counts_the_same_again() {
    for load in LOADS {
        let counted = |seed| {
            let mut run = run(load, 4, seed);
            // The busy time of a worker, which depends on the clock, is among these words.
            run.words.retain(|word| word.name != "counters");
            format!("{run:?}")
        };
        assert_eq!(counted(7), counted(7), "{}", load.0);
        assert_ne!(counted(7), counted(8), "{}", load.0);
    }
}

#[test]
fn a_load_runs_each_of_its_tasks() {
    for workers in [2, 16] {
        // Each spawner is polled once per batch, and once more at its end; it spawns 256 tasks.
        let storm = run_named("spawn storm", workers);
        assert_eq!(storm.polls as usize, workers * (17 + 256));
        let one = run_named("one spawner", workers);
        assert_eq!(one.polls, 257 + 4_096);
        let leaves = 128 * workers;
        let tree = run_named("fork-join", workers);
        assert!(tree.polls as usize >= 2 * leaves - 1, "{}", tree.polls);
        // A request takes three polls; some requests find their connection busy.
        let servers = run_named("servers at 90 %", workers);
        let expected = 0.9 * workers as f64 * 1_000.0;
        assert!(servers.polls as f64 > 0.7 * expected, "{}", servers.polls);
        assert!((servers.polls as f64) < 1.1 * expected, "{}", servers.polls);
    }
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
    for load @ (name, _) in LOADS {
        let [few, many] = [16, 64].map(|workers| run(load, workers, 1));
        for run in [&few, &many] {
            let attempts = run.figure(Figure::Attempts);
            assert!(
                attempts.is_none_or(|one| one < ATTEMPTS),
                "{name}: {attempts:?}"
            );
        }
        for figure in [Figure::CommonWrites, Figure::Locks, Figure::Wakeups] {
            let [few, many] = [&few, &many].map(|run| run.figure(figure).unwrap_or(0.0));
            assert!(
                many <= few * GROWTH + NOTHING,
                "{name}, {figure:?}: {few} with 16 workers, {many} with 64"
            );
        }
    }
}

#[test]
fn no_lock_is_taken_to_park_or_to_wake() {
    for load @ (name, _) in LOADS {
        let run = run(load, 16, 1);
        let of_parks = run.figure(Figure::LocksOfAPark);
        assert_eq!(of_parks.unwrap_or(0.0), 0.0, "{name}");
        let locks = run
            .words
            .iter()
            .filter(|word| operations(word, &Phase::ALL).locks > 0);
        let names: Vec<_> = locks.map(|word| word.name.as_str()).collect();
        assert!(
            names.iter().all(|name| *name == "injection queue"),
            "{name}: {names:?}"
        );
    }
}

#[test]
fn a_worker_that_returns_changes_the_idle_set_once_at_most() {
    let run = run_named("servers at 5 %", 16);
    let idle = word_of(&run, "idle set");
    assert!(run.is_common(idle));
    assert!(run.parks > 100, "{}", run.parks);
    assert!(operations(idle, &[Phase::Unpark]).writes() <= run.parks);
}
