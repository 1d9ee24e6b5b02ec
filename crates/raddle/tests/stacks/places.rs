//! The place of a slow poll: the function of the application, and the span.

use std::process::Command;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use raddle::runtime::Runtime;
use raddle::runtime::watchdog::Report;

use crate::watchdog::{THRESHOLD, slow_poll, watched, workers};

const IS_CHILD: &str = "RADDLE_TEST_PLACES_OF_SLOW_POLLS";

/// Handlers that block in std.
async fn handler_that_sleeps() -> u32 {
    thread::sleep(Duration::from_millis(600));
    1
}

async fn handler_that_locks() -> u32 {
    let lock = Arc::new(Mutex::new(1));
    let held = Arc::clone(&lock);
    let (sender, receiver) = mpsc::channel();
    let holder = thread::spawn(move || {
        let _held = held.lock().unwrap();
        sender.send(()).unwrap();
        thread::sleep(Duration::from_millis(600));
    });
    receiver.recv().unwrap();
    let value = *lock.lock().unwrap();
    holder.join().unwrap();
    value
}

async fn handler_that_receives() -> u32 {
    let (_sender, receiver) = mpsc::channel();
    receiver
        .recv_timeout(Duration::from_millis(600))
        .unwrap_or(1)
}

/// Wraps a handler as frameworks do: in futures of a library whose parameters name the handler,
/// and in a box.
fn route<F: Future<Output = u32> + Send + 'static>(
    handler: impl FnOnce() -> F + Send + 'static,
) -> BoxFuture<'static, u32> {
    let future = futures_util::future::lazy(|_| ()).then(|()| handler());
    let response = future.map(|number| number + 1).boxed();
    response.map(|number| number + 1).boxed()
}

/// Spawns each handler at one location, and returns the application's functions of the reports.
fn functions(runtime: &Runtime, reports: &mpsc::Receiver<Report>) -> Vec<String> {
    let routes = [
        route(handler_that_sleeps),
        route(handler_that_locks),
        route(handler_that_receives),
    ];
    let mut functions = Vec::new();
    for future in routes {
        let task = runtime.spawn(future);
        assert_eq!(runtime.block_on(task).unwrap(), 3);
        let poll = slow_poll(reports);
        let stack = poll.stack().expect("the report has no stack trace");
        let frame = stack.application_frame();
        let function = frame.and_then(|frame| frame.function());
        functions.push(function.unwrap_or("none").to_owned());
    }
    functions
}

#[track_caller]
fn assert_are_handlers(functions: &[String]) {
    let names = [
        "handler_that_sleeps",
        "handler_that_locks",
        "handler_that_receives",
    ];
    for (function, name) in functions.iter().zip(names) {
        let expected = format!("stacks::places::{name}::");
        assert!(function.starts_with(&expected), "{functions:#?}");
    }
    assert_eq!(functions.len(), names.len(), "{functions:#?}");
}

#[test]
fn the_function_of_a_slow_poll_is_the_innermost_of_the_application() {
    let (runtime, reports) = watched(&mut workers(1), THRESHOLD);
    let functions = functions(&runtime, &reports);
    if std::env::var_os(IS_CHILD).is_some() {
        println!("{}", functions.join("\n"));
    }
    assert_are_handlers(&functions);
}

/// The test above, in a copy of this program without line tables, as of a build with
/// `debug = false`.
#[test]
fn the_function_of_the_application_is_found_without_line_tables() {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("stripped");
    let program = std::env::current_exe().unwrap();
    let mut strip = Command::new("strip");
    strip.args(["--strip-debug", "-o"]).args([&copy, &program]);
    assert!(strip.status().expect("strip of binutils").success());
    let output = Command::new(&copy)
        .arg("places::the_function_of_a_slow_poll_is_the_innermost_of_the_application")
        .args(["--exact", "--nocapture"])
        .env(IS_CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let functions: Vec<_> = text
        .lines()
        .filter_map(|line| line.split_once("stacks::places::"))
        .map(|(_, function)| format!("stacks::places::{function}"))
        .collect();
    assert!(output.status.success(), "{text}");
    assert_are_handlers(&functions);
}

#[test]
fn a_report_has_the_span_of_its_thread() {
    let (runtime, reports) = watched(&mut workers(1), THRESHOLD);
    let task = runtime.spawn(async {
        let former = raddle_watchdog::Watchdog::set_span(Some("request{path=/a}".into()));
        thread::sleep(THRESHOLD * 30);
        raddle_watchdog::Watchdog::set_span(former)
    });
    let left = runtime.block_on(task).unwrap();
    assert_eq!(left.as_deref(), Some("request{path=/a}"));
    let poll = slow_poll(&reports);
    assert_eq!(poll.span(), Some("request{path=/a}"));
    assert!(poll.to_string().contains("request{path=/a}"), "{poll}");
    runtime
        .block_on(runtime.spawn(async { thread::sleep(THRESHOLD * 30) }))
        .unwrap();
    assert_eq!(slow_poll(&reports).span(), None);
}
