use super::*;
use crate::machine::Machine;

fn comparison(section: Section, workers: f64, ours: f64) -> Comparison {
    let contestants = [("raddle", ours), (PEER, 10.0), ("other", 30.0)];
    Comparison {
        section,
        ..Comparison::sample("spawn", &contestants).with("workers", workers)
    }
}

fn record(comparisons: Vec<Comparison>) -> Record {
    Record {
        command: "side_by_side --quick".to_owned(),
        finished: 1_800_000_000,
        machine: Machine::this(),
        notes: vec!["no <wrk>".to_owned()],
        comparisons,
    }
}

fn report(saved: Option<Saved>) -> Report {
    let earlier = comparison(Section::Scheduler, 2.0, 1.0);
    let records = vec![
        record(vec![earlier, comparison(Section::Http, 1.0, 20.0)]),
        record(
            [4.0, 2.0, 1.0]
                .map(|at| comparison(Section::Scheduler, at, 5.0))
                .to_vec(),
        ),
    ];
    Report::new("cargo xtask bench".to_owned(), records, saved)
}

#[test]
fn variants_are_in_order_and_a_later_record_replaces_an_earlier_one() {
    let report = report(None);
    let [scheduler, http] = &report.parts[..] else {
        panic!("two sections");
    };
    assert_eq!(
        (scheduler.section, http.section),
        (Section::Scheduler, Section::Http)
    );
    let [group] = &scheduler.groups[..] else {
        panic!("one group");
    };
    let values: Vec<_> = group.0.iter().map(value).collect();
    assert_eq!(values, [1.0, 2.0, 4.0]);
    assert_eq!(group.0[1].lead(PEER).unwrap().median, 2.0);
    assert_eq!(value(group.usual()), 2.0);
}

#[test]
fn the_page_explains_its_figures() {
    let page = report(None).page();
    assert!(page.contains("<strong>3</strong> of 4 figures"), "{page}");
    assert!(
        page.contains("Behind: spawn, workers 1, time (0.50)."),
        "{page}"
    );
    assert!(page.contains("no &lt;wrk&gt;"), "{page}");
    assert!(!page.contains("<script"), "{page}");
}

#[test]
fn each_section_has_its_title_and_text() {
    assert_eq!(words::about(Section::Scheduler).0, "The scheduler");
    let (title, text) = words::about(Section::AsyncCost);
    assert_eq!(title, "What async costs");
    assert!(text.starts_with("The same server"), "{text}");
}

#[test]
fn the_summary_counts_all_figures() {
    let text = report(None).summary();
    let total = "ahead of Tokio at **3** of 4 figures, level at 0 and behind at 1";
    assert!(text.contains(total), "{text}");
}

#[test]
fn a_change_is_that_of_the_ratio_to_what_ran_beside() {
    let mut then = comparison(Section::Scheduler, 2.0, 10.0);
    // The machine was slower then, for all.
    for contestant in &mut then.contestants {
        contestant.rounds.iter_mut().for_each(|round| *round *= 7.0);
    }
    let saved = Saved {
        name: "before".to_owned(),
        records: vec![record(vec![then])],
    };
    let report = report(Some(saved));
    let changes = compare::changes(&report);
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].factor(), 2.0);
    assert!(changes[0].is_sure());
    assert!(report.page().contains("Against before"));
}

#[test]
fn level_is_what_the_interval_cannot_tell_apart() {
    let standing = |low, high, count| {
        Standing::of(Interval {
            median: 1.0,
            low,
            high,
            count,
        })
    };
    assert_eq!(standing(0.9, 1.1, 6), Standing::Level);
    assert_eq!(standing(1.01, 1.1, 6), Standing::Ahead);
    assert_eq!(standing(0.9, 0.99, 6), Standing::Behind);
    // What is shown as 1.00 is no lead, and few rounds say nothing.
    assert_eq!(standing(1.004, 1.1, 6), Standing::Level);
    assert_eq!(standing(0.9, 0.996, 6), Standing::Level);
    assert_eq!(standing(2.0, 2.0, 1), Standing::Level);
    assert_eq!(standing(0.5, 0.5, 5), Standing::Level);
}

#[test]
fn the_tables_of_a_document_are_renewed_between_its_marks() {
    let report = report(None);
    let document = "before\n<!-- figures -->\nold\n<!-- end of figures -->\nafter\n";
    let renewed = report.renewed(document).unwrap();
    assert!(
        renewed.starts_with("before\n<!-- figures -->\n"),
        "{renewed}"
    );
    assert!(
        renewed.ends_with("\n<!-- end of figures -->\nafter\n"),
        "{renewed}"
    );
    assert!(!renewed.contains("old"), "{renewed}");
    let row = "| spawn, workers 2: time | 5.00 | 10.0 | 2.00 (2.00 to 2.00) | us |";
    assert!(renewed.contains(row), "{renewed}");
    assert_eq!(report.renewed(&renewed).unwrap(), renewed);
    assert_eq!(report.renewed("no marks"), None);
}
