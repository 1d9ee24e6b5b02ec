//! Starts the program with the variables that `docs/guide/tokio.md` names.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Runs the program until it has printed a line for each of these texts.
fn run(variables: &[(&str, &str)], texts: &[&str]) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tooled"))
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(program.stderr.take().unwrap()).lines();
    let mut lines = lines.map(|line| line.unwrap());
    let mut missing = texts.to_vec();
    while !missing.is_empty() {
        let line = lines.next().unwrap();
        missing.retain(|text| !line.contains(text));
    }
    drop(program.stdin.take());
    if texts.is_empty() {
        assert_eq!(lines.next(), None);
    }
    let _ = lines.count();
    assert!(program.wait().unwrap().success());
}

#[test]
fn variables_switch_the_tools_on_in_a_program_that_does_not() {
    run(&[], &[]);
    let variables = [
        ("RADDLE_CONSOLE", "127.0.0.1:0"),
        ("RADDLE_METRICS", "127.0.0.1:0"),
        ("RADDLE_WATCHDOG", "100ms"),
    ];
    let texts = [
        "raddle: the console is at http://127.0.0.1:",
        "raddle: the metrics are at http://127.0.0.1:",
        "raddle: a poll of task ",
        "tooled/src/main.rs:10:",
    ];
    run(&variables, &texts);
}
