//! The watchdog's reports.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use raddle::runtime::watchdog::{Report, SlowPoll};
use raddle::runtime::{Builder, Runtime};
use raddle_primitives::sync::Mutex;

pub(crate) const THRESHOLD: Duration = Duration::from_millis(20);
/// A report that takes longer is missing.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// Whether reports have stack traces on this platform.
const HAS_STACKS: bool = cfg!(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
));

/// A runtime with a watchdog, and a receiver of its reports.
pub(crate) fn watched(
    builder: &mut Builder,
    threshold: Duration,
) -> (Runtime, mpsc::Receiver<Report>) {
    let (sender, reports) = mpsc::channel();
    let action = move |report: &Report| drop(sender.send(report.clone()));
    let runtime = builder.enable_all().watchdog(threshold, action).build();
    (runtime.unwrap(), reports)
}

pub(crate) fn workers(count: usize) -> Builder {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(count);
    builder
}

pub(crate) fn slow_poll(reports: &mpsc::Receiver<Report>) -> SlowPoll {
    match next(reports, LIMIT) {
        Some(Report::SlowPoll(poll)) => poll,
        other => panic!("expected a slow poll, got {other:?}"),
    }
}

pub(crate) fn assert_stack_names(poll: &SlowPoll, function: &str) {
    if !HAS_STACKS {
        return;
    }
    let Some(stack) = poll.stack() else {
        panic!("the report has no stack trace: {:?}", poll.missing_stack());
    };
    let frames = stack.frames();
    let mut names = frames.iter().filter_map(|frame| frame.function());
    assert!(names.any(|name| name.contains(function)), "{stack}");
}

/// The next report that is not the end of a slow poll, within a time.
pub(crate) fn next(reports: &mpsc::Receiver<Report>, limit: Duration) -> Option<Report> {
    let end = Instant::now() + limit;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match reports.recv_timeout(left) {
            Ok(Report::SlowPollEnded(_)) => {}
            report => return report.ok(),
        }
    }
}

/// Blocks the thread until the sender is dropped, however late the watchdog is.
#[inline(never)]
fn block_the_thread(released: &mpsc::Receiver<()>) {
    std::hint::black_box(released.recv()).unwrap_err();
}

#[inline(never)]
fn block_the_thread_until_reported(reports: &mpsc::Receiver<Report>) -> SlowPoll {
    std::hint::black_box(slow_poll(reports))
}

#[test]
fn a_poll_that_blocks_is_reported_once_with_its_task_and_its_stack() {
    let (runtime, reports) = watched(&mut workers(2), THRESHOLD);
    let (release, released) = mpsc::channel();
    let line = line!() + 1;
    let task = runtime.spawn(async move {
        block_the_thread(&released);
        raddle::time::sleep(Duration::from_millis(1)).await;
    });
    let poll = slow_poll(&reports);
    drop(release);
    let id = std::num::NonZeroU64::from(task.id()).get();
    assert_eq!(poll.task_id(), Some(id));
    let location = poll.spawned_at().unwrap();
    assert_eq!((location.file(), location.line()), (file!(), line));
    assert!(poll.elapsed() >= THRESHOLD);
    assert!(poll.worker().is_some_and(|worker| worker < 2));
    assert_stack_names(&poll, "block_the_thread");
    runtime.block_on(task).unwrap();
    let ended = match reports.recv_timeout(LIMIT) {
        Ok(Report::SlowPollEnded(ended)) => ended,
        other => panic!("expected the end of the poll, got {other:?}"),
    };
    assert_eq!(ended.number(), poll.number());
    assert!(
        reports.recv_timeout(THRESHOLD * 5).is_err(),
        "the poll was reported twice"
    );
}

/// A poll is reported at the threshold, and again with its whole time, 200 ms later.
#[test]
fn the_end_of_a_slow_poll_is_reported_with_its_whole_time() {
    let (runtime, reports) = watched(&mut workers(1), Duration::from_millis(100));
    let reports = Arc::new(Mutex::new(reports));
    let in_poll = Arc::clone(&reports);
    let rest = Duration::from_millis(200);
    let task = runtime.spawn(async move {
        let start = Instant::now();
        let found = slow_poll(&in_poll.lock());
        thread::sleep(rest);
        (found, start.elapsed())
    });
    let (found, took) = runtime.block_on(task).unwrap();
    let reports = reports.lock();
    assert!(!found.has_ended());
    // Also if the runtime has been dropped meanwhile.
    drop(runtime);
    let ended = match reports.recv_timeout(LIMIT) {
        Ok(Report::SlowPollEnded(ended)) => ended,
        other => panic!("expected the end of the poll, got {other:?}"),
    };
    assert!(ended.has_ended());
    assert_eq!(ended.number(), found.number());
    assert_eq!(ended.task_id(), found.task_id());
    assert_eq!(ended.stack(), found.stack());
    assert!(ended.elapsed_at_most() >= took, "{ended}, {took:?}");
    assert!(ended.elapsed() >= found.elapsed() + rest, "{ended}");
    let text = ended.to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains(" took "), "{text}");
}

/// Bug: own. The process has one signal handler for samples; a watchdog that found it busy reported
/// no stack.
#[test]
fn watchdogs_that_report_at_once_all_have_a_stack() {
    let start = |_| {
        let (runtime, reports) = watched(&mut workers(1), THRESHOLD);
        let (release, released) = mpsc::channel();
        runtime.spawn(async move { block_the_thread(&released) });
        (runtime, reports, release)
    };
    for _ in 0..5 {
        let watched: Vec<_> = (0..8).map(start).collect();
        for (_, reports, _) in &watched {
            assert_stack_names(&slow_poll(reports), "block_the_thread");
        }
        for (runtime, _, release) in watched {
            // Before the drop of the runtime, which waits for the poll.
            drop(release);
            drop(runtime);
        }
    }
}

#[test]
fn polls_that_are_faster_than_the_threshold_are_not_reported() {
    let (runtime, reports) = watched(&mut workers(2), LIMIT);
    runtime.block_on(async {
        for _ in 0..50 {
            let task = raddle::spawn(async { thread::sleep(Duration::from_millis(1)) });
            task.await.unwrap();
        }
    });
    drop(runtime);
    assert!(reports.try_recv().is_err());
}

#[test]
fn a_task_that_runs_long_in_short_polls_is_not_reported() {
    // Longer than a loaded machine keeps a thread from running in one of the polls.
    let threshold = Duration::from_secs(2);
    let (runtime, reports) = watched(&mut workers(1), threshold);
    let task = runtime.spawn(async move {
        let end = Instant::now() + threshold * 3 / 2;
        while Instant::now() < end {
            raddle::task::yield_now().await;
        }
    });
    runtime.block_on(task).unwrap();
    drop(runtime);
    assert!(reports.try_recv().is_err());
}

#[test]
fn slow_polls_are_reported_while_all_workers_are_stuck() {
    let (runtime, reports) = watched(&mut workers(2), THRESHOLD);
    let (release, released) = mpsc::channel::<()>();
    let released = Arc::new(Mutex::new(released));
    for _ in 0..2 {
        let released = Arc::clone(&released);
        runtime.spawn(async move {
            let _ = released.lock().recv();
        });
    }
    let (first, second) = (slow_poll(&reports), slow_poll(&reports));
    assert_ne!(first.worker(), second.worker());
    assert_ne!(first.task_id(), second.task_id());
    drop(release);
}

#[test]
fn polls_that_use_up_the_spare_workers_are_reported_together() {
    // No poll is slow.
    let (runtime, reports) = watched(workers(1).max_spare_workers(1), 100 * LIMIT);
    let stuck = || {
        let (release, released) = mpsc::channel();
        let (begun, has_begun) = mpsc::channel();
        let task = runtime.spawn(async move {
            begun.send(()).unwrap();
            block_the_thread(&released);
        });
        has_begun.recv().unwrap();
        (task, release)
    };
    let [(first, release), (second, other)] = [stuck(), stuck()];
    let waits = runtime.spawn(async {});
    let report = match reports.recv_timeout(LIMIT) {
        Ok(Report::NoSpareWorkers(report)) => report,
        other => panic!("expected a lack of spare workers, got {other:?}"),
    };
    let [one, two] = report.polls() else {
        panic!("{report:?}");
    };
    let number = |id: raddle::task::Id| Some(std::num::NonZeroU64::from(id).get());
    let mut found = [one, two].map(|poll| (poll.worker(), poll.task_id()));
    found.sort();
    assert_eq!(
        found,
        [
            (Some(0), number(first.id())),
            (Some(1), number(second.id()))
        ]
    );
    for poll in [one, two] {
        assert_stack_names(poll, "block_the_thread");
        assert!(!poll.is_blocking_job());
    }
    let text = Report::NoSpareWorkers(report.clone()).to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "one location: {text}");
    assert!(lines[0].contains("Builder::max_spare_workers"), "{text}");
    let place = one.spawned_at().unwrap().to_string();
    assert!(lines[1].contains("2  spawned at "), "{text}");
    assert!(lines[1].contains(&place), "{text}");
    drop((release, other));
    runtime.block_on(waits).unwrap();
}

#[test]
fn a_slow_future_of_block_on_is_reported() {
    for builder in [&mut workers(1), &mut Builder::new_current_thread()] {
        let (runtime, reports) = watched(builder, THRESHOLD);
        let poll = runtime.block_on(async { block_the_thread_until_reported(&reports) });
        assert_eq!((poll.task_id(), poll.spawned_at()), (None, None));
        assert_stack_names(&poll, "block_the_thread_until_reported");
    }
}

#[test]
fn a_task_that_blocks_in_place_is_not_reported() {
    // Longer than a loaded machine keeps a thread from running in the rest of the poll.
    let threshold = Duration::from_secs(1);
    let (runtime, reports) = watched(&mut workers(2), threshold);
    let task = runtime.spawn(async move {
        raddle::task::block_in_place(|| thread::sleep(2 * threshold));
    });
    runtime.block_on(task).unwrap();
    drop(runtime);
    assert!(reports.try_recv().is_err());
}

#[test]
fn jobs_that_wait_for_a_thread_are_reported() {
    // Both jobs wait before the first is reported, even on a loaded machine.
    let threshold = Duration::from_millis(500);
    let (runtime, reports) = watched(workers(1).max_blocking_threads(1), threshold);
    let (release, released) = mpsc::channel();
    let first = runtime.spawn_blocking(move || block_the_thread(&released));
    let line = line!() + 1;
    let others = [1, 2].map(|_| runtime.spawn_blocking(|| ()));
    match reports.recv_timeout(LIMIT) {
        Ok(Report::WaitingJobs(jobs)) => {
            assert_eq!(jobs.count(), 2);
            assert!(jobs.longest() >= threshold);
            assert_eq!(jobs.spawned_at().map(|place| place.line()), Some(line));
        }
        other => panic!("expected waiting jobs, got {other:?}"),
    }
    drop(release);
    runtime.block_on(first).unwrap();
    for job in others {
        runtime.block_on(job).unwrap();
    }
    assert!(
        reports.recv_timeout(THRESHOLD * 5).is_err(),
        "no job waits any more"
    );
}

#[test]
fn a_shutdown_that_gives_up_reports_the_task_and_the_job_that_still_run() {
    let (runtime, reports) = watched(&mut workers(1), LIMIT);
    let (release_poll, released) = mpsc::channel();
    let (started, running) = mpsc::channel();
    let polling = started.clone();
    runtime.spawn(async move {
        polling.send(()).unwrap();
        block_the_thread(&released);
    });
    let (release_job, released) = mpsc::channel::<()>();
    runtime.spawn_blocking(move || {
        started.send(()).unwrap();
        let _ = released.recv();
    });
    running.recv().unwrap();
    running.recv().unwrap();
    let report = runtime.shutdown_report(Duration::from_millis(50));
    assert!(!report.is_complete(), "{report}");
    assert!(!report.has_stopped_workers() && !report.has_stopped_blocking_threads());
    assert_eq!(report.tasks(), 1);
    assert_eq!(report.stuck().len(), 2, "{report}");
    for stuck in report.stuck() {
        match stuck.is_blocking_job() {
            true => assert_stack_names(stuck, "recv"),
            false => assert_stack_names(stuck, "block_the_thread"),
        }
        assert_eq!(stuck.spawned_at().map(|place| place.file()), Some(file!()));
    }
    assert!(matches!(reports.try_recv(), Ok(Report::Shutdown(_))));
    drop((release_poll, release_job));
}

#[test]
fn a_shutdown_that_ends_in_time_is_complete() {
    let (runtime, reports) = watched(&mut workers(2), THRESHOLD);
    runtime.spawn(std::future::pending::<()>());
    let report = runtime.shutdown_report(LIMIT);
    assert!(report.is_complete(), "{report}");
    assert_eq!((report.tasks(), report.stuck().len()), (0, 0));
    assert!(reports.try_recv().is_err());
}

/// Bug: own (the report said that the workers had stopped, and counted a task that had completed).
#[test]
fn a_shutdown_report_waits_for_hooks_and_counts_no_completed_task() {
    let (open, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let mut builder = workers(2);
    builder.on_thread_stop(move || {
        let _ = gate.lock().recv();
    });
    let (runtime, _reports) = watched(&mut builder, LIMIT);
    let (started, running) = mpsc::channel();
    let task = runtime.spawn(async move {
        raddle::task::block_in_place(|| {
            started.send(()).unwrap();
            thread::sleep(Duration::from_millis(10));
        });
        raddle::task::yield_now().await;
    });
    running.recv().unwrap();
    let report = runtime.shutdown_report(Duration::from_millis(300));
    assert!(!report.has_stopped_workers(), "{report}");
    if task.is_finished() {
        assert_eq!(report.tasks(), 0, "{report}");
    }
    drop(open);

    let (runtime, _reports) = watched(&mut workers(2), LIMIT);
    let waits = runtime.spawn(std::future::pending::<()>());
    let report = runtime.shutdown_report(Duration::ZERO);
    assert!(!report.is_complete(), "it has not waited for the threads");
    assert!(report.tasks() <= 1, "{report}");
    drop(waits);
}

#[test]
fn a_shutdown_report_inside_async_code_counts_the_tasks_that_have_not_ended() {
    let outer = workers(1).build().unwrap();
    for _ in 0..50 {
        let runtime = workers(2).build().unwrap();
        for _ in 0..100 {
            runtime.spawn(std::future::pending::<()>());
        }
        let report = outer.block_on(async { runtime.shutdown_report(LIMIT) });
        assert_eq!(report.tasks(), 100, "{report}");
    }
}

#[test]
fn a_panic_in_the_action_has_no_other_effect() {
    let (sender, called) = mpsc::channel();
    let runtime = workers(2)
        .watchdog(THRESHOLD, move |_| {
            sender.send(()).unwrap();
            panic!("in the action");
        })
        .build()
        .unwrap();
    // Each poll blocks until it is reported.
    let called = Arc::new(Mutex::new(called));
    for _ in 0..2 {
        let called = Arc::clone(&called);
        let task = runtime.spawn(async move { called.lock().recv_timeout(LIMIT) });
        let result = runtime.block_on(task).unwrap();
        result.expect("the action was not called");
    }
}

#[test]
fn a_builder_gives_each_runtime_a_watchdog_of_its_own() {
    let (sender, reports) = mpsc::channel();
    let mut builder = workers(1);
    builder.watchdog(THRESHOLD, move |report| drop(sender.send(report.clone())));
    let [first, second] = [(); 2].map(|()| builder.build().unwrap());
    drop(first);
    let (release, released) = mpsc::channel();
    let task = second.spawn(async move { block_the_thread(&released) });
    slow_poll(&reports);
    drop(release);
    second.block_on(task).unwrap();
    drop(second);
    assert!(next(&reports, THRESHOLD * 5).is_none());
}
