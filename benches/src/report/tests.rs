use super::*;
use crate::executors::{Executor, TokioThreadpool};
use crate::machine::Machine;
use crate::record::Section;

fn comparison(section: Section, workers: f64, ours: f64) -> Comparison {
    let old = TokioThreadpool::NAME;
    let contestants = [("raddle", ours), (PEER, 10.0), (old, 30.0)];
    let comparison = Comparison::sample("chained_spawn", &contestants);
    Comparison {
        section,
        ..comparison.with("workers", workers)
    }
}

fn record(comparisons: Vec<Comparison>) -> Record {
    Record {
        command: "side_by_side --quick".to_owned(),
        finished: 1_800_000_000,
        machine: Machine {
            cores: 2,
            ..Machine::this()
        },
        notes: vec!["no <wrk>".to_owned()],
        comparisons,
    }
}

fn report(saved: Option<Saved>) -> Report {
    let earlier = comparison(Section::Scheduler, 2.0, 1.0);
    let later = [4.0, 2.0, 1.0].map(|workers| comparison(Section::Scheduler, workers, 5.0));
    let records = vec![
        record(vec![earlier, comparison(Section::Http, 1.0, 20.0)]),
        record(later.to_vec()),
    ];
    Report::new("cargo xtask bench".to_owned(), records, saved)
}

#[test]
fn a_later_record_replaces_an_earlier_one_and_values_are_in_order() {
    let report = report(None);
    let [scheduler, http] = &report.groups[..] else {
        panic!("two groups");
    };
    assert_eq!(http.first().section, Section::Http);
    let values: Vec<_> = scheduler.0.iter().map(Comparison::value).collect();
    assert_eq!(values, [1.0, 2.0, 4.0]);
    assert_eq!(scheduler.usual().lead(PEER).unwrap().median, 2.0);
}

#[test]
fn the_page_has_notes_totals_curves_and_the_announced_table() {
    let page = report(None).page();
    for text in [
        "<strong>3</strong> of 4 figures",
        "Behind: chained_spawn, workers 1, time (0.50).",
        "no &lt;wrk&gt;",
        "aria-label=\"chained_spawn: time, us, by workers\"",
        "<td>12.0 (2019796 to 168854 ns)</td><td>3.00 (3.00 to 3.00)</td><td>6.00 (6.00 to 6.00)</td>",
        "old 30, Tokio 10, Raddle 5 us; workers 2",
        "<h2 id=\"Scheduler\">The scheduler</h2>",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("<script"), "{page}");
}

#[test]
fn a_change_compares_the_ratios_and_not_the_times() {
    let mut then = comparison(Section::Scheduler, 2.0, 10.0);
    // The machine was slower then, for all contestants.
    for contestant in &mut then.contestants {
        contestant.rounds.iter_mut().for_each(|round| *round *= 7.0);
    }
    let saved = Saved {
        name: "before".to_owned(),
        records: vec![record(vec![then])],
    };
    let summary = report(Some(saved)).summary();
    let row = "chained_spawn, workers 2, time / tokio | 1.00 (1.00 to 1.00) | 2.00 (2.00 to 2.00) \
               | **+100 %** |";
    assert!(summary.contains(row), "{summary}");
}

#[test]
fn an_interval_around_one_or_of_few_rounds_is_level() {
    let standing = |low, high, count| {
        let median = 1.0;
        Standing::of(Interval {
            median,
            low,
            high,
            count,
        })
    };
    assert_eq!(standing(0.9, 1.1, 6), Standing::Level);
    assert_eq!(standing(1.01, 1.1, 6), Standing::Ahead);
    assert_eq!(standing(0.9, 0.99, 6), Standing::Behind);
    // A lead that is shown as 1.00 is no lead.
    assert_eq!(standing(1.004, 1.1, 6), Standing::Level);
    assert_eq!(standing(0.9, 0.996, 6), Standing::Level);
    assert_eq!(standing(2.0, 2.0, 1), Standing::Level);
    assert_eq!(standing(0.5, 0.5, 5), Standing::Level);
}

#[test]
fn tables_replace_those_between_the_marks_of_a_document() {
    let document = "before\n<!-- figures -->\nold\n<!-- end of figures -->\nafter\n";
    let new = renewed(document, "figures", &report(None).tables()).unwrap();
    assert!(new.starts_with("before\n<!-- figures -->\n"), "{new}");
    assert!(new.ends_with("\n<!-- end of figures -->\nafter\n"), "{new}");
    assert!(!new.contains("old\n"), "{new}");
    let row = "| chained_spawn, workers 2: time | 5.00 | 10.0 | 2.00 (2.00 to 2.00) | us |";
    assert!(new.contains(row), "{new}");
    assert_eq!(renewed("no marks", "figures", ""), None);
}

#[test]
fn leads_name_the_rival_without_tokio_and_leave_out_the_common_end() {
    let names = |comparisons: &[Comparison]| {
        let rows = leads(comparisons).into_iter();
        rows.map(|(name, _)| name).collect::<Vec<_>>()
    };
    let queues = [("raddle-queue", 1.0), ("st3", 2.0), ("crossbeam", 3.0)];
    let alone = Comparison::sample("owner alone", &queues);
    assert_eq!(
        names(&[alone]),
        ["st3: owner alone", "crossbeam: owner alone"]
    );
    let sample = |title| Comparison::sample(title, &[("raddle", 1.0), (PEER, 2.0)]);
    assert_eq!(
        names(&[sample("spawn, 2 workers")]),
        ["spawn, 2 workers, time"]
    );
    let both = [sample("spawn, 2 workers"), sample("wake, 2 workers")];
    assert_eq!(names(&both), ["spawn", "wake"]);
    let rows = ["spawn, 2 workers: time", "wake, 2 workers: time"];
    let mut rows = rows.map(|name| (name.to_owned(), ()));
    assert_eq!(remove_common_end(&mut rows), ", 2 workers: time");
    assert_eq!(rows[1].0, "wake");
}

#[test]
fn a_picture_has_its_own_style_and_the_requested_curves() {
    let report = report(None);
    let picture = report.picture("chained", &["time", "time"]).unwrap();
    assert!(picture.contains("><style>") && picture.contains("width=\"840\""));
    assert_eq!(picture.matches("\nraddle\n").count(), 2, "{picture}");
    assert_eq!(report.picture("chained", &["none"]), None);
    assert!(report.leads("leads", 2.0).contains("\nchained_spawn"));
}
