//! Restricted environments: each operation works, or its error names what is missing.

use std::io;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::own_process::{assert_passes, in_own_process, is_own_process};
use crate::common::{current_thread, multi_thread};
use crate::fork::in_forked_child;
use crate::refuse::{self, refuse};
use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use raddle::runtime::{Builder, Runtime};
use raddle::time::{sleep, timeout};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A test that takes longer has hung.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs `f` on a thread of its own, so that its restrictions end with the thread. Does nothing
/// where restrictions are impossible.
fn on_a_thread(f: impl FnOnce() + Send + 'static) {
    if !refuse::is_possible() {
        return;
    }
    thread::spawn(f).join().unwrap();
}

/// Tasks, timers, sockets and blocking work.
async fn use_everything() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let connect = TcpStream::connect(listener.local_addr().unwrap());
    let (near, far) = raddle::join!(connect, listener.accept());
    let (mut near, mut far) = (near.unwrap(), far.unwrap().0);
    let echo = raddle::spawn(async move {
        let number = far.read_u32().await.unwrap();
        far.write_u32(number + 1).await.unwrap();
    });
    sleep(Duration::from_millis(1)).await;
    near.write_u32(41).await.unwrap();
    assert_eq!(near.read_u32().await.unwrap(), 42);
    echo.await.unwrap();
    assert_eq!(raddle::task::spawn_blocking(|| 7).await.unwrap(), 7);
}

fn use_on_each_flavor() {
    for mut builder in [multi_thread(), current_thread()] {
        let runtime = builder.build().unwrap();
        runtime.block_on(async { timeout(LIMIT, use_everything()).await.unwrap() });
    }
}

fn assert_names(error: &io::Error, what: &str) {
    assert!(error.to_string().contains(what), "{error}");
}

/// System call filters return either of these errors.
#[test]
fn a_runtime_without_a_selector_names_the_system_call() {
    for (call, name) in [
        (libc::SYS_epoll_create1, "epoll_create1"),
        (libc::SYS_eventfd2, "eventfd2"),
    ] {
        for code in [libc::ENOSYS, libc::EPERM] {
            on_a_thread(move || {
                refuse(call, code);
                for mut builder in [multi_thread(), current_thread()] {
                    assert_names(&builder.build().unwrap_err(), name);
                }
                // A runtime without sockets makes neither call.
                let runtime = Builder::new_current_thread().build().unwrap();
                runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
            });
        }
    }
}

#[test]
fn an_accept_without_accept4_names_it() {
    on_a_thread(|| {
        refuse(libc::SYS_accept4, libc::ENOSYS);
        let runtime = current_thread().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let connect = TcpStream::connect(listener.local_addr().unwrap());
            let (near, accepted) = raddle::join!(connect, listener.accept());
            assert_names(&accepted.unwrap_err(), "accept4");
            drop(near);
            // `accept_retrying` returns the error, too.
            let connect = TcpStream::connect(listener.local_addr().unwrap());
            let (_near, accepted) = raddle::join!(connect, listener.accept_retrying(sleep));
            assert_names(&accepted.unwrap_err(), "accept4");

            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("socket");
            let listener = UnixListener::bind(&path).unwrap();
            let (_near, accepted) = raddle::join!(UnixStream::connect(&path), listener.accept());
            assert_names(&accepted.unwrap_err(), "accept4");
        });
    });
}

/// Without a pidfd, `SIGCHLD` reports the exit.
#[test]
fn a_child_is_waited_for_without_pidfd_open() {
    for code in [libc::ENOSYS, libc::EPERM] {
        on_a_thread(move || {
            refuse(libc::SYS_pidfd_open, code);
            let runtime = current_thread().build().unwrap();
            runtime.block_on(async {
                let mut child = raddle::process::Command::new("true").spawn().unwrap();
                let status = timeout(LIMIT, child.wait()).await.unwrap().unwrap();
                assert!(status.success());
            });
        });
    }
}

/// No file can be opened, so there is no `/proc` and no `/sys`.
#[test]
fn without_proc_everything_but_files_works() {
    on_a_thread(|| {
        refuse(libc::SYS_openat, libc::ENOENT);
        assert!(std::fs::File::open("/proc/self/status").is_err());
        let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
        assert!(runtime.metrics().num_workers() >= 1);
        drop(runtime);
        use_on_each_flavor();
    });
}

/// Fails with the error of the limit `RLIMIT_NPROC`, which does not apply to root.
fn refuse_threads() {
    refuse(libc::SYS_clone3, libc::EAGAIN);
    refuse(libc::SYS_clone, libc::EAGAIN);
}

#[test]
fn without_threads_building_a_multi_thread_runtime_returns_an_error() {
    on_a_thread(|| {
        refuse_threads();
        let error = multi_thread().build().unwrap_err();
        assert_names(&error, "the system refused a worker thread");
    });
}

#[test]
fn without_threads_a_current_thread_runtime_refuses_only_blocking_work() {
    on_a_thread(|| {
        let runtime = current_thread().build().unwrap();
        refuse_threads();
        runtime.block_on(async {
            let (mut near, mut far) = UnixStream::pair().unwrap();
            near.write_u8(1).await.unwrap();
            sleep(Duration::from_millis(1)).await;
            assert_eq!(far.read_u8().await.unwrap(), 1);
            let error = raddle::fs::read("/dev/null").await.unwrap_err();
            assert_names(&error, "thread");
        });
    });
}

/// Blocking work without a free thread waits for one (see `raddle-blocking`). A runtime that has
/// its threads already keeps working.
#[test]
fn a_runtime_with_its_threads_works_without_further_threads() {
    on_a_thread(|| {
        let runtime = multi_thread().build().unwrap();
        let blocking = async { raddle::task::spawn_blocking(|| ()).await };
        runtime.block_on(blocking).unwrap();
        refuse_threads();
        runtime.block_on(async { timeout(LIMIT, use_everything()).await.unwrap() });
    });
}

/// The limit applies to the whole process.
#[test]
fn with_32_descriptors_two_runtimes_serve_and_a_socket_too_many_is_an_error() {
    in_own_process(
        "restricted::with_32_descriptors_two_runtimes_serve_and_a_socket_too_many_is_an_error",
        || {
            let limit = Rlimit {
                current: Some(32),
                ..getrlimit(Resource::Nofile)
            };
            setrlimit(Resource::Nofile, limit).unwrap();
            let first = multi_thread().build().unwrap();
            use_on_each_flavor();
            // The first connection without a free descriptor is an error; afterwards everything
            // works.
            first.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let mut streams = Vec::new();
                let error = loop {
                    match TcpStream::connect(address).await {
                        Ok(stream) => streams.push(stream),
                        Err(error) => break error,
                    }
                    assert!(streams.len() < 32);
                };
                assert_eq!(error.raw_os_error(), Some(libc::EMFILE), "{error}");
                drop(streams);
                drop(listener);
                timeout(LIMIT, use_everything()).await.unwrap();
            });
        },
    );
}

/// std opens `/dev/null` in their place before `main`.
#[test]
fn a_runtime_works_without_standard_streams() {
    let test = "restricted::a_runtime_works_without_standard_streams";
    if is_own_process() {
        use_on_each_flavor();
        let runtime = current_thread().build().unwrap();
        return runtime.block_on(async {
            let mut read = Vec::new();
            raddle::io::stdin().read_to_end(&mut read).await.unwrap();
            assert!(read.is_empty());
            raddle::io::stdout().write_all(b"lost").await.unwrap();
            raddle::io::stdout().flush().await.unwrap();
            let mut child = raddle::process::Command::new("true").spawn().unwrap();
            assert!(child.wait().await.unwrap().success());
        });
    }
    if refuse::is_emulated() {
        // The emulator opens files of its own in their place, before std checks.
        return;
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$0\" \"$@\" <&- >&- 2>&-"]);
    shell.arg(std::env::current_exe().unwrap());
    shell.args(["--exact", test, "--nocapture"]);
    assert_passes(shell.stdin(Stdio::null()));
}

/// A forked child can build runtimes of its own. Its use of the parent's runtime is refused, and
/// the parent's runtime keeps working.
#[test]
fn a_forked_child_may_create_its_own_runtimes() {
    // A child of several threads ends in an assertion of qemu-user when it starts a thread
    // (`qemu_plugin_vcpu_init_hook`, qemu 7.2).
    if refuse::is_emulated() {
        return;
    }
    in_own_process(
        "restricted::a_forked_child_may_create_its_own_runtimes",
        || {
            let runtime = multi_thread().build().unwrap();
            let mut interrupts = runtime.block_on(async {
                use raddle::signal::unix::{SignalKind, signal};
                signal(SignalKind::user_defined1()).unwrap()
            });
            runtime.block_on(use_everything());
            let status = in_forked_child(|| {
                use_on_each_flavor();
                signals_of_its_own();
                refuses_sockets(&runtime);
                true
            });
            assert_eq!(status, 0, "the child failed");
            runtime.block_on(async {
                timeout(LIMIT, use_everything()).await.unwrap();
                // The child's signal does not arrive in the parent; the parent's own signal does.
                let received = timeout(Duration::from_millis(20), interrupts.recv()).await;
                assert!(received.is_err(), "received the signal of the child");
                rustix::process::kill_process(
                    rustix::process::getpid(),
                    rustix::process::Signal::USR1,
                )
                .unwrap();
                timeout(LIMIT, interrupts.recv()).await.unwrap().unwrap();
            });
        },
    );
}

fn signals_of_its_own() {
    use raddle::signal::unix::{SignalKind, signal};
    let runtime = current_thread().build().unwrap();
    runtime.block_on(async {
        let mut signals = signal(SignalKind::user_defined1()).unwrap();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::USR1)
            .unwrap();
        timeout(LIMIT, signals.recv()).await.unwrap().unwrap();
    });
}

fn refuses_sockets(of_the_parent: &Runtime) {
    let _entered = of_the_parent.enter();
    let error = UnixStream::pair().unwrap_err();
    assert_names(&error, "belongs to the parent process");
}
