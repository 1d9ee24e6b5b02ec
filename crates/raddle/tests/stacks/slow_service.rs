//! The program `examples/slow_service`: each tool shows the fault that it is for.
#![allow(dead_code, reason = "the entry point of the program")]

#[path = "../../examples/slow_service/main.rs"]
mod program;

use std::io;
use std::sync::Mutex;
use std::time::Duration;

use program::Findings;
use raddle::runtime::dump::{Dump, TaskDump, TaskState};
use raddle::runtime::flight_recorder::recording::analysis::{
    Distribution, kernel_delays, longest_polls, polls_by_location, scheduling_delays,
};

const TIME: Duration = Duration::from_millis(500);

/// Runs one service at a time, since some of them occupy a processor.
fn run(fault: &str, time: Duration) -> io::Result<Findings> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    program::run(fault, time)
}

/// The tasks of a dump that were spawned in `file`.
fn tasks_of<'a>(dump: &'a Dump, file: &'a str) -> impl Iterator<Item = &'a TaskDump> {
    let tasks = dump.tasks().iter();
    tasks.filter(move |task| task.spawned_at().file().ends_with(file))
}

/// The row with the longest time among those whose label contains `text`.
fn row<'a>(rows: &'a [(String, Distribution)], text: &str) -> &'a Distribution {
    let rows = rows.iter().filter(|(label, _)| label.contains(text));
    let longest = rows.max_by_key(|(_, times)| times.max());
    &longest.expect("no row has this label").1
}

#[test]
fn the_watchdog_and_the_recorder_show_a_blocking_call() {
    let findings = run("blocking_call", TIME).unwrap();
    let reports: Vec<_> = findings.slow_polls.iter().map(|r| r.to_string()).collect();
    let mut reports = reports.iter();
    let has_stack = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    assert!(
        reports.any(|report| report.contains("blocking_call.rs:")
            && (!has_stack || report.contains("hash_a_password"))),
        "{reports:?}"
    );
    let longest = longest_polls(&findings.recording, 1)[0];
    assert!(longest.duration >= Duration::from_millis(60), "{longest:?}");
    let polls = polls_by_location(&findings.recording);
    assert_eq!(row(&polls, "blocking_call.rs").max(), longest.duration);
}

#[test]
fn a_dump_shows_the_tasks_that_wait_for_a_lock_and_the_one_that_holds_it() {
    let dump = run("held_lock", TIME).unwrap().dump;
    let waiting = tasks_of(&dump, "held_lock.rs").filter(|task| task.state() == TaskState::Waiting);
    assert!(waiting.count() > 5, "{dump}");
    let text = dump.to_string();
    assert!(text.contains("wait for Mutex::lock at "), "{text}");
    let holders: Vec<_> = tasks_of(&dump, "held_lock.rs")
        .filter(|task| text.contains(&format!("held by task {} since ", task.id())))
        .collect();
    assert_eq!(holders.len(), 1, "{text}");
}

#[test]
fn a_dump_shows_tasks_that_wait_for_each_other() {
    let dump = run("full_channels", TIME).unwrap().dump;
    let tasks: Vec<_> = tasks_of(&dump, "full_channels.rs").collect();
    assert_eq!(tasks.len(), 2, "{dump}");
    for task in tasks {
        assert_eq!(task.state(), TaskState::Waiting, "{dump}");
    }
    let text = dump.to_string();
    let sends = text.matches("waits for mpsc::Sender::send at ").count();
    // Including the task that filled the channels.
    assert!(sends >= 3, "{text}");
    assert!(text.contains("suspected deadlock of 2 tasks:"), "{text}");
}

#[test]
fn the_recorder_shows_the_tasks_that_keep_the_workers_from_io() {
    let recording = run("starved_io", TIME).unwrap().recording;
    let polls = polls_by_location(&recording);
    let all: Duration = polls.iter().map(|(_, times)| times.total()).sum();
    let computing = row(&polls, "starved_io.rs:16").total();
    assert!(computing > all * 8 / 10, "{polls:?}");
    let delays = scheduling_delays(&recording);
    let median = row(&delays, "starved_io.rs:16").percentile(50.0);
    assert!(median >= Duration::from_millis(10), "{delays:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn the_recorder_shows_that_other_threads_have_the_processor() {
    if !std::path::Path::new("/proc/self/schedstat").exists() {
        return;
    }
    let recording = run("lost_core", 2 * TIME).unwrap().recording;
    let delays = kernel_delays(&recording);
    let delayed: Duration = delays.iter().map(|thread| thread.delayed).sum();
    assert!(delayed >= Duration::from_millis(50), "{delays:?}");
}

#[test]
fn an_unknown_fault_is_refused() {
    let error = run("flaky_network", TIME).err().unwrap();
    assert!(error.to_string().contains("held_lock"), "{error}");
}
