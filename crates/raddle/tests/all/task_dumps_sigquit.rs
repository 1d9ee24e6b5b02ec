//! SIGQUIT prints a dump of a program that hangs.

use std::io::{BufRead, BufReader};
use std::ops::{Deref, DerefMut};
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
}

/// A program that is killed when a test ends, also if it fails.
struct Program(Child);

impl Deref for Program {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Program {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts this program as the child process of the test `name`.
fn start(test: &str) -> Program {
    start_by(Command::new(std::env::current_exe().unwrap()), test)
}

fn start_by(mut command: Command, test: &str) -> Program {
    let child = command
        .arg(format!("task_dumps_sigquit::{test}"))
        .args(["--exact", "--nocapture"])
        .env(IS_CHILD, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    Program(child.unwrap())
}

/// Two workers in polls that do not return, and a task that waits for a worker.
fn hang() -> ! {
    let mut builder = Builder::new_multi_thread();
    // A spare worker would run the task that waits.
    builder.worker_threads(2).max_spare_workers(0);
    let runtime = builder.dump_tasks_on_sigquit().build().unwrap();
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

/// Starts this program with a signal blocked on all threads, as in a program that reads signals
/// from a descriptor.
#[cfg(target_os = "linux")]
fn start_with_blocked_signals(test: &str) -> Program {
    let mut command = Command::new("env");
    command.args(["--block-signal=QUIT", "--block-signal=URG"]);
    command.arg(std::env::current_exe().unwrap());
    start_by(command, test)
}

#[cfg(target_os = "linux")]
#[test]
fn sigquit_prints_the_tasks_of_a_program_that_blocks_the_signal() {
    if std::env::var_os(IS_CHILD).is_some() {
        hang();
    }
    let test = "sigquit_prints_the_tasks_of_a_program_that_blocks_the_signal";
    let mut child = start_with_blocked_signals(test);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    while next() != "stuck" {}
    for _ in 0..2 {
        kill_process(Pid::from_child(&child), Signal::QUIT).unwrap();
        while next() != "3 tasks" {}
    }
}

/// The dump does not fit into the pipe of standard error, which is not read for a while. It held
/// the lock of standard error, and was cut off if the pipe does not block.
#[cfg(all(target_os = "linux", feature = "time"))]
#[test]
fn a_dump_that_is_read_slowly_keeps_no_thread_from_standard_error_and_is_whole() {
    if std::env::var_os(IS_CHILD).is_some() {
        print_slowly();
    }
    let test = "a_dump_that_is_read_slowly_keeps_no_thread_from_standard_error_and_is_whole";
    let mut child = start(test);
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || output.next().expect("the program has ended").unwrap();
    while !next().ends_with("ready") {}
    kill_process(Pid::from_child(&child), Signal::QUIT).unwrap();
    // Nothing has been read from standard error.
    while !next().ends_with("locked") {}
    let errors = BufReader::new(child.stderr.take().unwrap());
    let mut missing: std::collections::BTreeSet<_> = (0..NAMED).collect();
    for line in errors.lines() {
        let line = line.unwrap();
        if let Some((_, rest)) = line.split_once("number-") {
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap();
            missing.remove(&digits.parse().unwrap());
        }
        if missing.is_empty() {
            break;
        }
    }
    assert!(missing.is_empty(), "{} tasks are missing", missing.len());
}

/// The number of tasks, each with another number of waits: the dump joins equal ones.
#[cfg(all(target_os = "linux", feature = "time"))]
const NAMED: usize = 60;

/// Prints `locked` when it gets the lock of standard error while a dump is written.
#[cfg(all(target_os = "linux", feature = "time"))]
fn print_slowly() -> ! {
    use std::io::Write;

    use raddle::runtime::dump::{TaskDump, TaskState};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::{OFlags, fcntl_setfl};

    let mut builder = Builder::new_multi_thread();
    let builder = builder.worker_threads(1).enable_all();
    let runtime = builder.dump_tasks_on_sigquit().build().unwrap();
    for number in 0..NAMED {
        let name = format!("number-{number}-{}", "x".repeat(80));
        let task = raddle::task::Builder::new().name(&name);
        let future = async move {
            let sleep = |_| Box::pin(raddle::time::sleep(Duration::from_secs(10_000)));
            let mut sleeps = Vec::from_iter((0..number).map(sleep));
            std::future::poll_fn(|cx| {
                for sleep in &mut sleeps {
                    assert!(sleep.as_mut().poll(cx).is_pending());
                }
                std::task::Poll::Pending::<()>
            })
            .await;
        };
        drop(task.spawn_on(future, runtime.handle()).unwrap());
    }
    let is_waiting = |task: &TaskDump| task.state() == TaskState::Waiting;
    while !runtime
        .handle()
        .dump()
        .unwrap()
        .tasks()
        .iter()
        .all(is_waiting)
    {
        thread::sleep(Duration::from_millis(1));
    }
    let errors = std::io::stderr();
    fcntl_setfl(&errors, OFlags::NONBLOCK).unwrap();
    println!("ready");
    let none = Timespec::default();
    let is_writable = || {
        let mut descriptors = [PollFd::new(&errors, PollFlags::OUT)];
        poll(&mut descriptors, Some(&none)).unwrap() > 0
    };
    // Until the dump has filled the pipe.
    while is_writable() {
        thread::sleep(Duration::from_millis(1));
    }
    let lock = std::io::stderr().lock();
    println!("locked");
    std::io::stdout().flush().unwrap();
    drop(lock);
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", feature = "watchdog"))]
#[test]
fn sigquit_prints_the_stacks_of_running_polls_and_jobs() {
    if std::env::var_os(IS_CHILD).is_some() {
        let mut builder = Builder::new_multi_thread();
        let threshold = Duration::from_secs(1000);
        let builder = builder.worker_threads(1).watchdog(threshold, |_| ());
        let runtime = builder.dump_tasks_on_sigquit().build().unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        let job = sender.clone();
        runtime.spawn(async move { a_poll_that_sleeps(&sender) });
        runtime.spawn_blocking(move || a_job_that_sleeps(&job));
        receiver.recv().unwrap();
        receiver.recv().unwrap();
        eprintln!("stuck");
        thread::sleep(Duration::from_secs(1000));
    }
    let mut child = start("sigquit_prints_the_stacks_of_running_polls_and_jobs");
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    while next() != "stuck" {}
    kill_process(Pid::from_child(&child), Signal::QUIT).unwrap();
    while next() != "1 task" {}
    while next() != "2 running polls and blocking jobs:" {}
    let mut missing = vec!["a_poll_that_sleeps", "a_job_that_sleeps"];
    while !missing.is_empty() {
        let line = next();
        missing.retain(|function| !line.contains(function));
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", feature = "watchdog"))]
#[inline(never)]
fn a_poll_that_sleeps(started: &std::sync::mpsc::Sender<()>) {
    started.send(()).unwrap();
    thread::sleep(Duration::from_secs(1000));
    std::hint::black_box(());
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", feature = "watchdog"))]
#[inline(never)]
fn a_job_that_sleeps(started: &std::sync::mpsc::Sender<()>) {
    started.send(()).unwrap();
    thread::sleep(Duration::from_secs(1000));
    std::hint::black_box(());
}
