//! Spare workers serve while all workers are in polls that do not return.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::common::{eventually, multi_thread, panic_message, use_large_stack, with_policy};
use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream};
use raddle::runtime::{Builder, Handle, Policy, Runtime, worker_index};
use raddle::task::{JoinHandle, LocalSet, block_in_place, spawn_local};
use raddle::time::sleep;

/// A test that takes longer has hung, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Polls that block until this is dropped.
pub(crate) struct Stuck {
    tasks: Vec<(JoinHandle<()>, Sender<()>)>,
}

impl Stuck {
    /// Spawns a task whose poll does not return, waits until it blocks a worker, and returns that
    /// worker.
    pub(crate) fn add(&mut self, handle: &Handle) -> usize {
        let has_begun = self.spawn(handle);
        has_begun.recv_timeout(LIMIT).expect("the task is polled")
    }

    /// Spawns a task whose poll does not return. The receiver gets the worker that polls it.
    pub(crate) fn spawn(&mut self, handle: &Handle) -> Receiver<usize> {
        let (release, released) = channel::<()>();
        let (begun, has_begun) = channel();
        let task = handle.spawn(async move {
            let _ = begun.send(worker_index().expect("the thread drives a worker"));
            let _ = released.recv();
        });
        self.tasks.push((task, release));
        has_begun
    }
}

/// Builds a runtime all of whose workers are in polls that do not return. The polls return when
/// the second value is dropped, which is before the runtime is.
fn stuck(builder: &mut Builder) -> (Runtime, Stuck) {
    let runtime = builder.build().unwrap();
    let stuck = block_workers(&runtime);
    (runtime, stuck)
}

/// Makes all workers of a runtime poll tasks whose polls do not return. If the system does not run
/// the thread of a worker for some milliseconds, a spare worker takes its task, and another task
/// follows.
pub(crate) fn block_workers(runtime: &Runtime) -> Stuck {
    let mut stuck = Stuck { tasks: Vec::new() };
    let mut free: BTreeSet<usize> = (0..runtime.metrics().num_workers()).collect();
    while !free.is_empty() {
        free.remove(&stuck.add(runtime.handle()));
    }
    stuck
}

fn one_worker() -> Builder {
    let mut builder = multi_thread();
    builder.worker_threads(1);
    builder
}

/// Counts the threads of the runtime that run.
fn count_threads(builder: &mut Builder) -> Arc<AtomicUsize> {
    let running = Arc::new(AtomicUsize::new(0));
    let (at_start, at_stop) = (Arc::clone(&running), Arc::clone(&running));
    builder.on_thread_start(move || {
        at_start.fetch_add(1, SeqCst);
    });
    builder.on_thread_stop(move || {
        at_stop.fetch_sub(1, SeqCst);
    });
    running
}

/// Spawns a task, and waits for it on this thread.
#[track_caller]
pub(crate) fn run<F>(runtime: &Runtime, future: F) -> F::Output
where
    F: Future<Output: Send> + Send + 'static,
{
    let (sender, receiver) = channel();
    runtime.spawn(async move { sender.send(future.await) });
    received(&receiver)
}

#[track_caller]
fn received<T>(receiver: &Receiver<T>) -> T {
    receiver.recv_timeout(LIMIT).expect("the task has run")
}

#[track_caller]
fn assert_on_spare(runtime: &Handle) {
    let worker = worker_index().expect("the thread drives a worker");
    assert!(worker >= runtime.metrics().num_workers(), "worker {worker}");
}

#[test]
fn tasks_run_on_a_spare_worker_while_all_workers_are_stuck() {
    for policy in [Policy::WorkStealing, Policy::Shared] {
        for workers in [1, 2] {
            let mut builder = with_policy(policy);
            let (runtime, stuck) = stuck(builder.worker_threads(workers));
            for _ in 0..3 {
                run(&runtime, async { assert_on_spare(&Handle::current()) });
            }
            let metrics = runtime.metrics();
            assert_eq!(metrics.num_workers(), workers);
            assert!(metrics.num_spare_workers() > 0);
            assert!(metrics.spare_worker_start_count() > 0);
            let message = panic_message(|| metrics.worker_poll_count(workers));
            assert!(message.contains("there is no worker"), "{message}");
            drop(stuck);
            eventually("the spare workers leave", || {
                metrics.num_spare_workers() == 0
            });
            let worker = run(&runtime, async { worker_index().unwrap() });
            assert!(worker < workers);
        }
    }
}

#[test]
fn each_poll_that_blocks_a_spare_worker_gets_another_one() {
    let (runtime, mut stuck) = stuck(one_worker().max_spare_workers(8));
    for _ in 0..7 {
        stuck.add(runtime.handle());
    }
    run(&runtime, async {});
    assert_eq!(runtime.metrics().num_spare_workers(), 8);
    drop(stuck);
    eventually("the spare workers leave", || {
        runtime.metrics().num_spare_workers() == 0
    });
}

#[test]
fn without_spare_workers_a_task_waits_for_the_poll() {
    let (runtime, stuck) = stuck(one_worker().max_spare_workers(0));
    let task = runtime.spawn(async {});
    // Many times longer than a spare worker needs.
    thread::sleep(Duration::from_millis(100));
    assert!(!task.is_finished());
    assert_eq!(runtime.metrics().spare_worker_start_count(), 0);
    drop(stuck);
    runtime.block_on(task).unwrap();
}

#[test]
fn a_task_that_waits_while_the_reserve_is_used_up_runs_when_a_poll_returns() {
    let (runtime, mut stuck) = stuck(one_worker().max_spare_workers(1));
    stuck.add(runtime.handle());
    let task = runtime.spawn(async {});
    thread::sleep(Duration::from_millis(50));
    assert!(!task.is_finished());
    stuck.tasks.pop();
    runtime.block_on(task).unwrap();
}

#[test]
fn threads_of_spare_workers_have_the_name_the_stack_and_the_hooks_of_workers() {
    thread_local! {
        static HAS_STARTED: Cell<bool> = const { Cell::new(false) };
    }

    let running = Arc::new(AtomicUsize::new(0));
    let (at_start, at_stop) = (Arc::clone(&running), Arc::clone(&running));
    let (runtime, stuck) = stuck(
        one_worker()
            .thread_name("web")
            .blocking_thread_name("web-blocking")
            .thread_stack_size(16 << 20)
            .on_thread_start(move || {
                Handle::current();
                HAS_STARTED.set(true);
                at_start.fetch_add(1, SeqCst);
            })
            .on_thread_stop(move || {
                Handle::current();
                at_stop.fetch_sub(1, SeqCst);
            }),
    );
    run(&runtime, async {
        assert_on_spare(&Handle::current());
        assert_eq!(thread::current().name(), Some("web"));
        assert!(HAS_STARTED.get());
        use_large_stack();
    });
    assert!(running.load(SeqCst) >= 2);
    drop(stuck);
    drop(runtime);
    assert_eq!(running.load(SeqCst), 0);
}

#[test]
fn the_limit_of_blocking_threads_does_not_count_spare_workers() {
    let (runtime, mut stuck) = stuck(one_worker().max_blocking_threads(1));
    let (release, released) = channel::<()>();
    let job = runtime.spawn_blocking(move || {
        let _ = released.recv();
    });
    for _ in 0..3 {
        stuck.add(runtime.handle());
    }
    run(&runtime, async {});
    drop(release);
    run(&runtime, async { job.await.unwrap() });
}

#[test]
fn sockets_and_timers_work_on_a_spare_worker() {
    let (runtime, _stuck) = stuck(&mut one_worker());
    run(&runtime, async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = raddle::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut byte = [0];
            stream.read_exact(&mut byte).await.unwrap();
            sleep(Duration::from_millis(2)).await;
            stream.write_all(&byte).await.unwrap();
            assert_on_spare(&Handle::current());
        });
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(&[7]).await.unwrap();
        let mut byte = [0];
        client.read_exact(&mut byte).await.unwrap();
        assert_eq!(byte, [7]);
        server.await.unwrap();
        assert_on_spare(&Handle::current());
    });
}

#[test]
fn a_task_on_a_spare_worker_has_its_id_its_task_locals_and_its_runtime() {
    raddle::task_local! {
        static NUMBER: u32;
    }
    let (runtime, _stuck) = stuck(&mut one_worker());
    let id = runtime.handle().id();
    let (sender, receiver) = channel();
    let task = runtime.spawn(NUMBER.scope(7, async move {
        assert_on_spare(&Handle::current());
        sleep(Duration::from_millis(1)).await;
        assert_eq!((Handle::current().id(), NUMBER.get()), (id, 7));
        let child = raddle::spawn(async { raddle::task::id() });
        let spawned = child.id();
        assert_eq!(child.await.unwrap(), spawned);
        sender.send(raddle::task::id()).unwrap();
    }));
    assert_eq!(received(&receiver), task.id());
    runtime.block_on(task).unwrap();
}

#[test]
fn blocking_work_may_block_on_tasks_that_run_on_a_spare_worker() {
    let (runtime, _stuck) = stuck(&mut one_worker());
    let job = runtime.spawn_blocking(|| {
        let local = async {
            let task = spawn_local(async {
                let shared = std::rc::Rc::new(5);
                raddle::spawn(async { assert_on_spare(&Handle::current()) })
                    .await
                    .unwrap();
                sleep(Duration::from_millis(1)).await;
                *shared
            });
            task.await.unwrap()
        };
        Handle::current().block_on(LocalSet::new().run_until(local))
    });
    assert_eq!(runtime.block_on(job).unwrap(), 5);
}

#[test]
fn a_spare_worker_is_handed_off_while_its_task_blocks_in_place() {
    for max in [1, 4] {
        let (runtime, _stuck) = stuck(one_worker().max_spare_workers(max));
        run(&runtime, async {
            let thread = thread::current().id();
            let inner = block_in_place(|| {
                let handle = Handle::current();
                handle.block_on(handle.spawn(async {
                    sleep(Duration::from_millis(1)).await;
                    assert_on_spare(&Handle::current());
                    thread::current().id()
                }))
            });
            assert_ne!(inner.unwrap(), thread);
            sleep(Duration::from_millis(1)).await;
            assert_on_spare(&Handle::current());
        });
    }
}

#[test]
fn a_task_on_a_spare_worker_may_drop_its_runtime() {
    let mut builder = one_worker();
    let running = count_threads(&mut builder);
    let (runtime, stuck) = stuck(&mut builder);
    let (dropped, is_dropped) = channel();
    let handle = runtime.handle().clone();
    handle.spawn(async move {
        assert_on_spare(&Handle::current());
        drop(runtime);
        dropped.send(()).unwrap();
    });
    received(&is_dropped);
    assert!(running.load(SeqCst) > 0, "a worker is stuck");
    drop(stuck);
    eventually("the threads end", || running.load(SeqCst) == 0);
}

#[test]
fn a_shutdown_with_a_limit_leaves_stuck_polls_of_spare_workers_behind() {
    let mut builder = one_worker();
    let running = count_threads(&mut builder);
    let (runtime, mut stuck) = stuck(&mut builder);
    for _ in 0..3 {
        stuck.add(runtime.handle());
    }
    // A task that waits, with a value whose drop shows the end of the task. Its first poll shows
    // that a thread is not stuck.
    let (value, is_dropped) = channel::<()>();
    let (polled, is_polled) = channel();
    let waits = runtime.spawn(async move {
        let _value = value;
        polled.send(()).unwrap();
        std::future::pending::<()>().await;
    });
    received(&is_polled);
    runtime.shutdown_timeout(Duration::from_millis(20));
    assert!(running.load(SeqCst) >= 4);
    // That thread drops the task.
    let dropped = is_dropped.recv_timeout(LIMIT);
    assert_eq!(dropped, Err(RecvTimeoutError::Disconnected));
    eventually("the task ends", || waits.is_finished());
    drop(stuck);
    eventually("the threads end", || running.load(SeqCst) == 0);
}

#[test]
fn a_shutdown_does_not_wait_for_idle_threads_of_spare_workers() {
    let (runtime, stuck) = stuck(one_worker().thread_keep_alive(10 * LIMIT));
    run(&runtime, async {});
    drop(stuck);
    eventually("the spare worker leaves", || {
        runtime.metrics().num_spare_workers() == 0
    });
    let (ended, has_ended) = channel();
    let dropping = thread::spawn(move || {
        drop(runtime);
        ended.send(()).unwrap();
    });
    received(&has_ended);
    dropping.join().unwrap();
}

#[test]
fn a_name_function_that_panics_only_delays_the_spare_worker() {
    let calls = Arc::new(AtomicUsize::new(0));
    let (runtime, _stuck) = stuck(one_worker().thread_name_fn(move || {
        let call = calls.fetch_add(1, SeqCst);
        assert!(!(1..=2).contains(&call), "expected by the test");
        "web".to_owned()
    }));
    run(&runtime, async { assert_on_spare(&Handle::current()) });
}
