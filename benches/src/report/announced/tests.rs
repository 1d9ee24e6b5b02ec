use super::*;
use crate::record::Record;

fn spawned(workers: f64) -> Comparison {
    let contestants = [
        ("raddle", 10.0),
        (PEER, 20.0),
        (TokioThreadpool::NAME, 100.0),
    ];
    Comparison::sample("chained_spawn", &contestants).with("workers", workers)
}

#[test]
fn the_announced_ratio_is_beside_that_of_here() {
    let mut machine = crate::machine::Machine::this();
    machine.cores = 2;
    let record = Record {
        command: String::new(),
        finished: 0,
        machine,
        notes: Vec::new(),
        comparisons: [1.0, 2.0, 8.0].map(spawned).to_vec(),
    };
    let rows = rows(&Report::new(String::new(), vec![record], None));
    assert_eq!(rows.len(), 1);
    assert!((rows[0].claimed - 11.96).abs() < 0.01);
    assert_eq!(rows[0].tokio.unwrap().median, 5.0);
    assert_eq!(rows[0].raddle.unwrap().median, 10.0);
    assert!(rows[0].here.ends_with("workers 2"), "{}", rows[0].here);
}

#[test]
fn thousands_are_apart() {
    assert_eq!(thousands(21_450_748.0), "21,450,748");
    assert_eq!(thousands(999.6), "1,000");
    assert_eq!(thousands(12.0), "12");
}
