//! The live page over plain connections: its answers, the requests that it refuses, and the latency
//! of a runtime while hostile clients send requests.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::spares::block_workers;
use raddle::runtime::{Builder, Runtime};
use raddle_primitives::sync::Mutex;

pub(crate) const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn runtime(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).enable_all();
    builder.console("127.0.0.1:0").build().unwrap()
}

/// The address of the page and its token.
pub(crate) fn page(runtime: &Runtime) -> (SocketAddr, String) {
    let url = runtime.console_url().unwrap();
    let (address, token) = url.split_once("/?token=").unwrap();
    let address = address.strip_prefix("http://").unwrap().parse();
    (address.unwrap(), token.to_owned())
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream.set_write_timeout(Some(LIMIT)).unwrap();
    stream
}

/// Sends a head and reads the answer until the server closes the connection.
fn send(address: SocketAddr, head: &str) -> String {
    let mut stream = connect(address);
    // The server may answer before it has read everything.
    let _ = stream.write_all(head.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

pub(crate) fn get(address: SocketAddr, target: &str) -> String {
    let head = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    send(address, &head)
}

pub(crate) fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

/// The body of an answer, parsed as JSON.
pub(crate) fn json(answer: &str) -> serde_json::Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

#[cfg(feature = "sync")]
#[test]
fn the_waits_path_lists_deadlocks_and_tasks_that_others_wait_for() {
    let runtime = runtime(2);
    let (address, token) = page(&runtime);
    assert_eq!(status(&get(address, "/waits?token=none")), "401");
    let target = format!("/waits?token={token}");
    let none = json(&get(address, &target));
    assert_eq!(
        (&none["deadlocks"], &none["total"]),
        (&serde_json::json!([]), &0.into())
    );
    crate::deadlock::spawn(&runtime);
    let start = Instant::now();
    let graph = loop {
        let graph = json(&get(address, &target));
        if graph["deadlocks"][0]["count"] == 2 {
            break graph;
        }
        assert!(start.elapsed() < LIMIT, "{graph}");
        thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(graph["deadlocks"][0]["is_suspected"], true);
    let text = graph["deadlocks"][0]["text"].as_str().unwrap();
    assert!(text.contains("it may end if "), "{text}");
    assert_eq!(graph["total"], 2);
    for awaited in graph["awaited"].as_array().unwrap() {
        assert_eq!(awaited["count"], 1);
        let edge = awaited["edges"][0].as_str().unwrap();
        let held = format!("held by task {} since ", awaited["task"]);
        assert!(
            edge.contains("waits for Mutex::lock at ") && edge.contains(&held),
            "{edge}"
        );
    }
    let tasks = json(&get(address, &format!("/tasks?token={token}&limit=10")));
    let wait = &tasks["tasks"][0]["waits"][0];
    assert_eq!(wait["operation"], "Mutex::lock", "{wait}");
    assert_eq!(wait["by"][0]["task"], tasks["tasks"][1]["id"], "{wait}");
}

#[test]
fn metrics_are_in_the_format_of_prometheus_and_need_no_token() {
    let runtime = runtime(2);
    let (address, _) = page(&runtime);
    runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    let answer = get(address, "/metrics");
    assert_eq!(status(&answer), "200", "{answer}");
    assert!(answer.contains("\nraddle_workers 2\n"), "{answer}");
    assert!(
        answer.contains("\nraddle_spawned_tasks_total 1\n"),
        "{answer}"
    );
    assert!(
        answer.contains("\nraddle_worker_polls_total{worker=\"1\"} "),
        "{answer}"
    );
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    for line in body.lines().filter(|line| !line.starts_with('#')) {
        let value = line.rsplit(' ').next().unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}

#[test]
fn a_task_is_shown_with_its_state_and_polls() {
    let runtime = runtime(2);
    let (address, token) = page(&runtime);
    let line = line!() + 1;
    let task = runtime.spawn(async {
        raddle::task::yield_now().await;
        std::future::pending::<()>().await;
    });
    let id = std::num::NonZeroU64::from(task.id()).get();
    let end = Instant::now() + LIMIT;
    loop {
        let answer = json(&get(address, &format!("/tasks?token={token}&limit=10")));
        let found = &answer["tasks"][0];
        if found["state"] == "waiting" && found["polls"] == 2 {
            assert_eq!(answer["total"], 1);
            assert_eq!(found["id"], id);
            let place = found["location"].as_str().unwrap();
            assert!(place.contains(&format!("console.rs:{line}:")), "{place}");
            break;
        }
        assert!(Instant::now() < end, "{answer}");
        thread::sleep(Duration::from_millis(20));
    }
    task.abort();
    let end = Instant::now() + LIMIT;
    while json(&get(address, &format!("/tasks?token={token}&limit=10")))["total"] != 0 {
        assert!(Instant::now() < end, "an aborted task is listed");
    }
}

#[test]
fn the_page_and_its_events_are_served_while_all_workers_are_stuck() {
    let runtime = runtime(2);
    let (address, token) = page(&runtime);
    let (release, released) = mpsc::channel::<()>();
    let released = Arc::new(Mutex::new(released));
    for _ in 0..2 {
        let released = Arc::clone(&released);
        runtime.spawn(async move {
            let _ = released.lock().recv();
        });
    }
    let answer = get(address, &format!("/?token={token}"));
    assert_eq!(status(&answer), "200");
    assert!(answer.ends_with("</html>\n"));
    let mut events = connect(address);
    let head = format!("GET /events?token={token} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    events.write_all(head.as_bytes()).unwrap();
    let (mut text, mut buffer) = (String::new(), [0; 4096]);
    let end = Instant::now() + LIMIT;
    // Both workers poll, and a slow poll is listed.
    while text.matches("\"polling\"").count() < 2 || !text.contains("console.rs") {
        assert!(Instant::now() < end, "{text}");
        let count = match events.read(&mut buffer) {
            // A signal, such as the end of a child of another test.
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read.unwrap(),
        };
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    drop(release);
}

/// Reads the first event of a new stream.
fn event(address: SocketAddr, token: &str) -> serde_json::Value {
    let mut events = connect(address);
    let head = format!("GET /events?token={token} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    events.write_all(head.as_bytes()).unwrap();
    let mut lines = BufReader::new(events).lines();
    let line = lines.find_map(|line| Some(line.unwrap().strip_prefix("data: ")?.to_owned()));
    serde_json::from_str(&line.unwrap()).unwrap()
}

#[test]
fn a_spare_worker_is_shown_while_it_serves() {
    let runtime = runtime(1);
    let (address, token) = page(&runtime);
    let mut stuck = block_workers(&runtime);
    stuck.add(runtime.handle());
    let shown = event(address, &token);
    let workers = shown["workers"].as_array().unwrap();
    assert_eq!(workers[0]["worker"], "W0");
    // Another one may wait in the driver.
    let mut spares = workers[1..].iter().enumerate();
    assert!(
        spares.any(|(spare, row)| {
            row["worker"] == format!("spare {spare}") && row["activity"] == "polling"
        }),
        "{shown}"
    );
    // Counts of a poll are made when it starts.
    assert_eq!(shown["totals"]["polls"], 2);
    let metrics = get(address, "/metrics");
    let value = |name: &str| {
        let line = metrics.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| value.trim().parse::<f64>().ok())
    };
    assert_eq!(value("raddle_workers "), Some(1.0), "{metrics}");
    for name in ["raddle_spare_workers ", "raddle_spare_worker_starts_total "] {
        assert!(value(name).is_some_and(|value| value >= 1.0), "{metrics}");
    }
    drop(stuck);
    let end = Instant::now() + LIMIT;
    while event(address, &token)["workers"].as_array().unwrap().len() > 1 {
        assert!(
            Instant::now() < end,
            "a spare worker that has left is shown"
        );
    }
}

#[test]
fn an_address_that_is_invalid_or_not_loopback_fails_the_build() {
    for address in [
        "0.0.0.0:0",
        "192.0.2.1:6670",
        "127.0.0.1:6669",
        "[::]:0",
        "localhost",
        "6670",
        "",
    ] {
        let error = Builder::new_current_thread().console(address).build();
        let error = error.expect_err(address);
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{address}");
    }
}

#[test]
#[cfg(feature = "flight-recorder")]
fn the_recording_of_a_runtime_with_a_recorder_is_a_file() {
    use raddle::runtime::flight_recorder::{RecorderOptions, recording::Recording};

    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).console("127.0.0.1:0");
    builder.flight_recorder(RecorderOptions::default());
    let runtime = builder.build().unwrap();
    runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    let (address, token) = page(&runtime);
    let mut stream = connect(address);
    let head = format!("GET /recording?token={token} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    let recording = Recording::read_from(&answer[end.unwrap() + 4..]).unwrap();
    assert!(!recording.threads.is_empty());
}

#[test]
fn a_runtime_without_a_recorder_has_no_recording() {
    let runtime = runtime(1);
    let (address, token) = page(&runtime);
    assert_eq!(
        status(&get(address, &format!("/recording?token={token}"))),
        "404"
    );
}

#[test]
fn the_page_ends_with_the_runtime() {
    let runtime = runtime(1);
    let (address, _) = page(&runtime);
    assert_eq!(status(&get(address, "/metrics")), "200");
    drop(runtime);
    let end = Instant::now() + LIMIT;
    while TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < end, "the address is still served");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The delays of timers of one millisecond, sorted.
fn delays(runtime: &Runtime, time: Duration) -> Vec<Duration> {
    let mut delays = runtime.block_on(async {
        let task = raddle::spawn(async move {
            let (end, mut delays) = (Instant::now() + time, Vec::new());
            while delays.is_empty() || Instant::now() < end {
                let start = Instant::now();
                raddle::time::sleep(Duration::from_millis(1)).await;
                delays.push(start.elapsed().saturating_sub(Duration::from_millis(1)));
            }
            delays
        });
        task.await.unwrap()
    });
    delays.sort();
    delays
}

/// The number of polls of tasks.
fn polls(runtime: &Runtime) -> u64 {
    let metrics = runtime.metrics();
    (0..metrics.num_workers())
        .map(|worker| metrics.worker_poll_count(worker))
        .sum()
}

/// The number of threads of consoles in this process.
#[cfg(target_os = "linux")]
fn console_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.trim() == "raddle-console").count()
}

#[cfg(not(target_os = "linux"))]
fn console_threads() -> usize {
    0
}

#[test]
fn a_thousand_hostile_requests_leave_workers_threads_and_page_as_they_were() {
    let runtime = runtime(2);
    let (address, token) = page(&runtime);
    let polls_before = polls(&runtime);
    let is_done = Arc::new(AtomicBool::new(false));
    let attackers: Vec<_> = (0..4)
        .map(|attacker| {
            let (is_done, token) = (Arc::clone(&is_done), token.clone());
            thread::spawn(move || {
                let huge = "x".repeat(64 * 1024);
                let mut held = Vec::new();
                for number in 0..250 {
                    let good = format!("GET /tasks?token={token}&limit=200 HTTP/1.1\r\n");
                    let head = match (attacker + number) % 6 {
                        0 => format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n"),
                        1 => format!("{good}Host: evil.example:80\r\n\r\n"),
                        2 => format!("{good}Host: {address}\r\nCookie: {huge}\r\n\r\n"),
                        3 => format!("{good}Host: {address}\r\nOrigin: http://evil\r\n\r\n"),
                        // A request that is incomplete, and whose answer is not read.
                        4 => good,
                        _ => format!("{good}Host: {address}\r\n\r\n"),
                    };
                    if let Ok(mut stream) = TcpStream::connect(address) {
                        let _ = stream.set_write_timeout(Some(Duration::from_millis(50)));
                        let _ = stream.write_all(head.as_bytes());
                        held.push(stream);
                    }
                    if held.len() > 30 {
                        held.remove(0);
                    }
                }
                while !is_done.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(5));
                }
            })
        })
        .collect();
    let delays = delays(&runtime, Duration::from_millis(1500));
    let polls = polls(&runtime) - polls_before;
    let threads = console_threads();
    is_done.store(true, Ordering::Relaxed);
    for attacker in attackers {
        attacker.join().unwrap();
    }
    // The workers poll only the task of the timers: once to begin, and once for each of them.
    assert!(polls <= delays.len() as u64 + 1, "{polls} polls");
    // No answer, which may last as long as a peer does not read it, holds the workers up.
    let median = delays[delays.len() / 2];
    assert!(median < Duration::from_secs(1), "{median:?} late");
    // Including the threads of other tests.
    assert!(threads <= 40, "{threads} threads");
    let end = Instant::now() + LIMIT;
    while status(&get(address, &format!("/tasks?token={token}"))) != "200" {
        assert!(Instant::now() < end, "all connections are still in use");
        thread::sleep(Duration::from_millis(50));
    }
}
