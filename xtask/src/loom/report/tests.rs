use super::*;

fn output(lines: &[&str]) -> Output {
    let mut output = Output::default();
    for line in lines {
        output.read("", line);
    }
    output
}

#[test]
fn output_keeps_every_line_to_print_after_a_failure() {
    let lines = [
        "model a_push_is_stolen_once: 12 executions, complete, 0.01 s",
        "Causality violation",
    ];
    assert_eq!(output(&lines).lines(), lines);
}

#[test]
fn a_line_of_a_model_gives_its_counts() {
    let output = output(&[
        "model one: 12 executions, complete, 0.50 s",
        "model two: 7 executions, bounded at 3 preemptions, 1.25 s",
    ]);
    let read: Vec<_> = output
        .models
        .iter()
        .map(|model| (model.name.as_str(), model.executions, model.bound))
        .collect();
    assert_eq!(read, [("one", 12, None), ("two", 7, Some(3))]);
    assert_eq!(output.models[1].time, Duration::from_millis(1250));
}

#[test]
fn a_test_of_several_models_is_complete_if_all_are() {
    let output = output(&[
        "model one: 12 executions, complete, 0.50 s",
        "model one: 3 executions, bounded at 3 preemptions, 0.50 s",
        "model one: 5 executions, bounded at 2 preemptions, 0.50 s",
    ]);
    assert_eq!(output.models.len(), 1);
    assert_eq!(output.models[0].executions, 20);
    assert_eq!(output.models[0].bound, Some(2));
}

#[test]
fn the_table_counts_by_area() {
    let mut report = Report::default();
    let lines = [
        "model one: 12 executions, complete, 0.50 s",
        "model two: 7 executions, bounded at 3 preemptions, 1.25 s",
    ];
    let area = area("raddle-task", "loom_wake");
    report.add(area, "loom_wake", &output(&lines));
    let table = report.to_string();
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
