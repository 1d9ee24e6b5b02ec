//! What a runtime counts, and the hooks of its tasks.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::common::{builders, each_flavor, eventually, multi_thread};
use raddle::net::TcpListener;
use raddle::runtime::{HistogramConfiguration, RuntimeFlavor};
use raddle::sync::Notify;
use raddle::task;

#[test]
fn tasks_and_their_polls_are_counted() {
    each_flavor(|runtime| {
        let metrics = runtime.metrics();
        let workers = match runtime.handle().runtime_flavor() {
            RuntimeFlavor::CurrentThread => 1,
            _ => 2,
        };
        assert_eq!(metrics.num_workers(), workers);
        let waiting = runtime.spawn(pending::<()>());
        assert_eq!(metrics.num_alive_tasks(), 1);
        runtime.block_on(async {
            let yielding = raddle::spawn(task::yield_now());
            yielding.await.unwrap();
        });
        waiting.abort();
        assert!(runtime.block_on(waiting).unwrap_err().is_cancelled());
        assert_eq!(metrics.num_alive_tasks(), 0);
        let sum = |count: &dyn Fn(usize) -> u64| (0..workers).map(count).sum::<u64>();
        // Two polls of the task that yields; the aborted one is polled or not before it ends.
        let polls = sum(&|worker| metrics.worker_poll_count(worker));
        assert!((3..=4).contains(&polls), "{polls} polls");
        assert!(sum(&|worker| metrics.worker_local_schedule_count(worker)) >= 1);
        assert!(metrics.remote_schedule_count() >= 1);
        assert_eq!(metrics.spawned_tasks_count(), 2);
        assert_eq!(metrics.global_queue_depth(), 0);
        for worker in 0..workers {
            assert_eq!(metrics.worker_overflow_count(worker), 0);
            assert_eq!(metrics.worker_local_queue_depth(worker), 0);
            let steals = metrics.worker_steal_count(worker);
            assert!(steals >= metrics.worker_steal_operations(worker));
            let parks = metrics.worker_park_count(worker);
            assert!(parks >= metrics.worker_noop_count(worker));
            assert!(metrics.worker_park_unpark_count(worker) + 1 >= 2 * parks);
            assert!(metrics.worker_completed_elsewhere_count(worker) <= 2);
        }
    });
}

/// 7591: a task was counted for a moment after its join handle was ready.
#[test]
fn a_task_that_was_joined_is_not_alive() {
    each_flavor(|runtime| {
        let metrics = runtime.metrics();
        for _ in 0..300 {
            let task = runtime.spawn(task::yield_now());
            runtime.block_on(task).unwrap();
            assert_eq!(metrics.num_alive_tasks(), 0);
        }
        let mut set = task::JoinSet::new();
        runtime.block_on(async {
            for left in (0..100).rev() {
                set.spawn(pending::<()>());
                set.abort_all();
                assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
                assert_eq!(metrics.num_alive_tasks(), 0, "{left} left");
            }
        });
    });
}

/// Bug: own (a task that woke itself when the shutdown was over was counted for good).
#[test]
fn no_task_is_alive_after_a_shutdown_during_block_in_place() {
    for waits in [true, false] {
        for round in 0..20 {
            let runtime = multi_thread().build().unwrap();
            let handle = runtime.handle().clone();
            let (begun, has_begun) = mpsc::channel();
            let (open, gate) = mpsc::channel::<()>();
            let blocks = runtime.spawn(async move {
                task::block_in_place(|| {
                    begun.send(()).unwrap();
                    let _ = gate.recv();
                    std::thread::sleep(Duration::from_millis(round % 4));
                });
                task::yield_now().await;
            });
            has_begun.recv().unwrap();
            match waits {
                true => {
                    drop(open);
                    drop(runtime);
                }
                false => {
                    runtime.shutdown_background();
                    assert_eq!(handle.metrics().num_alive_tasks(), 1);
                    drop(open);
                    eventually("the task is dropped", || blocks.is_finished());
                }
            }
            assert!(blocks.is_finished());
            assert_eq!(handle.metrics().num_alive_tasks(), 0);
        }
    }
}

#[test]
fn busy_workers_have_busy_time() {
    each_flavor(|runtime| {
        let metrics = runtime.metrics();
        let nap = Duration::from_millis(3);
        let task = runtime.spawn(async move { std::thread::sleep(nap) });
        runtime.block_on(task).unwrap();
        let busy: Duration = (0..metrics.num_workers())
            .map(|worker| metrics.worker_total_busy_duration(worker))
            .sum();
        assert!(busy >= nap, "{busy:?}");
        eventually("the worker has parked or stopped", || {
            (0..metrics.num_workers())
                .any(|worker| metrics.worker_mean_poll_time(worker) > Duration::ZERO)
        });
    });
}

#[test]
fn a_worker_that_is_parked_has_an_odd_count() {
    let runtime = multi_thread().build().unwrap();
    let metrics = runtime.metrics();
    let parked = || (0..2).all(|worker| metrics.worker_park_unpark_count(worker) % 2 == 1);
    eventually("both workers are parked", parked);
    drop(runtime);
    let count = |worker| metrics.worker_park_unpark_count(worker);
    assert!((0..2).all(|worker| count(worker) % 2 == 0));
}

#[test]
fn polls_are_timed_only_when_asked() {
    for mut builder in builders() {
        let metrics = builder.build().unwrap().metrics();
        assert!(!metrics.poll_time_histogram_enabled());
        assert_eq!(metrics.poll_time_histogram_num_buckets(), 0);
        assert_eq!(metrics.poll_time_histogram_bucket_count(0, 0), 0);
        assert!(metrics.poll_time_histogram_bucket_range(0).is_empty());

        let runtime = builder
            .enable_metrics_poll_time_histogram()
            .build()
            .unwrap();
        let metrics = runtime.metrics();
        assert!(metrics.poll_time_histogram_enabled());
        let task = runtime.spawn(async { std::thread::sleep(Duration::from_millis(3)) });
        runtime.block_on(task).unwrap();
        let mut end = Duration::ZERO;
        for bucket in 0..metrics.poll_time_histogram_num_buckets() {
            let range = metrics.poll_time_histogram_bucket_range(bucket);
            assert_eq!(range.start, end);
            end = range.end;
        }
        assert_eq!(end, Duration::from_nanos(u64::MAX));
        eventually("the poll has been counted", || {
            let buckets = 0..metrics.poll_time_histogram_num_buckets();
            let long = buckets.filter(|&bucket| {
                metrics.poll_time_histogram_bucket_range(bucket).end > Duration::from_millis(3)
            });
            long.flat_map(|bucket| (0..metrics.num_workers()).map(move |worker| (worker, bucket)))
                .map(|(worker, bucket)| metrics.poll_time_histogram_bucket_count(worker, bucket))
                .sum::<u64>()
                >= 1
        });
    }
}

#[test]
fn polls_are_counted_in_the_buckets_that_were_configured() {
    for mut builder in builders() {
        let runtime = builder
            .enable_metrics_poll_time_histogram()
            .metrics_poll_time_histogram_configuration(HistogramConfiguration::linear(
                Duration::from_millis(2),
                2,
            ))
            .build()
            .unwrap();
        let metrics = runtime.metrics();
        assert_eq!(metrics.poll_time_histogram_num_buckets(), 2);
        let task = runtime.spawn(async { std::thread::sleep(Duration::from_millis(3)) });
        runtime.block_on(task).unwrap();
        let workers = metrics.num_workers();
        eventually("the poll has been counted", || {
            (0..workers).any(|worker| metrics.poll_time_histogram_bucket_count(worker, 1) == 1)
        });
    }
}

#[test]
fn a_worker_is_on_the_thread_that_runs_its_tasks() {
    each_flavor(|runtime| {
        let metrics = runtime.metrics();
        let task = runtime.spawn(async {
            let worker = raddle::runtime::worker_index().unwrap();
            (worker, std::thread::current().id())
        });
        let (worker, thread) = runtime.block_on(task).unwrap();
        assert_eq!(metrics.worker_thread_id(worker), Some(thread));
    });
    let runtime = raddle::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    assert_eq!(runtime.metrics().worker_thread_id(0), None);
}

#[test]
fn polls_that_use_up_their_budget_are_counted() {
    each_flavor(|runtime| {
        let metrics = runtime.metrics();
        let task = runtime.spawn(async {
            for _ in 0..1_000 {
                task::consume_budget().await;
            }
        });
        runtime.block_on(task).unwrap();
        // Each poll has a budget of 128 units; the last poll had some left.
        assert_eq!(metrics.budget_forced_yield_count(), 1_000 / 128);
        let task = runtime.spawn(async { task::yield_now().await });
        runtime.block_on(task).unwrap();
        assert_eq!(metrics.budget_forced_yield_count(), 1_000 / 128);
    });
}

#[test]
fn sources_and_their_events_are_counted() {
    for mut builder in builders() {
        let runtime = builder.enable_io().build().unwrap();
        let metrics = runtime.metrics();
        let before = metrics.io_driver_fd_registered_count();
        assert_eq!(metrics.io_driver_fd_deregistered_count(), 0);
        let events = metrics.io_driver_ready_count();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            assert_eq!(metrics.io_driver_fd_registered_count(), before + 1);
            let address = listener.local_addr().unwrap();
            let peer = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(5));
                std::net::TcpStream::connect(address).unwrap()
            });
            drop(listener.accept().await.unwrap());
            drop(peer.join().unwrap());
        });
        assert!(metrics.io_driver_ready_count() > events);
        assert_eq!(
            metrics.io_driver_fd_registered_count() - before,
            metrics.io_driver_fd_deregistered_count()
        );
    }
    let runtime = raddle::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    assert_eq!(runtime.metrics().io_driver_fd_registered_count(), 0);
}

#[test]
fn without_the_slot_tasks_run_in_the_order_of_their_wakes() {
    let order = |builder: &mut raddle::runtime::Builder| {
        let runtime = builder.worker_threads(1).build().unwrap();
        let task = runtime.spawn(async {
            let order = Arc::new(Mutex::new(Vec::new()));
            let gates: Vec<_> = (0..3).map(|_| Arc::new(Notify::new())).collect();
            let mut tasks = task::JoinSet::new();
            for (index, gate) in gates.iter().enumerate() {
                let (gate, order) = (Arc::clone(gate), Arc::clone(&order));
                tasks.spawn(async move {
                    gate.notified().await;
                    order.lock().unwrap().push(index);
                });
            }
            task::yield_now().await;
            for gate in &gates {
                gate.notify_one();
            }
            while tasks.join_next().await.is_some() {}
            let order = order.lock().unwrap();
            order.clone()
        });
        runtime.block_on(task).unwrap()
    };
    assert_eq!(order(&mut multi_thread()), [2, 0, 1]);
    assert_eq!(order(multi_thread().disable_lifo_slot()), [0, 1, 2]);
}

#[test]
fn blocking_threads_and_queued_jobs_are_counted() {
    let mut builder = multi_thread();
    let runtime = builder.max_blocking_threads(1).build().unwrap();
    let metrics = runtime.metrics();
    assert_eq!(metrics.num_blocking_threads(), 0);
    let (go, wait) = mpsc::channel();
    let first = runtime.spawn_blocking(move || wait.recv().unwrap());
    let second = runtime.spawn_blocking(|| ());
    eventually("the first job has been taken", || {
        metrics.blocking_queue_depth() == 1
    });
    assert_eq!(metrics.num_blocking_threads(), 1);
    assert_eq!(metrics.num_idle_blocking_threads(), 0);
    go.send(()).unwrap();
    runtime.block_on(async {
        first.await.unwrap();
        second.await.unwrap();
    });
    eventually("the thread is idle", || {
        metrics.num_idle_blocking_threads() == 1
    });
    assert_eq!(metrics.blocking_queue_depth(), 0);
    assert_eq!(metrics.num_alive_tasks(), 0);
}

/// Each hook is called for each task, in order, with its id and the line of its spawn, by whichever
/// function it was spawned.
#[test]
fn task_hooks_see_each_task() {
    for mut builder in builders() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let note = |event: &'static str| {
            let log = Arc::clone(&log);
            move |task: &raddle::runtime::TaskMeta<'_>| {
                assert!(task.spawned_at().file().ends_with("metrics.rs"));
                let line = task.spawned_at().line();
                log.lock().unwrap().push((task.id(), line, event));
            }
        };
        let runtime = builder
            .on_task_spawn(note("spawn"))
            .on_before_task_poll(note("before"))
            .on_after_task_poll(note("after"))
            .on_task_terminate(note("terminate"))
            .build()
            .unwrap();
        let tasks = runtime.block_on(async {
            let handle = raddle::runtime::Handle::current();
            let mut set = task::JoinSet::new();
            let tasks = [
                (runtime.spawn(async {}).abort_handle(), line!()),
                (handle.spawn(async {}).abort_handle(), line!()),
                (raddle::spawn(async {}).abort_handle(), line!()),
                (set.spawn(async {}), line!()),
            ];
            while set.join_next().await.is_some() {}
            tasks
        });
        if runtime.handle().runtime_flavor() == RuntimeFlavor::CurrentThread {
            runtime.block_on(async {
                while log.lock().unwrap().len() < 16 {
                    task::yield_now().await;
                }
            });
        }
        eventually("the hooks are called", || log.lock().unwrap().len() == 16);
        let log = log.lock().unwrap();
        for (task, line) in tasks {
            let events: Vec<_> = log
                .iter()
                .filter(|(id, ..)| *id == task.id())
                .map(|&(_, at, event)| {
                    assert_eq!(at, line);
                    event
                })
                .collect();
            assert_eq!(events, ["spawn", "before", "after", "terminate"]);
        }
    }
}

#[test]
fn a_task_hook_that_panics_affects_no_task() {
    for mut builder in builders() {
        let calls = Arc::new(AtomicUsize::new(0));
        let panics = |calls: &Arc<AtomicUsize>| {
            let calls = Arc::clone(calls);
            move |_: &raddle::runtime::TaskMeta<'_>| {
                calls.fetch_add(1, SeqCst);
                // Not with `panic!`, which would print a message.
                std::panic::resume_unwind(Box::new("a hook panics on purpose"));
            }
        };
        let runtime = builder
            .on_task_spawn(panics(&calls))
            .on_before_task_poll(panics(&calls))
            .on_after_task_poll(panics(&calls))
            .on_task_terminate(panics(&calls))
            .build()
            .unwrap();
        for _ in 0..20 {
            let task = runtime.spawn(async { raddle::spawn(async { 7 }).await.unwrap() });
            assert_eq!(runtime.block_on(task).unwrap(), 7);
        }
        drop(runtime);
        assert!(calls.load(SeqCst) >= 20 * 2 * 4);
    }
}
