//! Restricted environments: each operation works, or its error names what is missing.

use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::own_process::{assert_passes, in_own_process, is_own_process};
use crate::common::{current_thread, eventually, multi_thread};
use crate::fork::in_forked_child;
use crate::refuse::{self, refuse};
use crate::spares::{block_workers, run};
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
fn a_runtime_with_precise_timers_names_the_missing_timer() {
    on_a_thread(|| {
        refuse(libc::SYS_timerfd_create, libc::ENOSYS);
        for mut builder in [multi_thread(), current_thread()] {
            builder.build().unwrap();
            builder.timer_resolution(Duration::from_micros(100));
            assert_names(&builder.build().unwrap_err(), "timerfd_create");
        }
    });
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

/// The time between two attempts of the monitor to start a spare worker, and of workers to start
/// the monitor.
const RETRY: Duration = Duration::from_millis(100);

/// Whether the monitor of this process has its thread.
fn has_monitor() -> bool {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    // A thread may have ended meanwhile.
    let names = threads.filter_map(|thread| fs::read(thread.unwrap().path().join("comm")).ok());
    names.into_iter().any(|name| name == b"raddle-monitor\n")
}

/// The monitor tries again, but not at each look.
#[test]
fn without_threads_for_spare_workers_tasks_wait_for_the_polls_before_them() {
    if !refuse::is_possible() {
        return;
    }
    in_own_process(
        "restricted::without_threads_for_spare_workers_tasks_wait_for_the_polls_before_them",
        || {
            let attempts = Arc::new(AtomicU32::new(0));
            let counted = Arc::clone(&attempts);
            // The monitor asks for the name just before it starts the thread of a spare worker.
            let name = move || {
                let is_monitor = thread::current().name() == Some("raddle-monitor");
                if is_monitor && counted.fetch_add(1, SeqCst) == 0 {
                    refuse_threads();
                }
                "web".to_owned()
            };
            let runtime = multi_thread().thread_name_fn(name).build().unwrap();
            for _ in 0..2 {
                let start = Instant::now();
                let before = attempts.load(SeqCst);
                let stuck = block_workers(&runtime);
                let waits =
                    runtime.spawn(async { timeout(LIMIT, use_everything()).await.unwrap() });
                eventually("the monitor tries again", || {
                    attempts.load(SeqCst) >= before + 3
                });
                let made = attempts.load(SeqCst) - before;
                assert!(start.elapsed() >= RETRY * (made - 1), "{made} attempts");
                eventually("the attempt ends", || {
                    runtime.metrics().num_spare_workers() == 0
                });
                assert!(!waits.is_finished());
                drop(stuck);
                runtime.block_on(waits).unwrap();
            }
        },
    );
}

/// The next pool starts it, for all pools.
#[test]
fn without_a_thread_for_the_monitor_a_runtime_works() {
    if !refuse::is_possible() {
        return;
    }
    in_own_process(
        "restricted::without_a_thread_for_the_monitor_a_runtime_works",
        || {
            // The workers start the monitor.
            let mut restricted = multi_thread();
            let restricted = restricted.on_thread_start(refuse_threads).build().unwrap();
            let stuck = block_workers(&restricted);
            let waits = restricted.spawn(async { sleep(Duration::from_millis(1)).await });
            thread::sleep(2 * RETRY);
            assert!(!waits.is_finished());
            assert!(!has_monitor());
            drop(stuck);
            restricted.block_on(async {
                waits.await.unwrap();
                timeout(LIMIT, use_everything()).await.unwrap();
            });
            assert!(!has_monitor());

            let second = multi_thread().build().unwrap();
            eventually("a worker starts the monitor", || {
                run(&second, async {});
                has_monitor()
            });
            for runtime in [&second, &restricted] {
                let _stuck = block_workers(runtime);
                run(runtime, async { sleep(Duration::from_millis(1)).await });
            }
        },
    );
}

/// Sets the highest number of threads and processes of the user.
fn limit_threads(current: Option<u64>) {
    let limit = Rlimit {
        current,
        ..getrlimit(Resource::Nproc)
    };
    setrlimit(Resource::Nproc, limit).unwrap();
}

#[test]
fn at_the_limit_of_threads_tasks_wait_until_polls_return_or_the_limit_is_raised() {
    if refuse::is_emulated() {
        return;
    }
    in_own_process(
        "restricted::at_the_limit_of_threads_tasks_wait_until_polls_return_or_the_limit_is_raised",
        || {
            // The limit does not apply to root.
            // SAFETY: the calls take no pointers.
            let is_root = unsafe { libc::geteuid() == 0 };
            // SAFETY: as above.
            if is_root && unsafe { libc::setgid(65534) | libc::setuid(65534) } != 0 {
                println!("skipped: root without the right to become another user");
                return;
            }
            let most = getrlimit(Resource::Nproc).current;
            let runtime = multi_thread().build().unwrap();
            eventually("the monitor has started", has_monitor);

            limit_threads(Some(1));
            let started = thread::Builder::new().spawn(|| ());
            assert!(started.is_err(), "the limit does not apply");
            let stuck = block_workers(&runtime);
            let waits = runtime.spawn(async { sleep(Duration::from_millis(1)).await });
            thread::sleep(2 * RETRY);
            assert!(!waits.is_finished());
            drop(stuck);
            runtime.block_on(waits).unwrap();
            limit_threads(most);
            runtime.block_on(async { timeout(LIMIT, use_everything()).await.unwrap() });

            // The spare workers that have a thread are in polls that do not return, too.
            let runtime = multi_thread().worker_threads(1).build().unwrap();
            let mut stuck = block_workers(&runtime);
            run(&runtime, async {});
            limit_threads(Some(1));
            let more: Vec<_> = (0..6).map(|_| stuck.spawn(runtime.handle())).collect();
            thread::sleep(2 * RETRY);
            let begun = more.iter().filter(|begun| begun.try_recv().is_ok());
            let begun = begun.count();
            assert!((1..6).contains(&begun), "{begun} have begun");
            limit_threads(most);
            for _ in begun..6 {
                eventually("each poll gets a spare worker", || {
                    more.iter().any(|begun| begun.try_recv().is_ok())
                });
            }
            drop(stuck);
        },
    );
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
            // A spare worker waits for events.
            let stuck = block_workers(&runtime);
            run(&runtime, async { sleep(Duration::from_millis(1)).await });
            assert!(runtime.metrics().num_spare_workers() > 0);
            let status = in_forked_child(|| {
                use_on_each_flavor();
                let of_the_child = multi_thread().build().unwrap();
                let stuck = block_workers(&of_the_child);
                run(&of_the_child, async {
                    sleep(Duration::from_millis(1)).await;
                });
                drop(stuck);
                signals_of_its_own();
                refuses_sockets(&runtime);
                true
            });
            assert_eq!(status, 0, "the child failed");
            drop(stuck);
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
