use super::{Comparison, Record, Trace, compare_written};

fn trace(records: &[Record]) -> Trace {
    let mut trace = Trace::new(true);
    for (at, record) in records.iter().enumerate() {
        trace.add(at as u64 * 1_000_000, *record);
    }
    trace
}

fn compare(one: &Trace, other: &Trace) -> Comparison {
    let hosts = ["a".to_owned(), "b".to_owned()];
    let [one_text, other_text] = [one, other].map(|trace| {
        let mut text = Vec::new();
        trace.write(&hosts, &mut text).unwrap();
        text
    });
    let comparison = compare_written(&one_text[..], &other_text[..]).unwrap();
    assert_eq!(comparison.difference, one.difference(other, &hosts));
    comparison
}

const STEP: Record = Record::Step { host: 0, worker: 1 };
const SENT: Record = Record::Sent {
    from: 0,
    to: 1,
    bytes: 9,
    hash: 0,
};

#[test]
fn the_first_difference_is_found() {
    let one = trace(&[STEP, SENT, Record::Ending]);
    assert_eq!(compare(&one, &one).difference, None);
    let difference = compare(&one, &trace(&[STEP, STEP, STEP])).difference;
    let expected = "event 1 is 9 bytes (hash 0000000000000000) from a to b at 1ms in one run, and \
                    a step of worker 1 of a at 1ms in the other";
    assert_eq!(difference.unwrap(), expected);
    let expected = "event 2 is the end of the simulation at 2ms in one run, and the end in the \
                    other";
    let shorter = trace(&[STEP, SENT]);
    assert_eq!(compare(&one, &shorter).difference.unwrap(), expected);
    assert!(compare(&shorter, &one).difference.is_some());
}

#[test]
fn the_last_events_are_those_before_the_end() {
    let mut records = vec![STEP; 7];
    records.extend([SENT, Record::Ending, STEP, SENT]);
    let comparison = compare(&trace(&records), &trace(&[]));
    assert_eq!(comparison.end.unwrap().as_millis(), 8);
    let [(a, of_a), (b, of_b)] = &comparison.last_events[..] else {
        panic!("{comparison:?}");
    };
    assert_eq!((a.as_str(), b.as_str()), ("a", "b"));
    assert_eq!(of_a.len(), 5);
    assert_eq!(of_a[0], "a step of worker 1 of a at 3ms");
    assert_eq!(
        of_a[4],
        "9 bytes (hash 0000000000000000) from a to b at 7ms"
    );
    assert_eq!(
        of_b,
        &["9 bytes (hash 0000000000000000) from a to b at 7ms"]
    );
}
