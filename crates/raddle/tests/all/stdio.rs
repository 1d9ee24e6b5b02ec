//! The standard streams, in processes that run this test program.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use raddle::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, stderr, stdin, stdout};
use raddle::time::timeout;

/// The command that runs the test `name` of this file as a process with pipes.
fn command(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "--nocapture"])
        .arg(format!("stdio::{name}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the test `name` of this file as a process with the input `input`. Returns its output and
/// its error output.
fn run(name: &str, input: &str) -> (String, String) {
    let mut child = command(name).spawn().unwrap();
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

/// Waits for its input until a timeout.
async fn wait_in_vain(n: usize) {
    let mut input = stdin();
    let mut buf = [0; 8];
    let read = input.read(&mut buf);
    assert!(
        timeout(Duration::from_millis(20), read).await.is_err(),
        "read {n}"
    );
}

#[test]
#[ignore = "run as a process by another test"]
fn child_ends_while_it_waits_for_input() {
    // Neither a dropped runtime nor the process waits.
    for n in 0..2 {
        let runtime = raddle::runtime::Builder::new_multi_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(wait_in_vain(n));
    }
}

/// Bug: 2466, 589, 2318.
#[test]
fn a_read_of_the_input_does_not_hold_up_the_end_of_the_process() {
    let mut child = command("child_ends_while_it_waits_for_input")
        .spawn()
        .unwrap();
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            break;
        }
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("the process waits for its input");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
#[ignore = "run as a process by another test"]
fn child_reads_in_a_second_runtime() {
    for n in 0..2 {
        let runtime = raddle::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            if n == 0 {
                wait_in_vain(0).await;
                stdout().write_all(b"ready\n").await.unwrap();
            } else {
                let mut line = String::new();
                BufReader::new(stdin()).read_line(&mut line).await.unwrap();
                stdout()
                    .write_all(format!("<{}>", line.trim()).as_bytes())
                    .await
                    .unwrap();
            }
        });
    }
}

#[test]
fn the_bytes_of_a_dropped_read_are_read_by_another_handle() {
    let mut child = command("child_reads_in_a_second_runtime").spawn().unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while !text.contains("ready") {
        assert_ne!(
            std::io::BufRead::read_line(&mut output, &mut text).unwrap(),
            0
        );
    }
    let input = child.stdin.as_mut().unwrap();
    input.write_all(b"a line\n").unwrap();
    output.read_to_string(&mut text).unwrap();
    assert!(text.contains("<a line>"), "{text}");
    assert!(child.wait().unwrap().success());
}
