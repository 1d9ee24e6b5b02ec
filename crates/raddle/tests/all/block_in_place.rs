//! `block_in_place`: the worker's other tasks, timers and sockets keep running.

use std::future::pending;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Live, current_thread, each_flavor, eventually, multi_thread, panic_message};
use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::TcpListener;
use raddle::runtime::{Builder, Handle, LocalRuntime, RngSeed, Runtime};
use raddle::task::{
    JoinSet, LocalSet, block_in_place, spawn, spawn_blocking, spawn_local, yield_now,
};
use raddle::time::sleep;

const SOON: Duration = Duration::from_millis(1);

/// With one worker, only a thread that takes it over can run anything while the task blocks.
fn one_worker() -> Runtime {
    multi_thread().worker_threads(1).build().unwrap()
}

/// Blocks until another thread has taken the worker over.
fn force_handoff() {
    block_in_place(|| Handle::current().block_on(spawn(async {})).unwrap());
}

#[test]
fn tasks_run_while_a_thread_blocks() {
    let runtime = one_worker();
    let task = runtime.spawn(async {
        let (sender, receiver) = channel();
        let before = sender.clone();
        spawn(async move { before.send(1).unwrap() });
        block_in_place(move || {
            spawn(async move { sender.send(2).unwrap() });
            receiver.iter().sum::<usize>()
        })
    });
    assert_eq!(runtime.block_on(task).unwrap(), 3);
}

/// Issue 31: each worker that another thread had taken over used the timers of worker 0.
#[test]
fn a_worker_keeps_its_timers_when_another_thread_takes_it_over() {
    const WORKERS: usize = 3;
    type Here = (usize, raddle_timer::Handle);
    /// Waits until it runs on all workers at once, and returns the worker with its timers.
    fn here(gate: &Barrier) -> Here {
        gate.wait();
        let worker = raddle::runtime::worker_index().expect("a worker runs the task");
        (worker, raddle_timer::Handle::current())
    }
    let runtime = multi_thread().worker_threads(WORKERS).build().unwrap();
    let gates = Arc::new([Barrier::new(WORKERS), Barrier::new(WORKERS)]);
    let tasks: Vec<_> = (0..WORKERS)
        .map(|_| {
            let gates = gates.clone();
            runtime.spawn(async move {
                let before = here(&gates[0]);
                let after = block_in_place(|| {
                    let outer = Handle::current();
                    let other = current_thread().build().unwrap();
                    let nested = {
                        let _other = other.enter();
                        let _outer = outer.enter();
                        raddle_timer::Handle::current()
                    };
                    assert!(nested.is_same_shard(&before.1), "inside another runtime");
                    let after = spawn(async move { here(&gates[1]) });
                    let inside = async {
                        let timers = raddle_timer::Handle::current();
                        assert!(timers.is_same_shard(&before.1), "inside block_in_place");
                        after.await.unwrap()
                    };
                    Handle::current().block_on(inside)
                });
                [before, after]
            })
        })
        .collect();
    let uses: Vec<Here> = tasks
        .into_iter()
        .flat_map(|task| runtime.block_on(task).unwrap())
        .collect();
    for (worker, timers) in &uses {
        for (other, theirs) in &uses {
            let is_same = timers.is_same_shard(theirs);
            assert_eq!(is_same, worker == other, "workers {worker} and {other}");
        }
    }
}

/// Issue 31.
#[test]
fn a_worker_keeps_seeded_random_numbers_when_another_thread_takes_it_over() {
    async fn draw() -> u32 {
        let mut drawn = 0;
        for _ in 0..32 {
            drawn = drawn << 1 | raddle::select! { _ = async {} => 0, _ = async {} => 1 };
        }
        drawn
    }
    let draw_after_handoffs = || {
        let mut builder = multi_thread();
        let runtime = builder
            .worker_threads(1)
            .rng_seed(RngSeed::from_bytes(b"a seed"))
            .build()
            .unwrap();
        let mut drawn = Vec::new();
        for _ in 0..3 {
            runtime
                .block_on(runtime.spawn(async { force_handoff() }))
                .unwrap();
            drawn.push(runtime.block_on(runtime.spawn(draw())).unwrap());
        }
        drawn
    };
    let drawn = draw_after_handoffs();
    assert_eq!(drawn, draw_after_handoffs());
    // The numbers do not begin again.
    assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2], "{drawn:?}");
}

#[test]
fn timers_fire_while_a_thread_blocks() {
    let runtime = one_worker();
    let task = runtime.spawn(async {
        let (sender, receiver) = channel();
        for _ in 0..10 {
            let sender = sender.clone();
            spawn(async move {
                sleep(SOON).await;
                sender.send(()).unwrap();
            });
        }
        drop(sender);
        let fired = block_in_place(|| {
            Handle::current().block_on(sleep(SOON));
            receiver.iter().count()
        });
        sleep(SOON).await;
        fired
    });
    assert_eq!(runtime.block_on(task).unwrap(), 10);
}

#[test]
fn sockets_are_served_while_a_thread_blocks() {
    let runtime = one_worker();
    let task = runtime.spawn(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                spawn(async move {
                    let mut byte = [0];
                    while stream.read_exact(&mut byte).await.is_ok() {
                        stream.write_all(&byte).await.unwrap();
                    }
                });
            }
        });
        block_in_place(|| {
            for number in 0..10 {
                let mut stream = std::net::TcpStream::connect(address).unwrap();
                let mut byte = [number];
                stream.write_all(&byte).unwrap();
                stream.read_exact(&mut byte).unwrap();
                assert_eq!(byte, [number]);
            }
        });
    });
    runtime.block_on(task).unwrap();
}

#[test]
fn the_runtime_is_current_inside_and_afterwards() {
    let runtime = one_worker();
    let task = runtime.spawn(async {
        for _ in 0..3 {
            force_handoff();
            block_in_place(|| {
                let handle = Handle::current();
                assert_eq!(handle.block_on(spawn_blocking(|| 7)).unwrap(), 7);
                assert_eq!(handle.block_on(async { block_in_place(|| 7) }), 7);
                handle.block_on(sleep(SOON));
            });
            let message = panic_message(|| Handle::current().block_on(async {}));
            assert!(message.contains("block_on was called inside a runtime"));
            sleep(SOON).await;
            yield_now().await;
        }
    });
    runtime.block_on(task).unwrap();
}

/// The functions of all tasks wait for each other.
#[test]
fn a_hundred_tasks_block_at_the_same_time() {
    let runtime = multi_thread().build().unwrap();
    runtime.block_on(async {
        let barrier = Arc::new(Barrier::new(100));
        let mut tasks = JoinSet::new();
        for _ in 0..100 {
            let barrier = Arc::clone(&barrier);
            tasks.spawn(async move {
                for _ in 0..3 {
                    block_in_place(|| barrier.wait());
                    sleep(SOON).await;
                }
            });
        }
        while let Some(result) = tasks.join_next().await {
            result.unwrap();
        }
    });
}

#[test]
fn panics_and_aborts_end_only_the_task() {
    let runtime = one_worker();
    let task = runtime.spawn(async {
        block_in_place(|| {
            force_handoff();
            panic!("planted");
        })
    });
    assert!(runtime.block_on(task).unwrap_err().is_panic());
    let (begun, has_begun) = channel();
    let (open, gate) = channel::<()>();
    let task = runtime.spawn(async move {
        block_in_place(|| {
            begun.send(()).unwrap();
            let _ = gate.recv();
        });
        pending::<()>().await;
    });
    has_begun.recv().unwrap();
    task.abort();
    assert_eq!(runtime.block_on(runtime.spawn(async { 7 })).unwrap(), 7);
    assert!(!task.is_finished());
    drop(open);
    assert!(runtime.block_on(task).unwrap_err().is_cancelled());
}

#[test]
fn outside_a_worker_the_function_is_called_directly() {
    assert_eq!(block_in_place(|| 7), 7);
    each_flavor(|runtime| {
        let work = || block_in_place(|| Handle::current().block_on(async { 7 }));
        let task = runtime.spawn_blocking(work);
        assert_eq!(runtime.block_on(task).unwrap(), 7);
        let _guard = runtime.enter();
        assert_eq!(block_in_place(|| 7), 7);
    });
    let runtime = one_worker();
    let waits = || Handle::current().block_on(sleep(SOON));
    runtime.block_on(async { block_in_place(waits) });
}

#[test]
fn a_current_thread_runtime_refuses_block_in_place() {
    let runtime = current_thread().build().unwrap();
    let blocks = || panic_message(|| block_in_place(|| ()));
    const MESSAGE: &str = "block_in_place needs the multi-thread runtime";
    runtime.block_on(async move {
        assert!(blocks().starts_with(MESSAGE));
        let message = spawn(async move { blocks() }).await.unwrap();
        assert!(message.starts_with(MESSAGE));
    });
}

#[test]
fn a_local_set_refuses_block_in_place() {
    const MESSAGE: &str = "block_in_place would block every task of the LocalSet";
    let runtime = one_worker();
    let local = LocalSet::new();
    let blocks = || panic_message(|| block_in_place(|| ()));
    local.block_on(&runtime, async move {
        assert!(blocks().starts_with(MESSAGE));
        let message = spawn_local(async move { blocks() }).await.unwrap();
        assert!(message.starts_with(MESSAGE));
        // A task of the runtime may block while the set runs.
        spawn(async { force_handoff() }).await.unwrap();
    });
    // Bug: own (the check saw only the set that was entered last).
    let (other, inner) = (LocalSet::new(), LocalRuntime::new().unwrap());
    local.block_on(&runtime, async {
        let _entered = inner.enter();
        assert!(blocks().starts_with(MESSAGE));
        let _entered = other.enter();
        assert!(blocks().starts_with(MESSAGE));
    });
    // Entering a set does not run its tasks.
    let _guard = local.enter();
    assert_eq!(block_in_place(|| 7), 7);
}

/// Handed-off workers and blocking tasks share the only thread of the pool.
#[test]
fn one_blocking_thread_is_enough_for_handoffs_and_blocking_tasks() {
    let runtime = multi_thread()
        .worker_threads(1)
        .max_blocking_threads(1)
        .build()
        .unwrap();
    let task = runtime.spawn(async {
        for _ in 0..5 {
            force_handoff();
            spawn_blocking(|| ()).await.unwrap();
            block_in_place(|| Handle::current().block_on(spawn_blocking(|| ())).unwrap());
            yield_now().await;
        }
    });
    runtime.block_on(task).unwrap();
}

#[test]
fn handoffs_reuse_threads_and_run_their_hooks() {
    let (started, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (starts, stops) = (Arc::clone(&started), Arc::clone(&stopped));
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_keep_alive(Duration::from_secs(3600))
        .on_thread_start(move || {
            starts.fetch_add(1, SeqCst);
        })
        .on_thread_stop(move || {
            stops.fetch_add(1, SeqCst);
        })
        .build()
        .unwrap();
    let task = runtime.spawn(async {
        for _ in 0..200 {
            force_handoff();
            yield_now().await;
        }
    });
    runtime.block_on(task).unwrap();
    // The thread of a handed-off poll may still be busy when the next handoff needs one.
    assert!(started.load(SeqCst) < 50);
    drop(runtime);
    assert_eq!(started.load(SeqCst), stopped.load(SeqCst));
}

/// Spawns a task that blocks until the returned sender is dropped, and a task that waits forever.
fn blocked(runtime: &Runtime, count: &Arc<AtomicUsize>) -> std::sync::mpsc::Sender<()> {
    let (begun, has_begun) = channel();
    let (open, gate) = channel::<()>();
    let (live, other) = (Live::new(count), Live::new(count));
    runtime.spawn(async move {
        let _live = live;
        block_in_place(|| {
            spawn(async move {
                let _other = other;
                begun.send(()).unwrap();
                pending::<()>().await;
            });
            let _ = gate.recv();
        });
        pending::<()>().await;
    });
    has_begun.recv().unwrap();
    open
}

#[test]
fn a_drop_waits_for_the_function() {
    let count = Arc::new(AtomicUsize::new(0));
    let runtime = one_worker();
    let open = blocked(&runtime, &count);
    let opener = thread::spawn(move || {
        thread::sleep(Duration::from_millis(5));
        drop(open);
    });
    drop(runtime);
    assert_eq!(count.load(SeqCst), 0);
    opener.join().unwrap();
}

#[test]
fn a_function_that_waits_for_the_drop_of_a_task_ends_with_the_runtime() {
    for workers in [1, 2] {
        let runtime = multi_thread().worker_threads(workers).build().unwrap();
        let (kept, dropped) = channel::<()>();
        let (begun, has_begun) = channel();
        let (polled, was_polled) = channel();
        runtime.spawn(async move {
            let _kept = kept;
            polled.send(()).unwrap();
            pending::<()>().await;
        });
        runtime.spawn(async move {
            block_in_place(|| {
                begun.send(()).unwrap();
                dropped.recv().unwrap_err();
            });
        });
        has_begun.recv().unwrap();
        was_polled.recv().unwrap();
        drop(runtime);
    }
}

#[test]
fn shutdown_timeout_and_background_do_not_wait_for_the_function() {
    for wait in [Some(Duration::from_millis(5)), None] {
        let count = Arc::new(AtomicUsize::new(0));
        let runtime = one_worker();
        let open = blocked(&runtime, &count);
        let start = Instant::now();
        match wait {
            Some(wait) => runtime.shutdown_timeout(wait),
            None => runtime.shutdown_background(),
        }
        assert!(start.elapsed() < Duration::from_secs(30));
        eventually("the waiting task is dropped", || count.load(SeqCst) == 1);
        drop(open);
        eventually("the blocking task is dropped", || count.load(SeqCst) == 0);
    }
}

#[test]
fn a_runtime_may_be_dropped_inside() {
    let count = Arc::new(AtomicUsize::new(0));
    let live = Live::new(&count);
    let runtime = one_worker();
    let handle = runtime.handle().clone();
    let (sender, receiver) = channel::<Runtime>();
    handle.spawn(async move {
        let _live = live;
        let (here, is_here) = channel();
        spawn(async move { here.send(()).unwrap() });
        block_in_place(|| {
            is_here.recv().unwrap();
            drop(receiver.recv().unwrap());
        });
        // The runtime has shut down; a further call runs the closure as outside a runtime.
        block_in_place(|| ());
        pending::<()>().await;
    });
    sender.send(runtime).unwrap();
    eventually("the task is dropped", || count.load(SeqCst) == 0);
}
