use super::*;

fn comparison(better: Better) -> Comparison {
    let contestants = [("raddle", 1.0), (PEER, 4.0), ("none", 0.0)];
    let comparison = Comparison::sample("spawn", &contestants).with("workers", 2.0);
    Comparison {
        better,
        ..comparison
    }
}

#[test]
fn a_lead_above_one_is_ahead_whether_less_or_more_is_better() {
    assert_eq!(comparison(Better::Less).lead(PEER).unwrap().median, 4.0);
    assert_eq!(comparison(Better::More).lead(PEER).unwrap().median, 0.25);
}

#[test]
fn a_contestant_without_a_value_has_no_lead() {
    assert_eq!(comparison(Better::Less).lead("none"), None);
    assert_eq!(comparison(Better::Less).lead("smol"), None);
}

#[test]
fn a_written_record_is_read_back() {
    let directory = std::env::temp_dir().join(format!("raddle-record-{}", std::process::id()));
    let mut record = Record {
        command: "side_by_side".to_owned(),
        finished: 2,
        machine: Machine::this(),
        notes: vec!["no strace".to_owned()],
        comparisons: vec![comparison(Better::Less)],
    };
    record.write(&directory.join("b.json")).unwrap();
    record.finished = 1;
    record.write(&directory.join("a.json")).unwrap();
    let read = Record::read_all(&directory).unwrap();
    fs::remove_dir_all(&directory).unwrap();
    assert_eq!(read[0], record);
    assert_eq!(read[1].finished, 2);
    assert_eq!(Record::read_all(&directory).unwrap(), []);
}

#[test]
fn comparisons_that_differ_in_the_parameter_only_are_one_curve() {
    let one = comparison(Better::Less);
    let mut other = one.clone();
    other.parameter = Some(Parameter::new("workers", 4.0));
    assert!(one.is_varied(&other) && !one.is_same(&other));
    other.parameter = Some(Parameter::new("tasks", 2.0));
    assert!(!one.is_varied(&other));
}

#[test]
fn parameters_print_with_short_units() {
    let short = |name, value| Parameter::new(name, value).to_string();
    assert_eq!(short("tasks", 1_000_000.0), "tasks 1M");
    assert_eq!(short("tasks", 1_500.0), "tasks 1500");
    assert_eq!(short("connections", 10_000.0), "connections 10k");
    assert_eq!(short("bytes", 16.0), "16 B");
    assert_eq!(short("bytes", 65_536.0), "64 KiB");
    assert_eq!(short("percentile", 99.9), "p99.9");
    assert_eq!(short("percentile", 100.0), "worst");
}
