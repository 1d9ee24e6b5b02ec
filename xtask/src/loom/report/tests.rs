use super::*;

const OUTPUT: &str = "
model one: 12 executions, complete, 0.50 s
model two: 7 executions, bounded at 3 preemptions, 1.25 s
";

fn report(output: &str) -> Report {
    let mut report = Report::default();
    report.add("raddle-task", "loom_wake", output);
    report
}

#[test]
fn a_test_of_several_models_is_complete_if_all_are() {
    let report = report(
        "model one: 12 executions, complete, 0.50 s\n\
         model one: 3 executions, bounded at 3 preemptions, 0.50 s\n\
         model one: 5 executions, bounded at 2 preemptions, 0.50 s",
    );
    let expected = Model {
        executions: 20,
        bound: Some(2),
        seconds: 1.5,
    };
    assert_eq!(Vec::from_iter(report.0.values()), [&expected]);
}

#[test]
fn the_table_counts_by_area() {
    let table = report(OUTPUT).tables();
    let squeezed: Vec<_> = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    for line in [
        "loom_wake::one 12 complete 0.50",
        "loom_wake::two 7 bounded at 3 1.25",
        "task cell 2 1 1 19 1.75",
    ] {
        assert!(squeezed.contains(&line.to_owned()), "{table}");
    }
}
