//! Numbers of descriptors in use. The test counts all descriptors of a process of its own.

use std::process::Stdio;

use crate::common::own_process::in_own_process;
use crate::common::{current_thread, multi_thread};
use raddle::process::Command;
use raddle::signal::unix::{SignalKind, signal};

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Runs `body`, and returns how many descriptors it has opened and not closed.
fn taken<R>(body: impl FnOnce() -> R) -> (usize, R) {
    let before = descriptors();
    let result = body();
    (descriptors() - before, result)
}

#[test]
fn listeners_and_children_leak_no_descriptors() {
    in_own_process(
        "descriptors_counted::listeners_and_children_leak_no_descriptors",
        || {
            let kinds = [
                SignalKind::hangup(),
                SignalKind::user_defined1(),
                SignalKind::window_change(),
                SignalKind::io(),
                SignalKind::child(),
            ];
            let listen = || kinds.map(|kind| [(); 10].map(|()| signal(kind).unwrap()));
            let runtimes = [
                current_thread().build().unwrap(),
                multi_thread().build().unwrap(),
            ];
            for runtime in &runtimes {
                let _guard = runtime.enter();
                // The runtimes share the signal pipe, which the first of them has opened.
                let (first, listeners) = taken(listen);
                assert_eq!(first, 0);
                drop(listeners);
                let (again, _) = taken(listen);
                assert_eq!(again, 0);
            }

            for runtime in &runtimes {
                runtime.block_on(async {
                    let spawn = || {
                        [(); 10].map(|()| {
                            let mut command = Command::new("cat");
                            command.stdin(Stdio::piped()).spawn().unwrap()
                        })
                    };
                    // For each child the pipe to its input, and the descriptor that reports its
                    // exit.
                    let (of_children, mut children) = taken(spawn);
                    assert_eq!(of_children, 20);
                    for child in &mut children {
                        child.stdin = None;
                    }
                    let before = descriptors();
                    for child in &mut children {
                        assert!(child.wait().await.unwrap().success());
                    }
                    assert_eq!(
                        before - descriptors(),
                        10,
                        "each exit closes one descriptor"
                    );
                });
            }
        },
    );
}
