//! `Policy::Sharded`: each worker has its own tasks, sockets and timers.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::common::{Live, eventually, panic_message, with_policy};
use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream};
use raddle::runtime::{Handle, Policy, Runtime};
use raddle::task::{JoinSet, LocalSet, spawn_local, yield_now};
use raddle::time::{sleep, timeout};

const WORKERS: usize = 3;

fn sharded() -> Runtime {
    with_policy(Policy::Sharded)
        .worker_threads(WORKERS)
        .build()
        .unwrap()
}

/// The thread of each worker.
fn threads(runtime: &Runtime) -> [ThreadId; WORKERS] {
    [0, 1, 2].map(|worker| {
        let task = runtime
            .handle()
            .spawn_on(worker, || async { thread::current().id() });
        runtime.block_on(task).unwrap()
    })
}

#[test]
fn each_worker_is_a_thread_of_its_own_and_keeps_what_it_spawns() {
    let runtime = sharded();
    let threads = threads(&runtime);
    assert!(threads[0] != threads[1] && threads[1] != threads[2] && threads[0] != threads[2]);
    for (worker, thread) in threads.into_iter().enumerate() {
        let task = runtime.handle().spawn_on(worker, || async {
            let seen = Rc::new(RefCell::new(Vec::new()));
            let mut set = JoinSet::new();
            for _ in 0..10 {
                let note = Rc::clone(&seen);
                set.spawn(async { thread::current().id() });
                spawn_local(async move {
                    yield_now().await;
                    note.borrow_mut().push(thread::current().id());
                })
                .await
                .unwrap();
            }
            let mut seen = seen.take();
            seen.extend(set.join_all().await);
            seen
        });
        let seen = runtime.block_on(task).unwrap();
        assert_eq!(seen.len(), 20);
        assert!(seen.iter().all(|id| *id == thread));
    }
}

/// Events of sockets and timers wake a task on its own worker: no other thread queues it.
#[test]
fn sockets_and_timers_belong_to_the_worker() {
    let runtime = sharded();
    for worker in 0..WORKERS {
        let task = runtime.handle().spawn_on(worker, || async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let client = thread::spawn(move || {
                use std::io::{Read, Write};
                let mut stream = std::net::TcpStream::connect(address).unwrap();
                for _ in 0..20 {
                    stream.write_all(b"ping").unwrap();
                    stream.read_exact(&mut [0; 4]).unwrap();
                }
            });
            let (mut stream, _) = listener.accept().await.unwrap();
            for _ in 0..20 {
                stream.read_exact(&mut [0; 4]).await.unwrap();
                sleep(Duration::from_millis(1)).await;
                stream.write_all(b"pong").await.unwrap();
            }
            client.join().unwrap();
            Handle::current().metrics().remote_schedule_count()
        });
        let scheduled = runtime.block_on(task).unwrap();
        assert_eq!(
            scheduled,
            worker as u64 + 1,
            "only the spawns of the test are remote"
        );
    }
}

/// A task that enters its runtime again still uses its worker's driver.
#[test]
fn entering_the_runtime_on_a_worker_keeps_its_driver() {
    let runtime = sharded();
    let task = runtime.handle().spawn_on(2, || async {
        let handle = Handle::current();
        let timer = {
            let _guard = handle.enter();
            Box::pin(sleep(Duration::from_millis(5)))
        };
        timer.await;
        handle.metrics().remote_schedule_count()
    });
    assert_eq!(runtime.block_on(task).unwrap(), 1);
}

/// A connection that is accepted on one worker is served on another.
#[test]
fn connections_may_be_passed_to_workers() {
    let runtime = sharded();
    let served: Arc<[AtomicUsize; WORKERS]> = Arc::default();
    let counts = Arc::clone(&served);
    runtime.block_on(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepting = raddle::spawn(async move {
            for turn in 0.. {
                let (mut stream, _) = listener.accept().await.unwrap();
                let counts = Arc::clone(&counts);
                Handle::current().spawn_on(turn % WORKERS, move || async move {
                    let lines = Rc::new(Cell::new(0));
                    let mut buffer = [0; 16];
                    while let Ok(1..) = stream.read(&mut buffer).await {
                        lines.set(lines.get() + 1);
                        stream.write_all(&buffer[..1]).await.unwrap();
                    }
                    counts[turn % WORKERS].fetch_add(lines.get(), SeqCst);
                });
            }
        });
        let mut clients = JoinSet::new();
        for _ in 0..30 {
            clients.spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                for _ in 0..10 {
                    stream.write_all(b"x").await.unwrap();
                    stream.read_exact(&mut [0; 1]).await.unwrap();
                }
            });
        }
        clients.join_all().await;
        accepting.abort();
    });
    eventually("every line is counted", || {
        served.iter().all(|count| count.load(SeqCst) == 100)
    });
}

/// `block_on` outside the workers uses the sockets and timers of worker 0.
#[test]
fn block_on_waits_for_timers_and_sockets() {
    let runtime = sharded();
    runtime.block_on(async {
        sleep(Duration::from_millis(2)).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        assert!(
            timeout(Duration::from_millis(2), listener.accept())
                .await
                .is_err()
        );
    });
    let slept = runtime
        .handle()
        .spawn_blocking(|| Handle::current().block_on(sleep(Duration::from_millis(2))));
    runtime.block_on(slept).unwrap();
}

#[test]
fn spawn_local_inside_a_local_set_spawns_into_the_set() {
    let runtime = sharded();
    let task = runtime.handle().spawn_on(1, || async {
        let set = LocalSet::new();
        let ran = Rc::new(Cell::new(false));
        let theirs = Rc::clone(&ran);
        {
            let _guard = set.enter();
            spawn_local(async move { theirs.set(true) });
        }
        for _ in 0..10 {
            yield_now().await;
        }
        // The task belongs to the set, which has not been polled.
        let before = ran.get();
        set.await;
        (before, ran.get())
    });
    assert_eq!(runtime.block_on(task).unwrap(), (false, true));
}

#[test]
fn spawn_local_without_a_local_context_panics_and_names_the_remedy() {
    let message = "spawn_local was called outside a LocalSet; call it in LocalSet::run_until, in a \
                   task of a set, while LocalSet::enter's guard lives, in a LocalRuntime, or in a \
                   task of a sharded runtime";
    let runtime = sharded();
    let outside = || panic_message(|| drop(spawn_local(async {})));
    assert_eq!(outside(), message);
    assert_eq!(runtime.block_on(async { outside() }), message);
    let blocking = runtime.spawn_blocking(outside);
    assert_eq!(runtime.block_on(blocking).unwrap(), message);
    for policy in [Policy::WorkStealing, Policy::Shared] {
        let runtime = with_policy(policy).build().unwrap();
        let task = runtime.spawn(async move { outside() });
        assert_eq!(runtime.block_on(task).unwrap(), message);
    }
}

#[test]
fn spawn_on_refuses_other_policies_and_unknown_workers() {
    let runtime = sharded();
    let refused = panic_message(|| drop(runtime.handle().spawn_on(3, || async {})));
    assert_eq!(
        refused,
        "there is no worker 3; pass a number below 3, the number of workers"
    );
    for mut builder in [
        with_policy(Policy::WorkStealing),
        with_policy(Policy::Shared),
        crate::common::current_thread(),
    ] {
        let runtime = builder.build().unwrap();
        let refused = panic_message(|| drop(runtime.handle().spawn_on(0, || async {})));
        assert_eq!(
            refused,
            "spawn_on needs workers that keep their tasks; use Policy::Sharded"
        );
    }
}

#[test]
fn block_in_place_is_refused_where_tasks_cannot_leave() {
    let runtime = sharded();
    let task = runtime.handle().spawn_on(1, || async {
        panic_message(|| raddle::task::block_in_place(|| ()))
    });
    let message = runtime.block_on(task).unwrap();
    assert!(
        message.starts_with("block_in_place needs workers"),
        "{message}"
    );
    // Outside the workers it only calls the closure.
    assert_eq!(
        runtime.block_on(async { raddle::task::block_in_place(|| 7) }),
        7
    );
    let runtime = with_policy(Policy::Shared).build().unwrap();
    let task = runtime.spawn(async { raddle::task::block_in_place(|| 7) });
    assert_eq!(runtime.block_on(task).unwrap(), 7);
}

/// A current-thread runtime has one worker, with any policy.
#[test]
fn a_current_thread_runtime_ignores_the_policy() {
    let mut builder = crate::common::current_thread();
    let runtime = builder.scheduler(Policy::Sharded).build().unwrap();
    runtime.block_on(async {
        raddle::spawn(sleep(Duration::from_millis(1)))
            .await
            .unwrap();
        let message = panic_message(|| drop(spawn_local(async {})));
        assert!(message.starts_with("spawn_local was called outside a LocalSet"));
    });
}

/// A value that is not `Send` is dropped on its worker's thread.
#[test]
fn shutdown_drops_tasks_on_their_threads() {
    struct OnThread(ThreadId, Rc<()>, Live);
    impl Drop for OnThread {
        fn drop(&mut self) {
            let _ = (&self.1, &self.2);
            if thread::current().id() != self.0 {
                eprintln!("dropped on another thread");
                std::process::abort();
            }
            // During the drop the runtime is still current, with the worker's driver.
            let _ = Handle::current().metrics().num_workers();
            drop(sleep(Duration::from_millis(1)));
        }
    }
    for round in 0..20 {
        let runtime = sharded();
        let alive = Arc::new(AtomicUsize::new(0));
        for place in 0..30 {
            let live = Live::new(&alive);
            runtime.handle().spawn_on(place % WORKERS, move || {
                let bound = OnThread(thread::current().id(), Rc::new(()), live);
                async move {
                    let _bound = bound;
                    loop {
                        sleep(Duration::from_millis(1)).await;
                        yield_now().await;
                    }
                }
            });
        }
        match round % 3 {
            0 => drop(runtime),
            1 => runtime.shutdown_timeout(Duration::from_secs(30)),
            _ => {
                // Waits until all workers run, so that each drops its tasks on its own thread.
                threads(&runtime);
                runtime.shutdown_background();
                eventually("the tasks are dropped", || alive.load(SeqCst) == 0);
            }
        }
        assert_eq!(alive.load(SeqCst), 0);
    }
}

#[test]
fn metrics_are_for_each_worker_and_in_total() {
    let runtime = sharded();
    let metrics = runtime.metrics();
    assert_eq!(metrics.num_workers(), WORKERS);
    let tasks: Vec<_> = (0..WORKERS)
        .map(|worker| {
            runtime.handle().spawn_on(worker, move || async move {
                for _ in 0..worker {
                    yield_now().await;
                }
                std::future::pending::<()>().await;
            })
        })
        .collect();
    eventually("they have been polled", || {
        (0..WORKERS).all(|worker| metrics.worker_poll_count(worker) == worker as u64 + 1)
    });
    assert_eq!(metrics.num_alive_tasks(), WORKERS);
    tasks.iter().for_each(|task| task.abort());
    eventually("they have ended", || metrics.num_alive_tasks() == 0);
    assert_eq!(metrics.remote_schedule_count(), 2 * WORKERS as u64);
    assert_eq!(metrics.global_queue_depth(), 0);
}

/// Thread names and hooks apply as with other policies.
#[test]
fn threads_are_named_and_hooks_run_on_them() {
    let started: Arc<std::sync::Mutex<HashMap<ThreadId, String>>> = Arc::default();
    let (noted, stopped) = (Arc::clone(&started), Arc::new(AtomicUsize::new(0)));
    let stops = Arc::clone(&stopped);
    let runtime = with_policy(Policy::Sharded)
        .worker_threads(WORKERS)
        .thread_name("shard")
        .on_thread_start(move || {
            let thread = thread::current();
            let name = thread.name().unwrap().to_owned();
            noted.lock().unwrap().insert(thread.id(), name);
        })
        .on_thread_stop(move || _ = stops.fetch_add(1, SeqCst))
        .build()
        .unwrap();
    for thread in threads(&runtime) {
        assert_eq!(started.lock().unwrap()[&thread], "shard");
    }
    drop(runtime);
    assert_eq!(stopped.load(SeqCst), WORKERS);
}

/// Each worker accepts from its own socket at a shared address. The worker that accepts a
/// connection serves it, and no task changes threads.
#[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))]
#[test]
fn each_worker_accepts_for_itself() {
    use socket2::{Domain, Socket, Type};

    /// A listener at an address that it shares with other sockets.
    fn listen(address: std::net::SocketAddr) -> std::net::TcpListener {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_reuse_port(true).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket.bind(&address.into()).unwrap();
        socket.listen(128).unwrap();
        socket.into()
    }

    let first = listen(([127, 0, 0, 1], 0).into());
    let address = first.local_addr().unwrap();
    let mut sockets = vec![first];
    sockets.extend((1..WORKERS).map(|_| listen(address)));
    let runtime = sharded();
    let served: Arc<[AtomicUsize; WORKERS]> = Arc::default();
    for (worker, socket) in sockets.into_iter().enumerate() {
        let served = Arc::clone(&served);
        runtime.handle().spawn_on(worker, move || async move {
            let listener = TcpListener::from_std(socket).unwrap();
            let mine = Rc::new(Cell::new(0));
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (mine, served) = (Rc::clone(&mine), Arc::clone(&served));
                spawn_local(async move {
                    let mut byte = [0];
                    while stream.read_exact(&mut byte).await.is_ok() {
                        mine.set(mine.get() + 1);
                        served[worker].store(mine.get(), SeqCst);
                        stream.write_all(&byte).await.unwrap();
                    }
                });
            }
        });
    }
    let clients: Vec<_> = (0..30)
        .map(|_| {
            thread::spawn(move || {
                use std::io::{Read, Write};
                let mut stream = std::net::TcpStream::connect(address).unwrap();
                for _ in 0..10 {
                    stream.write_all(b"x").unwrap();
                    stream.read_exact(&mut [0]).unwrap();
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    let served: usize = served.iter().map(|count| count.load(SeqCst)).sum();
    assert_eq!(served, 300);
    assert_eq!(
        runtime.metrics().remote_schedule_count(),
        WORKERS as u64,
        "only the spawns of the test are remote"
    );
}
