use std::collections::HashSet;

use super::programs::Run;
use super::*;

fn runs_of(name: Option<&str>, quick: bool, workers: &[u16]) -> Vec<Run> {
    programs::runs(&Args {
        name: name.map(str::to_owned),
        quick,
        workers: workers.to_vec(),
        ..Args::default()
    })
}

#[test]
fn without_a_name_every_program_runs_with_a_record_of_its_own() {
    let runs = runs_of(None, false, &[]);
    let steps: HashSet<_> = runs.iter().map(|run| &run.step).collect();
    assert_eq!(steps.len(), runs.len());
}

#[test]
fn each_benchmark_name_selects_a_program() {
    for name in names() {
        assert!(!runs_of(Some(name), false, &[]).is_empty(), "{name}");
    }
}

#[test]
fn a_workload_is_one_run_of_the_scheduler() {
    let runs = runs_of(Some("yield_many"), true, &[]);
    let [run] = &runs[..] else {
        panic!("one run: {runs:?}");
    };
    assert_eq!(run.step, "scheduler-yield_many");
    let words = "--workers 1,2 --rounds 6 --only yield_many";
    assert_eq!(run.args.join(" "), words);
}

#[test]
fn several_numbers_of_workers_are_one_list_or_one_run_each() {
    let of = |name: &str| {
        let runs = runs_of(Some(name), false, &[3, 4]);
        let line = |run: &Run| format!("{} {}", run.step, run.args.join(" "));
        runs.iter().map(line).collect::<Vec<_>>()
    };
    assert!(of("sched").contains(&"scheduler --workers 3,4 --rounds 30".to_owned()));
    assert_eq!(of("policies")[1], "policies-4 --workers 4 --rounds 30");
    assert_eq!(of("queue"), ["queue --rounds 30"]);
}

#[test]
fn only_fixed_programs_run_without_the_number_of_workers() {
    for quick in [false, true] {
        let mut fixed = Vec::new();
        for run in runs_of(None, quick, &[2]) {
            let line = run.args.join(" ");
            assert!(line.matches("--workers").count() <= 1, "{run:?}");
            assert_eq!(line.matches("--rounds").count(), 1, "{run:?}");
            if !line.contains("--workers 2") {
                fixed.push(run.step);
            }
        }
        let io = ["io-pinned", "http-pinned", "http-paced", "databases"];
        let expected = [&["scaling", "queue"][..], &io, &["async-cost"]].concat();
        assert_eq!(fixed, expected, "quick: {quick}");
    }
}

#[test]
fn a_name_of_saved_records_is_one_directory() {
    for name in ["main", "2026-11-21", "v0.1"] {
        assert_eq!(kept_name(name).as_deref(), Ok(name));
    }
    for name in ["", ".", "..", "a/b", "/tmp", "a b"] {
        assert!(kept_name(name).is_err(), "{name}");
    }
}
