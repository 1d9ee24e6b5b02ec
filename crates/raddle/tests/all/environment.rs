//! Environment variables that switch tools on, in programs that do not.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::own_process::is_own_process;
use raddle::runtime::{Builder, Runtime};

/// Runs a test of this file in a process with these variables.
fn run(test: &str, variables: &[(&str, &str)]) -> String {
    let output = command(test, variables).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    text
}

fn command(test: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("environment::{test}"), "--nocapture"]);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("RADDLE_") {
            command.env_remove(name);
        }
    }
    command.envs(variables.iter().copied());
    command.env("RADDLE_TEST_OWN_PROCESS", "1");
    command
}

/// An address with a port that was free just now.
fn free_address(ip: &str) -> String {
    let listener = std::net::TcpListener::bind((ip, 0)).unwrap();
    listener.local_addr().unwrap().to_string()
}

/// A program that knows nothing of tools: `Runtime::new`, the attribute and two builders.
#[test]
fn a_program() {
    if !is_own_process() {
        return;
    }
    #[raddle::main]
    async fn main() {
        raddle::spawn(async { thread::sleep(Duration::from_millis(300)) })
            .await
            .unwrap();
    }
    let runtime = Runtime::new().unwrap();
    main();
    let mut builder = Builder::new_current_thread();
    let built = [builder.build().unwrap(), builder.build().unwrap()];
    for runtime in built.iter().chain([&runtime]) {
        eprintln!("has a page: {}", runtime.console_url().is_some());
        eprintln!("has a dump: {}", runtime.handle().dump().is_ok());
    }
}

/// A program that selects a page, but no watchdog that warns.
#[test]
fn a_program_with_a_page() {
    if is_own_process() {
        let mut builder = Builder::new_current_thread();
        let runtime = builder.console("127.0.0.1:0").build().unwrap();
        eprintln!("port: {}", runtime.console_url().unwrap());
    }
}

#[test]
fn without_variables_nothing_is_printed() {
    let text = run("a_program", &[]);
    assert!(!text.contains("raddle:"), "{text}");
    assert_eq!(text.matches("has a page: false").count(), 3, "{text}");
    assert_eq!(text.matches("has a dump: false").count(), 3, "{text}");
}

#[test]
fn the_console_of_each_runtime_has_a_port_of_its_own() {
    let address = free_address("127.0.0.1");
    let text = run("a_program", &[("RADDLE_CONSOLE", &address)]);
    assert_eq!(text.matches("has a page: true").count(), 3, "{text}");
    let first = format!("raddle: the console is at http://{address}/");
    assert!(text.contains(&first), "{text}");
    let moved = "raddle: the console of this runtime is at http://127.0.0.1:";
    assert!(text.matches(moved).count() >= 3, "{text}");
    assert!(text.contains(&format!("; {address} is in use")), "{text}");
}

#[test]
fn the_metrics_of_all_runtimes_are_at_one_address() {
    let text = run("a_program", &[("RADDLE_METRICS", "0.0.0.0:0")]);
    assert_eq!(
        text.matches("raddle: the metrics are at http://0.0.0.0:")
            .count(),
        4,
        "{text}"
    );
    let address = free_address("0.0.0.0");
    let text = run("a_program", &[("RADDLE_METRICS", &address)]);
    let line = format!("raddle: the metrics are at http://{address}/metrics");
    assert_eq!(text.matches(&line).count(), 1, "{text}");
}

/// A program that blocks a worker, and ends with its input: the stack may take long to print.
#[test]
fn a_program_that_blocks() {
    if is_own_process() {
        let runtime = Runtime::new().unwrap();
        let handle = runtime.handle().clone();
        thread::spawn(move || {
            loop {
                let task = handle.spawn(async { thread::sleep(Duration::from_millis(300)) });
                if handle.block_on(task).is_err() {
                    return;
                }
            }
        });
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
    }
}

/// Without a subscriber of `tracing`, the warnings are on standard error.
#[test]
fn the_watchdog_warns_on_standard_error_of_a_program_without_a_subscriber() {
    let mut command = command("a_program_that_blocks", &[("RADDLE_WATCHDOG", "50ms")]);
    let mut program = command
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(program.stderr.take().unwrap()).lines();
    let mut lines = lines.map(|line| line.unwrap());
    let warning = lines.find(|line| line.starts_with("raddle: a poll of task "));
    assert!(warning.unwrap().contains("environment.rs:"));
    #[cfg(target_arch = "x86_64")]
    assert!(
        lines.any(|line| line.contains("a_program_that_blocks")),
        "the stack"
    );
    drop(program.stdin.take());
    let _ = lines.count();
    program.wait().unwrap();
}

#[test]
fn recordings_are_written_to_the_directory_each_with_its_prefix() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new");
    let text = run("a_program", &[("RADDLE_RECORD", path.to_str().unwrap())]);
    let line = format!(
        "raddle: the recordings of this runtime are {}",
        path.display()
    );
    assert_eq!(text.matches(&line).count(), 4, "{text}");
    let files = std::fs::read_dir(&path)
        .unwrap()
        .map(|file| file.unwrap().path());
    let files = Vec::from_iter(files);
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        use raddle::runtime::flight_recorder::recording::Recording;
        let file = std::fs::File::open(file).unwrap();
        Recording::read_from(file).unwrap();
    }
}

#[test]
fn dumps_are_enabled_by_1_and_not_by_0() {
    let text = run("a_program", &[("RADDLE_DUMP_ON_SIGQUIT", "1")]);
    assert_eq!(text.matches("has a dump: true").count(), 3, "{text}");
    let text = run("a_program", &[("RADDLE_DUMP_ON_SIGQUIT", "0")]);
    assert_eq!(text.matches("has a dump: false").count(), 3, "{text}");
    assert!(!text.contains("raddle:"), "{text}");
}

#[test]
fn a_setting_of_the_builder_is_used_before_that_of_a_variable() {
    let address = free_address("127.0.0.1");
    let text = run("a_program_with_a_page", &[("RADDLE_CONSOLE", &address)]);
    assert!(text.contains("port: http://127.0.0.1:"), "{text}");
    assert!(!text.contains(&format!("{address}/")), "{text}");
}

/// A debugging variable must not stop a service.
#[test]
fn a_variable_that_cannot_be_used_is_reported_once_and_has_no_effect() {
    let cases = [
        (
            "RADDLE_CONSOLE",
            "0.0.0.0:6670",
            "a loopback address with a port, such as",
        ),
        (
            "RADDLE_CONSOLE",
            "6670",
            "a loopback address with a port, such as",
        ),
        (
            "RADDLE_METRICS",
            "9469",
            "an address with a port, such as 0.0.0.0:9469",
        ),
        ("RADDLE_WATCHDOG", "100", "a duration such as 100ms"),
        ("RADDLE_WATCHDOG", "0s", "a duration such as 100ms"),
        ("RADDLE_DUMP_ON_SIGQUIT", "yes", "1 or 0"),
    ];
    for (name, value, expected) in cases {
        let text = run("a_program", &[(name, value)]);
        let line = format!("raddle: {name} is {value:?}, and has no effect; set it to {expected}");
        assert_eq!(text.matches(&line).count(), 1, "{text}");
        assert_eq!(text.matches("raddle:").count(), 1, "{text}");
    }
    // These are read, but the tool cannot start.
    let cases = [
        ("RADDLE_METRICS", "192.0.2.1:9469"),
        ("RADDLE_RECORD", "/proc/none/recordings"),
    ];
    for (name, value) in cases {
        let text = run("a_program", &[(name, value)]);
        assert!(
            text.contains("an environment variable selects does not start: "),
            "{text}"
        );
    }
    let text = run("a_program", &[("RADDLE_CONSOLE", "")]);
    assert!(!text.contains("raddle:"), "{text}");
}
