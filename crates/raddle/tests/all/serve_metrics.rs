//! The server of metrics: what it measures, and which runtimes and ports it serves.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::common::{builders, current_thread, eventually, multi_thread};
use raddle::runtime::{Builder, Runtime};
use raddle::task;

const LOOPBACK: &str = "127.0.0.1:0";

fn get(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: any.example\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    body.to_owned()
}

/// The samples of a runtime, whose label `runtime` is "0", by the rest of their names.
fn samples(runtime: &Runtime) -> HashMap<String, f64> {
    let body = get(runtime.metrics_address().unwrap());
    let lines = body.lines().filter(|line| !line.starts_with('#'));
    let samples = lines.map(|line| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        let name = name.strip_prefix("raddle_").unwrap();
        let name = name
            .replace("{runtime=\"0\"}", "")
            .replace("runtime=\"0\",", "");
        (name, value.parse().unwrap())
    });
    samples.collect()
}

/// The number of durations above `from` seconds and up to `to` seconds.
fn between(samples: &HashMap<String, f64>, histogram: &str, from: &str, to: &str) -> f64 {
    let bucket = |bound: &str| samples[&format!("{histogram}_bucket{{le=\"{bound}\"}}")];
    bucket(to) - bucket(from)
}

fn serving(builder: &mut Builder) -> Runtime {
    builder.serve_metrics(LOOPBACK).build().unwrap()
}

const POLLS: &str = "poll_duration_seconds";
const DELAYS: &str = "scheduling_delay_seconds";

/// Long polls, each of which is measured: the histogram is that of the program.
#[test]
fn the_histograms_of_long_polls_and_of_delays_behind_them_are_exact() {
    for mut builder in builders() {
        // Without spare workers, the tasks wait for the polls.
        let runtime = serving(builder.max_spare_workers(0));
        runtime.block_on(async {
            let blocked =
                (0..8).map(|_| raddle::spawn(async { thread::sleep(Duration::from_millis(21)) }));
            for task in Vec::from_iter(blocked) {
                task.await.unwrap();
            }
        });
        // A task is joined before its poll has ended.
        let polls = || between(&samples(&runtime), POLLS, "0.02", "1");
        eventually("all polls are measured", || polls() == 8.0);
        let samples = samples(&runtime);
        // With two workers, three or more of the tasks wait behind others.
        let delayed = between(&samples, DELAYS, "0.02", "1");
        assert!((3.0..=8.0).contains(&delayed), "{delayed} in {samples:?}");
        assert!(samples[&format!("{POLLS}_sum")] >= 8.0 * 0.021);
        assert!(samples[&format!("{DELAYS}_sum")] >= 3.0 * 0.02);
    }
}

#[test]
fn the_weights_of_short_polls_add_up_to_their_number() {
    for mut builder in builders() {
        let runtime = serving(&mut builder);
        runtime.block_on(async {
            let yielding = async || {
                for _ in 0..20_000 {
                    task::yield_now().await;
                }
            };
            let tasks = [0; 20].map(|_| raddle::spawn(yielding()));
            for task in tasks {
                task.await.unwrap();
            }
        });
        let samples = samples(&runtime);
        let polls: f64 = (samples.iter())
            .filter(|(name, _)| name.contains("worker_polls_total"))
            .map(|(_, polls)| polls)
            .sum();
        assert!(polls >= 400_020.0);
        for histogram in [POLLS, DELAYS] {
            let count = samples[&format!("{histogram}_count")];
            // The last gaps of the workers, of 255 polls at most, are not counted yet, and one of
            // several wakes from outside counts for 8.
            assert!(
                (polls - 1_000.0..=polls + 200.0).contains(&count),
                "{histogram}: {count} of {polls}"
            );
        }
    }
}

/// The poll that has blocked in place does not count, since its thread has lost the worker.
#[test]
fn handed_off_workers_and_spare_workers_measure_too() {
    let polls = |runtime: &Runtime, from, to| between(&samples(runtime), POLLS, from, to);
    let runtime = serving(multi_thread().worker_threads(1));
    runtime.block_on(async {
        let blocking = raddle::spawn(async {
            task::block_in_place(|| thread::sleep(Duration::from_millis(60)));
        });
        task::yield_now().await;
        let short = raddle::spawn(async { thread::sleep(Duration::from_millis(25)) });
        short.await.unwrap();
        blocking.await.unwrap();
    });
    // A task is joined before its poll has ended.
    eventually("the short poll is measured", || {
        polls(&runtime, "0.02", "10") > 0.0
    });
    assert_eq!(polls(&runtime, "0.02", "10"), 1.0);

    let runtime = serving(multi_thread().worker_threads(1));
    let (has_run, run) = std::sync::mpsc::channel();
    let blocked = runtime.spawn(async move { run.recv().unwrap() });
    let by_spare = runtime.spawn(async { thread::sleep(Duration::from_millis(30)) });
    runtime.block_on(by_spare).unwrap();
    assert!(samples(&runtime)["spare_worker_starts_total"] >= 1.0);
    has_run.send(()).unwrap();
    runtime.block_on(blocked).unwrap();
    eventually("both polls are measured", || {
        polls(&runtime, "0.02", "10") == 2.0
    });
}

#[test]
fn reading_while_tasks_run_never_sees_a_count_decrease() {
    let runtime = serving(&mut multi_thread());
    let is_stopped = Arc::new(AtomicBool::new(false));
    for _ in 0..4 {
        let is_stopped = is_stopped.clone();
        runtime.spawn(async move {
            while !is_stopped.load(Ordering::Relaxed) {
                raddle::spawn(task::yield_now()).await.unwrap();
            }
        });
    }
    let mut former = samples(&runtime);
    for _ in 0..50 {
        let present = samples(&runtime);
        for (name, value) in &present {
            let is_counter = name.contains("_total") || name.contains("_bucket");
            let before = former.get(name).copied().unwrap_or(0.0);
            assert!(
                !is_counter || *value >= before,
                "{name}: {value} after {before}"
            );
        }
        for histogram in [POLLS, DELAYS] {
            let all = present[&format!("{histogram}_bucket{{le=\"+Inf\"}}")];
            assert_eq!(all, present[&format!("{histogram}_count")]);
        }
        former = present;
    }
    is_stopped.store(true, Ordering::Relaxed);
}

#[test]
fn the_waits_of_blocking_jobs_are_measured() {
    let runtime = serving(current_thread().max_blocking_threads(1));
    let jobs = [0; 3].map(|_| runtime.spawn_blocking(|| thread::sleep(Duration::from_millis(30))));
    runtime.block_on(async {
        for job in jobs {
            job.await.unwrap();
        }
    });
    let samples = samples(&runtime);
    assert_eq!(samples["blocking_wait_seconds_count"], 3.0);
    // The first job may wait for its thread to start.
    let waits = between(&samples, "blocking_wait_seconds", "0.02", "1");
    assert!((2.0..=3.0).contains(&waits), "{samples:?}");
    assert_eq!(samples["blocking_queue_depth"], 0.0);
    assert_eq!(samples["blocking_threads"], 1.0);
}

#[cfg(feature = "watchdog")]
#[test]
fn slow_polls_are_counted_by_location_if_there_is_a_watchdog() {
    let mut builder = current_thread();
    builder.watchdog(Duration::from_millis(20), |_| {});
    let runtime = serving(&mut builder);
    let slow = || {
        let samples = samples(&runtime);
        let mut slow = samples
            .iter()
            .filter(|(name, _)| name.starts_with("slow_polls_total"));
        slow.next().map(|(name, count)| (name.clone(), *count))
    };
    // The thread of the watchdog may be late.
    eventually("slow polls are counted", || {
        let task = runtime.spawn(async { thread::sleep(Duration::from_millis(100)) });
        runtime.block_on(task).unwrap();
        slow().is_some_and(|(_, count)| count >= 2.0)
    });
    let (name, _) = slow().unwrap();
    // The function, or without a stack the location.
    assert!(name.contains("serve_metrics"), "{name}");
    let without = serving(&mut current_thread());
    assert!(!get(without.metrics_address().unwrap()).contains("slow_polls"));
}

#[cfg(feature = "task-dumps")]
#[test]
fn there_is_no_table_of_tasks() {
    let runtime = serving(&mut current_thread());
    assert!(runtime.handle().dump().is_err());
}

#[test]
fn the_counts_of_the_runtime_are_those_of_its_metrics() {
    let runtime = serving(&mut multi_thread());
    runtime.block_on(async {
        let listener = raddle::net::TcpListener::bind(LOOPBACK).await.unwrap();
        raddle::spawn(task::yield_now()).await.unwrap();
        drop(listener);
    });
    let samples = samples(&runtime);
    let metrics = runtime.metrics();
    assert_eq!(samples["workers"], 2.0);
    assert_eq!(
        samples["spawned_tasks_total"],
        metrics.spawned_tasks_count() as f64
    );
    let registered = metrics.io_driver_fd_registered_count() as f64;
    assert!(registered >= 1.0);
    assert_eq!(samples["reactor_sources_registered_total"], registered);
    assert_eq!(samples["spare_workers_max"], 32.0);
    for name in [
        "budget_yields_total",
        "overflows_total",
        "queue_depth",
        "parks_total",
    ] {
        assert!(
            samples.contains_key(&format!("worker_{name}{{worker=\"1\"}}")),
            "{name}"
        );
    }
}

fn free_port() -> String {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    listener.local_addr().unwrap().to_string()
}

/// A scraper needs one port that stays the same.
#[test]
fn runtimes_with_the_same_address_are_served_together_with_their_names() {
    let address = free_port();
    let web = multi_thread()
        .name("web")
        .serve_metrics(&*address)
        .build()
        .unwrap();
    let other = current_thread().serve_metrics(&*address).build().unwrap();
    for runtime in [&web, &other] {
        assert_eq!(runtime.metrics_address().unwrap().to_string(), address);
    }
    let body = get(web.metrics_address().unwrap());
    assert!(
        body.contains("\nraddle_workers{runtime=\"web\"} 2\n"),
        "{body}"
    );
    assert!(
        body.contains("\nraddle_workers{runtime=\"0\"} 1\n"),
        "{body}"
    );
    drop(web);
    let body = get(other.metrics_address().unwrap());
    assert!(!body.contains("web"), "{body}");
    drop(other);
    drop(TcpListener::bind(address).expect("the port is free"));
}

#[test]
fn a_port_in_use_does_not_end_the_service() {
    let first = TcpListener::bind(LOOPBACK).unwrap();
    let address = first.local_addr().unwrap();
    let mut taken = vec![first];
    let moved = current_thread()
        .serve_metrics(address.to_string())
        .build()
        .unwrap();
    assert!(moved.metrics_address().unwrap().port() > address.port());
    drop(moved);
    let ports = address.port()..=address.port().saturating_add(16);
    taken.extend(ports.filter_map(|port| TcpListener::bind((address.ip(), port)).ok()));
    let without = current_thread()
        .serve_metrics(address.to_string())
        .build()
        .unwrap();
    assert_eq!(without.metrics_address(), None);
    assert_eq!(without.block_on(async { 7 }), 7);
}

#[test]
fn an_invalid_address_fails_the_build() {
    // The last one is of TEST-NET-1 (RFC 5737).
    for address in ["", "localhost", "9469", "192.0.2.1:9469"] {
        assert!(
            current_thread().serve_metrics(address).build().is_err(),
            "{address}"
        );
    }
}
