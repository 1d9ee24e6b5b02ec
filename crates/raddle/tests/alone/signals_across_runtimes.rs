//! Signals and children of one runtime, with another runtime that is driven. Any runtime of the
//! process delivers signals.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::pin::pin;
use std::process::Stdio;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use crate::common::own_process::in_own_process;
use crate::common::{builders, current_thread, each_flavor, multi_thread};
use crate::{alone, fork};
use raddle::process::{Child, Command};
use raddle::runtime::Runtime;
use raddle::signal::ctrl_c;
use raddle::signal::unix::{Signal, SignalKind, restore_default_when_unused, signal};
use raddle::time::{sleep, timeout};
use rustix::process::{Pid, WaitOptions, kill_process, waitpid};
use signal_hook::low_level::raise;

/// A test that takes longer has hung.
const LIMIT: Duration = Duration::from_secs(60);

fn send(kind: SignalKind) {
    raise(kind.as_raw_value()).unwrap();
}

/// Makes a listener in the runtime without driving it.
fn listen_in(runtime: &Runtime, kind: SignalKind) -> Signal {
    let _entered = runtime.enter();
    signal(kind).unwrap()
}

async fn assert_received(signal: &mut Signal) {
    let received = timeout(LIMIT, signal.recv()).await;
    assert_eq!(received.expect("the signal is not received"), Some(()));
}

fn is_pending<F: Future>(future: F) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    pin!(future).poll(&mut cx).is_pending()
}

/// Bug: own.
#[test]
fn a_listener_works_in_another_runtime_while_its_own_is_not_driven() {
    let _alone = alone();
    each_flavor(|runtime| {
        let own = current_thread().build().unwrap();
        let mut listener = listen_in(&own, SignalKind::user_defined2());
        runtime.block_on(async {
            for _ in 0..10 {
                // Before the wait, and during it.
                send(SignalKind::user_defined2());
                assert_received(&mut listener).await;
                let sends = async {
                    sleep(Duration::from_millis(1)).await;
                    send(SignalKind::user_defined2());
                };
                raddle::join!(assert_received(&mut listener), sends);
            }
        });
    });
}

/// Bug: own.
#[test]
fn a_listener_outlives_the_runtime_that_made_it() {
    let _alone = alone();
    for mut builder in builders() {
        let own = builder.build().unwrap();
        let mut listener = listen_in(&own, SignalKind::user_defined2());
        let mut pressed = Box::pin(ctrl_c());
        own.block_on(async {
            assert!(is_pending(listener.recv()));
            assert!(is_pending(pressed.as_mut()));
        });
        drop(own);
        for mut builder in builders() {
            builder.build().unwrap().block_on(async {
                assert!(is_pending(listener.recv()));
                send(SignalKind::user_defined2());
                assert_received(&mut listener).await;
            });
        }
        current_thread().build().unwrap().block_on(async {
            send(SignalKind::interrupt());
            timeout(LIMIT, pressed).await.unwrap().unwrap();
        });
    }
}

/// Bug: own. A task waits in one runtime, which is no longer driven, when the listener is handed to
/// another.
#[test]
fn a_listener_that_waited_in_one_runtime_wakes_a_task_of_another() {
    let _alone = alone();
    let (first, second) = (
        current_thread().build().unwrap(),
        multi_thread().build().unwrap(),
    );
    let mut listener = listen_in(&first, SignalKind::user_defined1());
    for _ in 0..10 {
        first.block_on(async { assert!(is_pending(listener.recv())) });
        listener = second.block_on(async {
            let waiting = raddle::spawn(async move {
                assert_received(&mut listener).await;
                listener
            });
            sleep(Duration::from_millis(1)).await;
            send(SignalKind::user_defined1());
            timeout(LIMIT, waiting).await.unwrap().unwrap()
        });
    }
}

/// The runtime that is driven has no listener of its own.
#[test]
fn a_listener_that_is_awaited_outside_any_runtime_is_woken_by_one_that_is_driven() {
    let _alone = alone();
    let own = current_thread().build().unwrap();
    let mut listener = listen_in(&own, SignalKind::user_defined1());
    let _driven = multi_thread().build().unwrap();
    for _ in 0..10 {
        let sender = thread::spawn(|| {
            thread::sleep(Duration::from_millis(1));
            send(SignalKind::user_defined1());
        });
        assert_eq!(raddle_testing::block_on(listener.recv()), Some(()));
        sender.join().unwrap();
    }
}

/// A wait in a thread, which may outlive all runtimes.
struct Waiting<T>(thread::JoinHandle<T>);

impl<T: Send + 'static> Waiting<T> {
    fn start(wait: impl FnOnce() -> T + Send + 'static) -> Self {
        let waiting = Self(thread::spawn(wait));
        waiting.assert_goes_on();
        waiting
    }

    fn assert_goes_on(&self) {
        thread::sleep(Duration::from_millis(20));
        assert!(!self.0.is_finished(), "it has ended without a signal");
    }

    /// Drives a runtime, which has no listener of its own, until the wait has ended.
    fn end_in(self, runtime: &Runtime) -> T {
        runtime.block_on(async {
            let ended = timeout(LIMIT, async {
                while !self.0.is_finished() {
                    sleep(Duration::from_millis(1)).await;
                }
            });
            assert!(ended.await.is_ok(), "the signal is not received");
        });
        self.0.join().unwrap()
    }
}

/// Bug: own.
#[test]
fn a_wait_outside_any_runtime_goes_on_without_one_and_ends_in_the_next() {
    let _alone = alone();
    let kind = SignalKind::alarm();
    for waits_before_the_shutdown in [true, false] {
        for is_sent_before_the_next in [true, false] {
            let mut own = Some(current_thread().build().unwrap());
            let mut listener = listen_in(own.as_ref().unwrap(), kind);
            if !waits_before_the_shutdown {
                own = None;
            }
            let waiting = Waiting::start(move || raddle_testing::block_on(listener.recv()));
            drop(own);
            waiting.assert_goes_on();
            if is_sent_before_the_next {
                send(kind);
                waiting.assert_goes_on();
            }
            let next = current_thread().build().unwrap();
            if !is_sent_before_the_next {
                send(kind);
            }
            assert_eq!(waiting.end_in(&next), Some(()));
        }
    }
}

/// Bug: own.
#[test]
fn a_wait_in_a_runtime_goes_on_when_that_shuts_down_and_ends_in_another() {
    let _alone = alone();
    let kind = SignalKind::alarm();
    for is_entered in [true, false] {
        for is_built_before in [true, false] {
            let mut other = is_built_before.then(|| current_thread().build().unwrap());
            let own = multi_thread().build().unwrap();
            let mut listener = listen_in(&own, kind);
            let handle = own.handle().clone();
            let waiting = Waiting::start(move || {
                if is_entered {
                    let _entered = handle.enter();
                    raddle_testing::block_on(listener.recv())
                } else {
                    handle.block_on(listener.recv())
                }
            });
            drop(own);
            waiting.assert_goes_on();
            let other = other.get_or_insert_with(|| current_thread().build().unwrap());
            send(kind);
            assert_eq!(waiting.end_in(other), Some(()));
        }
    }
}

/// Bug: own.
#[test]
fn a_wait_that_begins_in_a_runtime_that_has_shut_down_ends_in_another() {
    let _alone = alone();
    let kind = SignalKind::alarm();
    let own = multi_thread().build().unwrap();
    let handle = own.handle().clone();
    let mut listener = listen_in(&own, kind);
    drop(own);
    let waiting = Waiting::start(move || handle.block_on(listener.recv()));
    send(kind);
    let other = current_thread().build().unwrap();
    assert_eq!(waiting.end_in(&other), Some(()));
}

/// Bug: own.
#[test]
fn a_wait_for_ctrl_c_goes_on_when_its_runtime_shuts_down() {
    let _alone = alone();
    let own = multi_thread().build().unwrap();
    let handle = own.handle().clone();
    let waiting = Waiting::start(move || handle.block_on(ctrl_c()));
    drop(own);
    waiting.assert_goes_on();
    send(SignalKind::interrupt());
    let other = current_thread().build().unwrap();
    waiting.end_in(&other).unwrap();
}

/// Bug: own.
#[test]
fn a_waker_that_panics_does_not_end_the_delivery() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker's panic");
        }
    }
    let _alone = alone();
    let kind = SignalKind::user_defined1();
    current_thread().build().unwrap().block_on(async {
        let mut first = signal(kind).unwrap();
        let mut second = signal(kind).unwrap();
        let waker = Waker::from(Arc::new(Panics));
        let polled = first.poll_recv(&mut Context::from_waker(&waker));
        assert_eq!(polled, Poll::Pending);
        for _ in 0..3 {
            send(kind);
            assert_received(&mut second).await;
        }
        assert_received(&mut first).await;
    });
}

/// A child that runs until its input ends.
fn spawn(is_killed: bool) -> Child {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).kill_on_drop(is_killed);
    command.spawn().unwrap()
}

/// A directory that exists as long as the process or its zombie.
fn traces(child: &Child) -> PathBuf {
    format!("/proc/{}", child.id().unwrap()).into()
}

/// Drives the runtime until the traces are gone. It has no listener, and spawns nothing.
fn assert_reaped(runtime: &Runtime, traces: &[PathBuf]) {
    runtime.block_on(async {
        let reaped = timeout(LIMIT, async {
            while traces.iter().any(|traces| traces.exists()) {
                sleep(Duration::from_millis(1)).await;
            }
        });
        assert!(reaped.await.is_ok(), "there are zombies");
    });
}

/// Bug: own.
#[test]
fn orphans_are_reaped_by_a_runtime_that_has_no_children_while_their_own_is_not_driven() {
    let _alone = alone();
    for is_killed in [false, true] {
        each_flavor(|driven| {
            let own = current_thread().build().unwrap();
            let (inputs, traces): (Vec<_>, Vec<_>) = own.block_on(async {
                let child = || {
                    let mut child = spawn(is_killed);
                    (child.stdin.take(), traces(&child))
                };
                (0..5).map(|_| child()).unzip()
            });
            drop(inputs);
            assert_reaped(&driven, &traces);
        });
    }
}

/// Bug: own.
#[test]
fn orphans_of_a_dropped_runtime_are_reaped_by_another() {
    let _alone = alone();
    for is_built_before in [true, false] {
        let mut other = is_built_before.then(|| current_thread().build().unwrap());
        let own = multi_thread().build().unwrap();
        // In a task that the shutdown drops, dropped before the runtime, and after it.
        let (in_task, before, after) = {
            let _entered = own.enter();
            (spawn(false), spawn(false), spawn(false))
        };
        let (mut children, mut inputs) = ([in_task, before, after], Vec::new());
        let traces = children.each_ref().map(traces);
        inputs.extend(children.each_mut().map(|child| child.stdin.take()));
        let [in_task, before, after] = children;
        own.spawn(async move {
            let _in_task = in_task;
            std::future::pending::<()>().await;
        });
        drop(before);
        drop(own);
        drop(after);
        drop(inputs);
        let other = other.get_or_insert_with(|| current_thread().build().unwrap());
        assert_reaped(other, &traces);
    }
}

/// As in the example of the issue: the other runtime listens for SIGCHLD, and the children have
/// been reaped when the listener is ready.
#[test]
fn a_listener_for_the_end_of_children_finds_orphans_reaped() {
    let _alone = alone();
    let own = current_thread().build().unwrap();
    let mut child = own.block_on(async { spawn(false) });
    let (input, traces) = (child.stdin.take(), traces(&child));
    drop(child);
    drop(own);
    current_thread().build().unwrap().block_on(async {
        let mut ends = signal(SignalKind::child()).unwrap();
        drop(input);
        while traces.exists() {
            assert_received(&mut ends).await;
        }
    });
}

/// Bug: own. Another test may have left threads that close their descriptors late.
#[test]
fn dropped_children_keep_no_descriptor() {
    let _alone = alone();
    let name = "signals_across_runtimes::dropped_children_keep_no_descriptor";
    in_own_process(name, || {
        let count = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        let runtime = current_thread().build().unwrap();
        let before = count();
        let children: Vec<_> = runtime.block_on(async {
            let sleeps = |_| Command::new("sleep").arg("1000").spawn().unwrap();
            (0..50).map(sleeps).collect()
        });
        let (ids, traces): (Vec<_>, Vec<_>) = children
            .iter()
            .map(|child| (child.id().unwrap(), traces(child)))
            .unzip();
        drop(children);
        assert_eq!(count(), before);
        for id in ids {
            // SAFETY: the call takes two integers, the id of a child that has not been reaped.
            assert_eq!(unsafe { libc::kill(id as i32, libc::SIGKILL) }, 0);
        }
        assert_reaped(&runtime, &traces);
    });
}

/// Bug: own.
#[test]
fn a_child_is_awaited_in_another_runtime_while_its_own_is_not_driven() {
    let _alone = alone();
    each_flavor(|driven| {
        let own = current_thread().build().unwrap();
        let mut child = own.block_on(async { spawn(false) });
        let input = child.stdin.take();
        own.block_on(async { assert!(is_pending(child.wait())) });
        driven.block_on(async {
            let ends = async {
                sleep(Duration::from_millis(5)).await;
                drop(input);
            };
            let waits = async {
                // Not `timeout`, whose last poll would find the end without a notification.
                raddle::select! {
                    biased;
                    () = sleep(LIMIT) => panic!("the end is not noticed"),
                    status = child.wait() => assert!(status.unwrap().success()),
                }
            };
            raddle::join!(waits, ends);
        });
    });
}

/// The processes of `a_signal_without_a_listener_has_its_default_action_if_wanted` print this when
/// the signal is expected to end them.
const LAST: &str = "the last signal";

fn restored(setup: impl FnOnce(&Runtime), kind: SignalKind) {
    let runtime = current_thread().build().unwrap();
    setup(&runtime);
    for _ in 0..3 {
        let mut listener = listen_in(&runtime, kind);
        let other = listen_in(&runtime, kind);
        drop(other);
        runtime.block_on(async {
            send(kind);
            assert_received(&mut listener).await;
        });
    }
    println!("{LAST}");
    send(kind);
    println!("alive");
}

#[test]
#[ignore = "run as a process by another test"]
fn process_default_before_listeners() {
    let kind = SignalKind::interrupt();
    restored(|_| restore_default_when_unused(kind).unwrap(), kind);
}

#[test]
#[ignore = "run as a process by another test"]
fn process_default_after_ctrl_c() {
    let kind = SignalKind::interrupt();
    let setup = |runtime: &Runtime| {
        runtime.block_on(async {
            let mut pressed = pin!(ctrl_c());
            assert!(is_pending(pressed.as_mut()));
            send(kind);
            pressed.await.unwrap();
        });
        // Not wanted yet.
        send(kind);
        restore_default_when_unused(kind).unwrap();
    };
    restored(setup, kind);
}

#[test]
#[ignore = "run as a process by another test"]
fn process_default_of_a_real_time_signal() {
    let kind = SignalKind::from_raw(40);
    restored(|_| restore_default_when_unused(kind).unwrap(), kind);
}

#[test]
#[ignore = "run as a process by another test"]
fn process_default_not_wanted() {
    restored(|_| {}, SignalKind::interrupt());
}

#[test]
#[ignore = "run as a process by another test"]
fn process_ignored_before() {
    let kind = SignalKind::hangup();
    // SAFETY: as `nohup` does.
    unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
    restored(|_| restore_default_when_unused(kind).unwrap(), kind);
}

#[test]
#[ignore = "run as a process by another test"]
fn process_ignored_by_default() {
    let kind = SignalKind::window_change();
    restored(|_| restore_default_when_unused(kind).unwrap(), kind);
    // The handler is still installed.
    restored(|_| {}, kind);
}

/// Many threads take the default action, which is to do nothing, at the same time.
#[test]
#[ignore = "run as a process by another test"]
fn process_default_on_many_threads() {
    let kind = SignalKind::window_change();
    let setup = |runtime: &Runtime| {
        restore_default_when_unused(kind).unwrap();
        drop(listen_in(runtime, kind));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..2000).for_each(|_| send(kind)));
            }
        });
    };
    restored(setup, kind);
}

#[test]
#[ignore = "run as a process by another test"]
fn process_stopped_by_default() {
    let kind = SignalKind::from_raw(libc::SIGTSTP);
    restored(|_| restore_default_when_unused(kind).unwrap(), kind);
}

/// A process that is forked without a listener.
#[test]
#[ignore = "run as a process by another test"]
fn process_default_in_a_forked_child() {
    let kind = SignalKind::interrupt();
    let runtime = current_thread().build().unwrap();
    restore_default_when_unused(kind).unwrap();
    let _listener = listen_in(&runtime, kind);
    let status = fork::in_forked_child(|| {
        // Its first use of signals.
        let runtime = current_thread().build().unwrap();
        let listener = listen_in(&runtime, SignalKind::hangup());
        drop(listener);
        send(kind);
        true
    });
    assert_eq!(status, libc::SIGINT);
}

#[test]
#[ignore = "run as a process by another test"]
fn process_with_listeners_of_parent_and_child() {
    let kind = SignalKind::user_defined1();
    let runtime = current_thread().build().unwrap();
    let mut of_parent = listen_in(&runtime, kind);
    let status = fork::in_forked_child(|| {
        let runtime = current_thread().build().unwrap();
        let mut own = listen_in(&runtime, kind);
        runtime.block_on(async {
            for _ in 0..2 {
                send(kind);
                sleep(Duration::from_millis(1)).await;
                assert_eq!(of_parent.recv().await, None);
                assert_received(&mut own).await;
            }
        });
        drop(of_parent);
        runtime.block_on(async {
            send(kind);
            assert_received(&mut own).await;
        });
        true
    });
    assert_eq!(status, 0);
}

/// Bug: own.
#[test]
fn a_listener_of_the_parent_does_not_take_signals_of_a_forked_child() {
    let output = as_process("process_with_listeners_of_parent_and_child")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// 7905.
#[test]
fn a_signal_without_a_listener_has_its_default_action_if_wanted() {
    // The signal that ends the process.
    let cases = [
        ("process_default_before_listeners", Some(libc::SIGINT)),
        ("process_default_after_ctrl_c", Some(libc::SIGINT)),
        ("process_default_of_a_real_time_signal", Some(40)),
        ("process_default_not_wanted", None),
        ("process_ignored_before", None),
        ("process_ignored_by_default", None),
        ("process_default_on_many_threads", None),
    ];
    for (name, signal) in cases {
        let output = as_process(name).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.signal(), signal, "{name}: {output:?}");
        assert!(text.contains(LAST), "{name}: {output:?}");
        assert_eq!(
            text.contains("alive"),
            signal.is_none(),
            "{name}: {output:?}"
        );
    }
}

fn as_process(name: &str) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture"]);
    command.arg(format!("signals_across_runtimes::{name}"));
    // The jobs that a shell runs in the background inherit that the signal is ignored.
    let set_default = || {
        // SAFETY: it may be called in a forked child.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        Ok(())
    };
    // SAFETY: the function calls nothing that is forbidden in a forked child.
    unsafe { command.pre_exec(set_default) };
    command
}

/// 7905.
#[test]
fn a_forked_child_without_a_listener_has_the_default_action() {
    let output = as_process("process_default_in_a_forked_child")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// 7905.
#[test]
fn a_signal_without_a_listener_stops_the_process_if_wanted_and_it_continues() {
    // In a group of its own: the system does not stop an orphaned group.
    let child = as_process("process_stopped_by_default")
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = Pid::from_raw(child.id() as i32).unwrap();
    let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
    assert!(status.stopped(), "{status:?}");
    kill_process(pid, rustix::process::Signal::CONT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("alive"));
}
