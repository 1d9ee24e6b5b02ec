use super::*;

/// What is made of the output of `script`.
///
/// A test that expects a suite to end does not depend on how long it takes.
fn outcome(script: &str, limit: Limit) -> Outcome {
    execute(Command::new("sh").args(["-c", script]), limit)
        .unwrap()
        .0
}

/// What is made of a suite that has begun its test `a` and then runs `script`.
fn outcome_after_start(script: &str, limit: Limit) -> Outcome {
    let mut command = Command::new("sh");
    command.args(["-c", script]).process_group(0);
    let mut child = command.spawn().unwrap();
    // All of it is there before the limits are looked at.
    let (sender, words) = mpsc::channel();
    for word in ["test ", "a ", "... "] {
        sender.send(word.to_owned()).unwrap();
    }
    let (outcome, _) = follow(&words, child.id(), limit);
    end(&mut child).unwrap();
    outcome
}

const HOUR: Duration = Duration::from_secs(3600);

const LONG: Limit = Limit {
    idle: HOUR,
    processor: HOUR,
    wall: HOUR,
};

#[test]
fn the_first_that_fails_is_named_as_soon_as_it_is_known() {
    let failed = |name: &str| Outcome::Failed(name.to_owned());
    for (script, expected) in [
        (
            "echo; echo 'running 2 tests'; echo 'test a ... ok'; sleep 1; echo 'test b ... ok'; \
             echo; echo 'test result: ok. 2 passed'",
            Outcome::AllPassed,
        ),
        (
            "echo 'test a ... ok'; echo 'test b ... FAILED'; printf 'test c ... '; exec sleep 600",
            failed("b"),
        ),
        // The process ends.
        (
            "echo 'test a ... ok'; printf 'test b ... '; kill -9 $$",
            failed("b"),
        ),
        // A model prints words of its own.
        (
            "echo 'test a ... ok'; echo 'a test (of words) FAILED'; printf 'test b ... '; echo FAILED",
            failed("b"),
        ),
    ] {
        assert_eq!(outcome(script, LONG), expected, "{script}");
    }
}

#[test]
fn one_that_waits_for_ever_is_named() {
    let idle = Duration::from_millis(500);
    let limit = Limit { idle, ..LONG };
    assert_eq!(
        outcome_after_start("exec sleep 600", limit),
        Outcome::TimedOut("a".to_owned())
    );
}

#[test]
fn one_that_computes_for_ever_is_named() {
    let processor = Duration::from_millis(500);
    let limit = Limit { processor, ..LONG };
    assert_eq!(
        outcome_after_start("while true; do true; done", limit),
        Outcome::TimedOut("a".to_owned())
    );
}

#[test]
fn the_time_in_which_the_process_was_stopped_counts_as_two_intervals() {
    let start = Instant::now();
    let mut stopwatch = Stopwatch::start(start);
    assert_eq!(stopwatch.look(start + INTERVAL), INTERVAL);
    assert_eq!(stopwatch.look(start + INTERVAL), INTERVAL);
    assert_eq!(stopwatch.look(start + HOUR), 3 * INTERVAL);
    assert_eq!(stopwatch.look(start + HOUR + INTERVAL), 4 * INTERVAL);
}

/// A program that notes mutants 2 and 5 as reached, and 7 too if 2 is on.
const PROGRAM: &str = r#"#!/bin/sh
note() { printf '\001' | dd of="$RADDLE_MUTANTS_REACHED" bs=1 seek="$1" conv=notrunc 2>&1; }
note 2 >/dev/null
note 5 >/dev/null
test "$RADDLE_MUTANT" = 2 && note 7 >/dev/null
echo 'test result: ok.'
"#;

#[test]
fn a_mutant_that_a_later_run_reaches_is_new_to_the_suite() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("suite");
    fs::write(&program, PROGRAM).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut suite = Suite {
        package: "a".to_owned(),
        name: "b".to_owned(),
        dir: dir.path().to_owned(),
        program,
        usual: Cost::default(),
        reached: BTreeSet::new(),
    };
    suite.try_out(Stage::Tests).unwrap();
    assert_eq!(suite.reached, BTreeSet::from([2, 5]));
    for (mutant, new) in [(5, None), (2, Some(7)), (2, None)] {
        assert_eq!(suite.run(Stage::Tests, mutant).unwrap(), Outcome::AllPassed);
        assert_eq!(suite.refresh().unwrap(), BTreeSet::from_iter(new));
    }
    assert_eq!(suite.reached, BTreeSet::from([2, 5, 7]));
}
