//! The standard streams, in processes that run this test program.
#![cfg(all(not(raddle_loom), unix))]

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use raddle::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, stderr, stdin, stdout};

/// Runs the test `name` of this file as a process with the input `input`. Returns its output and
/// its error output.
fn run(name: &str, input: &str) -> (String, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", name])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let (mut output, mut errors) = (String::new(), String::new());
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_to_string(&mut output).unwrap();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut errors).unwrap();
    assert!(child.wait().unwrap().success(), "{output}\n{errors}");
    (output, errors)
}

#[raddle::test]
#[ignore = "run as a process by another test"]
async fn child_writes_lines_in_upper_case() {
    let mut lines = BufReader::new(stdin()).lines();
    let (mut output, mut errors) = (stdout(), stderr());
    while let Some(line) = lines.next_line().await.unwrap() {
        let line = line.to_uppercase();
        output
            .write_all(format!("<{line}>").as_bytes())
            .await
            .unwrap();
        errors
            .write_all(format!("[{line}]").as_bytes())
            .await
            .unwrap();
    }
    output.flush().await.unwrap();
    errors.flush().await.unwrap();
}

#[test]
fn a_process_that_filters_its_input_writes_every_line() {
    let input: String = (0..1000).map(|n| format!("line {n}\n")).collect();
    let (output, errors) = run("child_writes_lines_in_upper_case", &input);
    let expect = |open, close| -> String {
        (0..1000)
            .map(|n| format!("{open}LINE {n}{close}"))
            .collect()
    };
    assert!(output.contains(&expect('<', '>')), "{output}");
    assert!(errors.contains(&expect('[', ']')), "{errors}");
}

#[test]
#[ignore = "run as a process by another test"]
fn child_exits_without_a_flush() {
    let runtime = raddle::runtime::Builder::new_multi_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut output = stdout();
        for n in 0..100 {
            output.write_all(format!("{n};").as_bytes()).await.unwrap();
        }
        output.write_all(b"last\n").await.unwrap();
    });
}

#[test]
fn bytes_written_before_the_runtime_is_dropped_reach_the_output() {
    let (output, _) = run("child_exits_without_a_flush", "");
    let expected: String = (0..100).map(|n| format!("{n};")).collect();
    assert!(output.contains(&format!("{expected}last\n")), "{output}");
}

#[test]
fn standard_streams_have_descriptors_0_to_2() {
    use std::os::fd::{AsFd, AsRawFd};
    assert_eq!(stdin().as_raw_fd(), 0);
    assert_eq!(stdout().as_fd().as_raw_fd(), 1);
    assert_eq!(stderr().as_raw_fd(), 2);
}
