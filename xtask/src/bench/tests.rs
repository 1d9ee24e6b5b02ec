use super::*;

fn runs_of(args: Args) -> Vec<Run> {
    programs::runs(&args)
}

#[test]
fn without_a_name_all_run_each_to_a_file_of_its_own() {
    let runs = runs_of(Args::default());
    let mut steps: Vec<_> = runs.iter().map(|run| run.step.as_str()).collect();
    let count = steps.len();
    steps.sort_unstable();
    steps.dedup();
    assert_eq!(steps.len(), count);
}

#[test]
fn each_name_runs_something() {
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
fn workers_are_a_list_or_runs_of_their_own() {
    let of = |name: &str| {
        let runs = runs_of(Args {
            name: Some(name.to_owned()),
            workers: vec![3, 4],
            ..Args::default()
        });
        let told = |run: &Run| format!("{} {}", run.step, run.args.join(" "));
        runs.iter().map(told).collect::<Vec<_>>()
    };
    assert!(of("sched").contains(&"scheduler --workers 3,4 --rounds 30".to_owned()));
    assert_eq!(of("policies")[1], "policies-4 --workers 4 --rounds 30");
    assert_eq!(of("queue"), ["queue --rounds 30"]);
}
