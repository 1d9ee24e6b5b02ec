use super::*;

fn runs_of(args: Args) -> Vec<Run> {
    programs::runs(&args)
}

#[test]
fn without_a_name_every_program_runs_with_a_record_of_its_own() {
    let runs = runs_of(Args::default());
    let mut steps: Vec<_> = runs.iter().map(|run| run.step.as_str()).collect();
    let count = steps.len();
    steps.sort_unstable();
    steps.dedup();
    assert_eq!(steps.len(), count);
}

#[test]
fn each_benchmark_name_selects_a_program() {
    for name in names() {
        let runs = runs_of(Args {
            name: Some(name.to_owned()),
            ..Args::default()
        });
        assert!(!runs.is_empty(), "{name}");
    }
}

#[test]
fn a_workload_is_one_run_of_the_scheduler() {
    let runs = runs_of(Args {
        name: Some("yield_many".to_owned()),
        quick: true,
        ..Args::default()
    });
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
        let runs = runs_of(Args {
            name: Some(name.to_owned()),
            workers: vec![3, 4],
            ..Args::default()
        });
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
        let runs = runs_of(Args {
            workers: vec![2],
            quick,
            ..Args::default()
        });
        for run in &runs {
            let count = |option: &str| run.args.iter().filter(|word| *word == option).count();
            assert!(count("--workers") <= 1, "{run:?}");
            assert_eq!(count("--rounds"), 1, "{run:?}");
        }
        let fixed = runs
            .iter()
            .filter(|run| !run.args.join(" ").contains("--workers 2"));
        let fixed: Vec<_> = fixed.map(|run| run.step.as_str()).collect();
        let expected = [
            "scaling",
            "queue",
            "io-pinned",
            "http-pinned",
            "http-paced",
            "databases",
            "async-cost",
        ];
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
