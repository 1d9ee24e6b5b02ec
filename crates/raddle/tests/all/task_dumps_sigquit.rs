//! SIGQUIT prints a dump of a program that hangs.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use raddle::runtime::Builder;
use rustix::process::{Pid, Signal, kill_process};

const IS_CHILD: &str = "RADDLE_TEST_HANGING_PROGRAM";

#[test]
fn sigquit_prints_the_tasks_of_a_program_whose_workers_are_stuck() {
    if std::env::var_os(IS_CHILD).is_some() {
        hang();
    }
    let mut child = start("sigquit_prints_the_tasks_of_a_program_whose_workers_are_stuck");
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut next = || {
        lines
            .next()
            .expect("the program has closed its error output")
            .unwrap()
    };
    while next() != "stuck" {}

    // Twice, to check that the first signal does not end the program.
    for _ in 0..2 {
        kill_process(Pid::from_child(&child), Signal::QUIT).unwrap();
        assert_eq!(next(), "3 tasks");
        for state in ["running for", "running for", "queued for"] {
            let line = next();
            assert!(line.contains(state), "{line}");
            assert!(line.contains("task_dumps_sigquit.rs"), "{line}");
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Starts this program as the child process of the test `name`.
fn start(test: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .arg(format!("task_dumps_sigquit::{test}"))
        .args(["--exact", "--nocapture"])
        .env(IS_CHILD, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Two workers in polls that do not return, and a task that waits for a worker.
fn hang() -> ! {
    let mut builder = Builder::new_multi_thread();
    let builder = builder.worker_threads(2).dump_tasks_on_sigquit();
    let runtime = builder.build().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    for _ in 0..2 {
        let sender = sender.clone();
        runtime.spawn(async move {
            sender.send(()).unwrap();
            loop {
                thread::sleep(Duration::from_millis(10));
            }
        });
    }
    receiver.recv().unwrap();
    receiver.recv().unwrap();
    runtime.spawn(async {});
    eprintln!("stuck");
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}

#[cfg(feature = "sync")]
#[test]
fn sigquit_names_the_deadlock_of_a_program_that_hangs() {
    if std::env::var_os(IS_CHILD).is_some() {
        deadlock();
    }
    let mut child = start("sigquit_names_the_deadlock_of_a_program_that_hangs");
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut next = || {
        lines
            .next()
            .expect("the program has closed its error output")
            .unwrap()
    };
    while next() != "stuck" {}
    // The tasks may not wait for their second locks yet.
    while {
        kill_process(Pid::from_child(&child), Signal::QUIT).unwrap();
        thread::sleep(Duration::from_millis(10));
        !next().ends_with("deadlock of 2 tasks:")
    } {}
    for _ in 0..2 {
        let line = next();
        assert!(line.starts_with("  task "), "{line}");
        assert!(line.contains("waits for Mutex::lock at "), "{line}");
        assert!(line.contains(", held by task "), "{line}");
        assert_eq!(line.matches("task_dumps_sigquit.rs:").count(), 2, "{line}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Two tasks that lock two mutexes in opposite orders.
#[cfg(feature = "sync")]
fn deadlock() -> ! {
    use std::sync::Arc;

    use raddle::sync::{Barrier, Mutex};

    let mut builder = Builder::new_multi_thread();
    let builder = builder.worker_threads(2).dump_tasks_on_sigquit();
    let runtime = builder.build().unwrap();
    let locks = [(); 2].map(|()| Arc::new(Mutex::new(())));
    let barrier = Arc::new(Barrier::new(2));
    for order in [[0, 1], [1, 0]] {
        let [first, second] = order.map(|index| Arc::clone(&locks[index]));
        let barrier = Arc::clone(&barrier);
        runtime.spawn(async move {
            let _first = first.lock().await;
            barrier.wait().await;
            let _second = second.lock().await;
        });
    }
    eprintln!("stuck");
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}
