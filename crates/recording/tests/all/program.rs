//! Tests of the program `raddle-recording`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use raddle_recording::{Entry, Event, PollResult, Recording, Thread};

/// Writes a recording of one poll to a file with a name that no other test uses.
fn file(name: &str) -> PathBuf {
    let result = PollResult::Pending;
    let events = [
        (0, Event::PollStarted { task: 1 }),
        (9, Event::PollFinished { task: 1, result }),
    ];
    let mut recording = Recording::default();
    let thread = Thread {
        entries: events.map(|(time, event)| Entry { time, event }).to_vec(),
        ..Thread::default()
    };
    recording.threads.insert(1, thread);
    let mut bytes = Vec::new();
    recording.write_to(&mut bytes).unwrap();
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn run(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_raddle-recording"));
    program.args(arguments).output().unwrap()
}

#[test]
fn each_command_prints_its_result() {
    let path = file("commands.raddle");
    let path = path.to_str().unwrap();
    let stdout = |command| {
        let output = run(&[command, path]);
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    assert!(stdout("report").starts_with(b"2 events of 1 threads"));
    assert_eq!(stdout("folded"), b"spawned before the recording 9\n");
    assert!(!stdout("perfetto").is_empty());
}

#[test]
fn wrong_arguments_print_the_usage() {
    for arguments in [&[][..], &["report"], &["unknown", "file"]] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stderr.starts_with(b"usage: raddle-recording"));
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let output = run(&["report", "/no/such/file"]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("/no/such/file: "), "{message}");
}
