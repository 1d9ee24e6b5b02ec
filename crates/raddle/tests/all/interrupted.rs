//! System calls that are interrupted in all threads of a process that is stopped and continued. The
//! process runs this test program.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use raddle::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream};
use raddle::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

const LIMIT: Duration = Duration::from_secs(60);
/// How long a process is stopped. Its timers are due before it continues.
const PAUSE: Duration = Duration::from_secs(1);
/// Number of the process's ticks in that time.
const PAUSE_TICKS: u32 = 100;

/// Waits for sockets, timers and the standard input.
async fn work() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    raddle::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        while let Ok(n) = stream.read_u32().await {
            // Lets the workers park in the meantime.
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
    let mut n = 0;
    let talk = async {
        loop {
            stream.write_u32(n).await.unwrap();
            assert_eq!(stream.read_u32().await.unwrap(), n);
            n += 1;
            if n == 1 {
                println!("ready");
            }
        }
    };
    let line = raddle::select! {
        line = timeout(LIMIT, input.next_line()) => line.expect("no input within the limit"),
        () = talk => unreachable!("the loop never returns"),
    };
    assert_eq!(line.unwrap().as_deref(), Some("enough"));
    assert!(n > 0);
    assert!(!sleeper.is_finished());
    println!("done");
}

#[raddle::test]
#[ignore = "run as a process by another test"]
async fn child_on_one_thread() {
    work().await;
}

#[raddle::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run as a process by another test"]
async fn child_on_workers() {
    raddle::spawn(work()).await.unwrap();
}

/// Timers that come due while the process is stopped, and one that does not come due.
#[raddle::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run as a process by another test"]
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
    let mut count = 0;
    // The parent lets the process continue. No tick comes before the stop, however late that is.
    kill_process(rustix::process::getpid(), Signal::STOP).unwrap();
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

/// The process sees what it would see after a suspend on a clock that counts the suspended time.
#[test]
fn timers_that_come_due_while_a_process_is_stopped_fire_once_when_it_continues() {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture"])
        .arg("interrupted::child_with_timers")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
    assert!(status.stopped(), "the process ended: {status:?}");
    std::thread::sleep(PAUSE);
    kill_process(pid, Signal::CONT).unwrap();
    let ticks = lines.find_map(|line| {
        let line = line.unwrap();
        let ticks = line.strip_prefix("ticks: ")?;
        Some(ticks.parse::<u32>().unwrap())
    });
    assert!(child.wait().unwrap().success());
    // There are fewer ticks than intervals that have passed: all missed ticks become one.
    let ticks = ticks.expect("the process printed no number of ticks");
    assert!((1..PAUSE_TICKS).contains(&ticks), "{ticks} ticks");
}

/// Linux ends each `epoll_wait` of a process that is continued with `EINTR`.
#[test]
fn a_runtime_works_after_its_process_was_stopped_and_continued() {
    for name in ["child_on_one_thread", "child_on_workers"] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture"])
            .arg(format!("interrupted::{name}"))
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
