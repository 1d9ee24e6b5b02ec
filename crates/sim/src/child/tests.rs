use std::path::PathBuf;
use std::process::ExitStatus;

use super::{Files, Plan, Progress};

#[test]
fn a_plan_is_read_as_it_was_written_and_its_length_is_always_the_same() {
    let plan = |first, keeps_trace| Plan {
        first,
        step: 8,
        last: u64::MAX,
        keeps_trace,
        has_dumps: !keeps_trace,
        location: "tests/all.rs:1:2".to_owned(),
        files: Files {
            directory: PathBuf::from("/tmp/a;b"),
            number: 7,
        },
    };
    let (one, other) = (plan(3, true).to_text(), plan(u64::MAX, false).to_text());
    assert_eq!(one.len(), other.len());
    let read = Plan::from_text(&one).unwrap();
    assert_eq!((read.first, read.step, read.last), (3, 8, u64::MAX));
    assert!(read.keeps_trace && !read.has_dumps);
    assert!(Plan::from_text(&other).unwrap().has_dumps);
    assert_eq!(read.location, "tests/all.rs:1:2");
    assert_eq!(read.files.directory, PathBuf::from("/tmp/a;b"));
    assert_eq!(read.files.number, 7);
    assert!(Plan::from_text("1;2").is_none());
}

#[test]
fn seeds_below_one_that_has_failed_are_still_run() {
    let directory = tempfile::tempdir().unwrap();
    let files = Files {
        directory: directory.path().to_owned(),
        number: 0,
    };
    let fail = |seed| {
        files
            .write_progress(&Progress::Failed(seed, "it fails"))
            .unwrap();
        files.report(ExitStatus::default()).unwrap();
    };
    assert!(!files.is_needless(5));
    fail(5);
    assert!(!files.is_needless(5) && files.is_needless(6));
    fail(3);
    assert!(!files.is_needless(3) && files.is_needless(4));
    fail(4);
    assert!(files.is_needless(4), "the lowest counts");
}
