use super::*;
use crate::latency::PERCENTILES;
use crate::record::{Case, Figure, Section};

fn record(finished: u64, ours: [(usize, f64); 2]) -> Record {
    let comparison = |(workers, ours)| Comparison {
        section: Section::Scheduler,
        case: Case::with("chained_spawn", "workers", workers),
        figure: Figure::less("time", "us"),
        contestants: [("raddle", ours), (PEER, 10.0), ("tokio-threadpool", 30.0)]
            .map(|(name, value)| Contestant {
                name: name.to_owned(),
                rounds: vec![value; 6],
            })
            .into(),
    };
    Record {
        command: "side_by_side".to_owned(),
        finished,
        machine: "a machine".to_owned(),
        cores: 2,
        notes: Vec::new(),
        comparisons: ours.map(comparison).into(),
    }
}

#[test]
fn a_later_record_replaces_an_earlier_one_and_is_compared_with_a_saved_one() {
    let records = vec![
        record(1, [(2, 1.0), (1, 20.0)]),
        record(2, [(4, 5.0), (2, 5.0)]),
    ];
    let saved = ("first".to_owned(), vec![record(0, [(2, 10.0), (8, 1.0)])]);
    let text = Report::new(records, Some(saved)).summary();
    for row in [
        "| chained_spawn | 12.0 | 3.00 (3.00 to 3.00) | 6.00 (6.00 to 6.00) | old 30, Tokio 10, Raddle 5 us; ",
        "Raddle is ahead at 2, level at 0 and behind at 1; in the middle it is 2.00 times as good. \
         Behind: chained_spawn, workers 1, time (0.50).",
        "| chained_spawn, workers 2: time | 5.00 | 10.0 | 2.00 (2.00 to 2.00) | us |",
        "| chained_spawn, workers 2, time / tokio | 1.00 (1.00 to 1.00) | 2.00 (2.00 to 2.00) | **+100 %** |",
    ] {
        assert!(text.contains(row), "{row}\n{text}");
    }
}

#[test]
fn the_percentiles_of_a_case_share_a_row_of_the_documentation() {
    let one = record(1, [(1, 5.0), (2, 5.0)]);
    let figures = |section| {
        let comparison = &one.comparisons[0];
        PERCENTILES.iter().map(move |figure| Comparison {
            section,
            figure: figure.clone(),
            ..comparison.clone()
        })
    };
    let comparisons = figures(Section::Latency).chain(figures(Section::Blocked));
    let comparisons = comparisons.collect();
    let text = Report::new(vec![Record { comparisons, ..one }], None).documented();
    let row = "| chained_spawn, workers 1: p50/p90/p99/p99.9 | 5.00, 5.00, 5.00, 5.00 | \
               10.0, 10.0, 10.0, 10.0 | 2.00 (2.00 to 2.00), 2.00 (2.00 to 2.00), 2.00 (2.00 to 2.00), 2.00 (2.00 to 2.00) | us |";
    for section in ["### Tail latency", "### Long polls"] {
        let (_, text) = text.split_once(section).unwrap();
        assert!(text.contains(row), "{text}");
    }
}

#[test]
fn the_percentiles_of_several_cases_are_named_together() {
    let one = record(1, [(1, 5.0), (2, 5.0)]);
    let comparisons = ["one", "two"]
        .into_iter()
        .flat_map(|title| PERCENTILES.iter().map(move |figure| (title, figure)));
    let comparisons = comparisons.map(|(title, figure)| Comparison {
        section: Section::Latency,
        case: Case::new(title.to_owned()),
        figure: figure.clone(),
        ..one.comparisons[0].clone()
    });
    let comparisons = comparisons.collect();
    let text = Report::new(vec![Record { comparisons, ..one }], None).documented();
    for row in ["| one: p50/p90/p99/p99.9 |", "| two: p50/p90/p99/p99.9 |"] {
        assert!(text.contains(row), "{text}");
    }
}

#[test]
fn long_lines_are_wrapped_except_those_of_tables() {
    let long = "word ".repeat(50);
    let wrapped = wrap(&long);
    assert!(wrapped.lines().all(|line| line.len() <= 100), "{wrapped}");
    assert_eq!(wrapped.split_whitespace().count(), 50);
    let row = format!("| {long}|");
    assert_eq!(wrap(&row), format!("{row}\n"));
}

#[test]
fn each_row_of_the_first_page_is_in_the_documentation() {
    let one = record(1, [(1, 5.0), (2, 4.0)]);
    let comparisons = FIRST.iter().map(|(_, case, figure)| Comparison {
        case: Case::new(format!("{case}, and so on")),
        figure: Figure {
            name: (*figure).into(),
            ..one.comparisons[0].figure.clone()
        },
        ..one.comparisons[0].clone()
    });
    let comparisons = comparisons.collect();
    let report = Report::new(vec![Record { comparisons, ..one }], None);
    let first = report.first();
    assert_eq!(first.lines().count(), 2 + FIRST.len());
    for row in first.lines().skip(2) {
        let figures = row.split(" | ").skip(1);
        let mut lines = report
            .documented()
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        figures
            .for_each(|figure| lines.retain(|line| line.contains(figure.trim_end_matches(" |"))));
        assert!(!lines.is_empty(), "{row}");
    }
}

#[test]
fn an_interval_around_one_or_of_few_rounds_is_level() {
    for (rounds, expected) in [
        (&[0.9, 1.1].repeat(3)[..], Ordering::Equal),
        (&[1.01; 6], Ordering::Greater),
        (&[0.99; 6], Ordering::Less),
        // A lead that is shown as 1.00 is no lead.
        (&[1.004; 6], Ordering::Equal),
        (&[2.0; 5], Ordering::Equal),
    ] {
        assert_eq!(standing(crate::stats::interval(rounds)), expected);
    }
}
