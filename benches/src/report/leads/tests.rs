use super::*;

fn comparison(title: &str, figure: &str, others: &[&str]) -> Comparison {
    let contestants = [&["raddle"], others].concat();
    let contestants: Vec<_> = contestants.into_iter().map(|name| (name, 1.0)).collect();
    Comparison {
        figure: figure.to_owned(),
        ..Comparison::sample(title, &contestants)
    }
}

fn names(comparisons: &[Comparison]) -> Vec<String> {
    leads(comparisons)
        .into_iter()
        .map(|(name, _)| name)
        .collect()
}

#[test]
fn rows_are_named_without_what_all_end_with() {
    let spawn = comparison("spawn, 2 workers", "time", &[PEER, "smol"]);
    let wake = comparison("wake, 2 workers", "time", &[PEER]);
    assert_eq!(names(&[spawn.clone(), wake.clone()]), ["spawn", "wake"]);
    let cpu = comparison("spawn, 2 workers", "CPU", &[PEER]);
    assert_eq!(
        names(&[cpu, wake]),
        ["spawn, 2 workers, CPU", "wake, 2 workers, time"]
    );
    assert_eq!(names(&[spawn]), ["spawn, 2 workers, time"]);
    assert_eq!(names(&[]), [""; 0]);
}

#[test]
fn without_tokio_each_that_took_part_has_a_row() {
    let queue = comparison("owner alone", "time", &["st3", "crossbeam-deque"]);
    let rows = [
        "st3: owner alone, time",
        "crossbeam-deque: owner alone, time",
    ];
    assert_eq!(names(&[queue]), rows);
}
