//! Tests of the code for systems without process descriptors. The tests in `tests/` cover the rest.

use std::future::poll_fn;
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use raddle_reactor::{Handle, Reactor};

use super::*;

/// A test that takes longer has hung.
const LIMIT: Duration = Duration::from_secs(60);

struct Unpark(Handle);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A minimal executor: polls, turns the reactor, and polls again.
fn block_on<F: Future>(reactor: &mut Reactor, future: F) -> F::Output {
    let handle = reactor.handle();
    let _current = handle.enter();
    let waker = Waker::from(Arc::new(Unpark(handle.clone())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        reactor.turn(Some(LIMIT), 64).unwrap();
    }
    panic!("the exit is not reported");
}

/// A shell that exits with `code` when its input ends.
fn shell(code: i32) -> Child {
    Command::new("sh")
        .args(["-c", &format!("read line; exit {code}")])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn without_pidfd_a_signal_reports_the_end() {
    ends_are_noticed(|_| ExitNotifier::of_any_child());
}

fn ends_are_noticed(notifier: fn(&Child) -> io::Result<ExitNotifier>) {
    let mut reactor = Reactor::new().unwrap();
    block_on(&mut reactor, async {
        let mut processes = [0, 1, 2].map(|code| {
            let mut process = Process::new(shell(code));
            process.notifier = Some(notifier(process.running().unwrap()).unwrap());
            process
        });
        for code in [1, 0, 2] {
            let process = &mut processes[code];
            let stdin = process.running().unwrap().stdin.take();
            let mut waiting = pin!(poll_fn(|cx| process.poll_wait(cx)));
            let cx = &mut Context::from_waker(Waker::noop());
            assert!(waiting.as_mut().poll(cx).is_pending());
            drop(stdin);
            let status = waiting.await.unwrap();
            assert_eq!(status.code(), Some(code as i32));
        }
    });
}

/// Bug: own.
#[test]
fn without_pidfd_a_wait_goes_on_when_its_reactor_is_gone() {
    let first = Reactor::new().unwrap();
    let handle = first.handle();
    let (mut process, stdin) = {
        let _current = handle.enter();
        let mut process = Process::new(shell(3));
        process.notifier = Some(ExitNotifier::of_any_child().unwrap());
        let stdin = process.running().unwrap().stdin.take();
        (process, stdin)
    };
    drop(first);
    let mut next = Reactor::new().unwrap();
    let waker = Waker::from(Arc::new(Unpark(next.handle())));
    let mut cx = Context::from_waker(&waker);
    {
        let _current = handle.enter();
        assert!(process.poll_wait(&mut cx).is_pending());
    }
    drop(stdin);
    let status = block_on(&mut next, poll_fn(|cx| process.poll_wait(cx)));
    assert_eq!(status.unwrap().code(), Some(3));
}

/// Returns whether a process or a zombie with this id exists.
#[cfg(target_os = "linux")]
fn exists(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[cfg(target_os = "linux")]
#[test]
fn a_dropped_process_leaves_no_zombie_with_any_way_of_notification() {
    let notifiers: [fn(&Child) -> io::Result<ExitNotifier>; 2] =
        [ExitNotifier::of, |_| ExitNotifier::of_any_child()];
    let mut reactor = Reactor::new().unwrap();
    for notifier in notifiers {
        let (pid, stdin) = block_on(&mut reactor, async {
            let mut process = Process::new(shell(0));
            process.notifier = Some(notifier(process.running().unwrap()).unwrap());
            let stdin = process.running().unwrap().stdin.take();
            (process.id().unwrap(), stdin)
        });
        assert!(exists(pid));
        drop(stdin);
        turn_until_gone(&mut reactor, pid);
    }
    assert_eq!(
        reactor.handle().registered_count(),
        1,
        "only the signal pipe is registered"
    );
}

#[cfg(target_os = "linux")]
fn turn_until_gone(reactor: &mut Reactor, pid: u32) {
    let start = Instant::now();
    while exists(pid) {
        assert!(start.elapsed() < LIMIT, "the child is still a zombie");
        reactor
            .turn(Some(Duration::from_millis(5)), usize::MAX)
            .unwrap();
    }
}

/// Bug: own. The process is dropped before its reactor in the first round, and after it
/// in the second.
#[cfg(target_os = "linux")]
#[test]
fn a_dropped_process_that_outlives_its_reactor_is_reaped_by_the_next() {
    for is_dropped_first in [true, false] {
        let mut reactor = Reactor::new().unwrap();
        let (mut process, stdin) = block_on(&mut reactor, async {
            let mut process = Process::new(shell(0));
            let stdin = process.running().unwrap().stdin.take();
            (Some(process), stdin)
        });
        let pid = process.as_ref().and_then(Process::id).unwrap();
        if is_dropped_first {
            process = None;
        }
        drop(reactor);
        drop(process);
        drop(stdin);
        let mut next = Reactor::new().unwrap();
        let _attached = crate::signal::attach(&next.handle()).unwrap();
        turn_until_gone(&mut next, pid);
    }
}
