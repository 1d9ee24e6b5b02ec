//! Waits that the system interrupts, in all threads of a process that is
//! stopped and goes on, which is this test once more.
#![cfg(all(target_os = "linux", not(raddle_loom)))]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use raddle::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream};
use raddle::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

const LIMIT: Duration = Duration::from_secs(60);
/// How long a process is stopped; its timers are due before that.
const PAUSE: Duration = Duration::from_secs(1);
/// Intervals of the process's ticks in that time.
const PAUSE_TICKS: u32 = 100;

/// Everything that waits: sockets, timers, the standard input.
async fn work() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    raddle::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        while let Ok(n) = stream.read_u32().await {
            // So that the workers have come to wait.
            sleep(Duration::from_millis(1)).await;
            stream.write_u32(n).await.unwrap();
        }
    });
    let sleeper = raddle::spawn(async {
        loop {
            let start = Instant::now();
            sleep(Duration::from_millis(3)).await;
            assert!(start.elapsed() >= Duration::from_millis(3), "woken early");
        }
    });
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut input = raddle::io::BufReader::new(raddle::io::stdin()).lines();
    println!("ready");
    let mut n = 0;
    let talk = async {
        loop {
            stream.write_u32(n).await.unwrap();
            assert_eq!(stream.read_u32().await.unwrap(), n);
            n += 1;
        }
    };
    let line = raddle::select! {
        line = timeout(LIMIT, input.next_line()) => line.expect("the input is read"),
        () = talk => unreachable!("it has no end"),
    };
    assert_eq!(line.unwrap().as_deref(), Some("enough"));
    assert!(n > 0);
    assert!(!sleeper.is_finished());
    println!("done");
}

#[raddle::test]
#[ignore = "a process of another test"]
async fn child_on_one_thread() {
    work().await;
}

#[raddle::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a process of another test"]
async fn child_on_workers() {
    raddle::spawn(work()).await.unwrap();
}

/// Timers that come due while the process is stopped, and one that does not.
#[raddle::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a process of another test"]
async fn child_with_timers() {
    let start = Instant::now();
    let spans = (1..=20).map(|n| n * Duration::from_millis(10));
    let due: Vec<_> = spans
        .map(|span| {
            raddle::spawn(async move {
                sleep(span).await;
                (span, start.elapsed())
            })
        })
        .collect();
    let later = raddle::spawn(sleep(LIMIT));
    let mut ticks = interval(Duration::from_millis(10));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    println!("ready");
    let mut count = 0;
    // Also if the process was stopped before the first.
    loop {
        ticks.tick().await;
        count += 1;
        if start.elapsed() >= PAUSE {
            break;
        }
    }
    for task in due {
        let (span, elapsed) = timeout(LIMIT, task).await.unwrap().unwrap();
        assert!(elapsed >= span, "{elapsed:?} for {span:?}");
    }
    assert!(!later.is_finished());
    println!("ticks: {count}");
}

/// To the process it is as if the machine were suspended by a clock that goes on meanwhile.
#[test]
fn timers_that_come_due_while_a_process_is_stopped_fire_once_when_it_continues() {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "child_with_timers"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("ready")));
    let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    std::thread::sleep(PAUSE);
    kill_process(pid, Signal::CONT).unwrap();
    let ticks = lines.find_map(|line| {
        let line = line.unwrap();
        let ticks = line.strip_prefix("ticks: ")?;
        Some(ticks.parse::<u32>().unwrap())
    });
    assert!(child.wait().unwrap().success());
    // Fewer than the intervals that have passed: those that were missed are one tick.
    let ticks = ticks.expect("the number of ticks");
    assert!((1..PAUSE_TICKS).contains(&ticks), "{ticks} ticks");
}

/// Linux ends each `epoll_wait` of a process that is continued with `EINTR`.
#[test]
fn a_runtime_works_after_its_process_was_stopped_and_continued() {
    for name in ["child_on_one_thread", "child_on_workers"] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("ready")), "{name}");

        let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
        for _ in 0..50 {
            kill_process(pid, Signal::STOP).unwrap();
            let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
            assert!(status.stopped(), "{name} ended: {status:?}");
            kill_process(pid, Signal::CONT).unwrap();
            std::thread::sleep(Duration::from_millis(2));
        }
        stdin.write_all(b"enough\n").unwrap();
        assert!(lines.any(|line| line.unwrap().contains("done")), "{name}");
        assert!(child.wait().unwrap().success(), "{name}");
    }
}
