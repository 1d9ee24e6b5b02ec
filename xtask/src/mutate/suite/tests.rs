use super::*;

/// What is made of the output of `script`.
fn outcome(script: &str, limit: Limit) -> Outcome {
    execute(Command::new("sh").args(["-c", script]), limit)
        .unwrap()
        .0
}

const LONG: Limit = Limit {
    idle: Duration::from_secs(60),
    processor: Duration::from_secs(60),
    wall: Duration::from_secs(60),
};

#[test]
fn a_suite_that_passes() {
    let script = "echo; echo 'running 2 tests'; echo 'test a ... ok'; echo 'test b ... ok'; \
                  echo; echo 'test result: ok. 2 passed'";
    assert_eq!(outcome(script, LONG), Outcome::AllPassed);
}

#[test]
fn the_first_that_fails_is_named_before_the_others_have_run() {
    let script = "echo 'running 3 tests'; echo 'test a ... ok'; echo 'test b ... FAILED'; \
                  printf 'test c ... '; exec sleep 600";
    assert_eq!(outcome(script, LONG), Outcome::Failed("b".to_owned()));
}

#[test]
fn one_that_ends_the_process_is_named() {
    let script = "echo 'running 3 tests'; echo 'test a ... ok'; printf 'test b ... '; kill -9 $$";
    assert_eq!(outcome(script, LONG), Outcome::Failed("b".to_owned()));
}

#[test]
fn one_that_waits_for_ever_is_named() {
    let script = "echo 'running 1 test'; printf 'test a ... '; exec sleep 600";
    let idle = Duration::from_millis(500);
    let limit = Limit { idle, ..LONG };
    assert_eq!(outcome(script, limit), Outcome::TimedOut("a".to_owned()));
}

#[test]
fn one_that_computes_for_ever_is_named() {
    let script = "echo 'running 1 test'; printf 'test a ... '; while true; do true; done";
    let processor = Duration::from_millis(500);
    let limit = Limit { processor, ..LONG };
    assert_eq!(outcome(script, limit), Outcome::TimedOut("a".to_owned()));
}

#[test]
fn one_that_waits_for_less_than_the_limit_is_waited_for() {
    let script = "printf 'test a ... '; sleep 1; echo ok; echo 'test result: ok. 1 passed'";
    assert_eq!(outcome(script, LONG), Outcome::AllPassed);
}

#[test]
fn what_a_model_prints_is_not_taken_for_a_verdict() {
    let script = "echo 'running 2 tests'; echo 'test a ... ok'; echo 'a test (of words) FAILED'; \
                  printf 'test b ... '; echo 'FAILED'";
    assert_eq!(outcome(script, LONG), Outcome::Failed("b".to_owned()));
}
