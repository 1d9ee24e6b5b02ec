//! Exact values of the counters, on workers that a test steps.

use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, mpsc};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use crate::common::{
    POLICIES, SHARING, SelfWaking, Signal, config_of, current_thread, message_of, pool_of,
    wait_until,
};
use raddle_sched::{
    Config, Handle, HistogramConfiguration, Metrics, Policy, Pool, Step, UnhandledPanic, Worker,
    spawn, yield_now,
};
use raddle_task::JoinHandle;

/// Workers without a monitor, which could take tasks when a test is slow.
fn stepped(policy: Policy, workers: usize) -> (Handle, Vec<Worker>) {
    let config = Config {
        has_monitor: false,
        ..config_of(policy, workers)
    };
    Pool::stepped(config, None)
}

/// Steps a worker until it has nothing to do, and returns how many tasks it ran.
fn run_dry(worker: &mut Worker) -> u64 {
    let mut ran = 0;
    while worker.step() == Step::Ran {
        ran += 1;
    }
    ran
}

/// Parks a worker and ends its wait. The only worker of a pool stops parking then.
fn park_briefly(worker: &mut Worker) {
    assert!(worker.begin_park().is_some());
    let _ = worker.resume_park();
}

#[test]
fn a_spawn_from_outside_is_a_remote_schedule() {
    for policy in POLICIES {
        let (handle, mut workers) = stepped(policy, 1);
        let _current = handle.enter();
        let metrics = handle.metrics();
        for _ in 0..3 {
            drop(handle.spawn(ready(())));
        }
        assert_eq!(metrics.remote_schedules(), 3);
        assert_eq!(metrics.injection_depth(), 3);
        assert_eq!(metrics.alive_tasks(), 3);
        assert_eq!(run_dry(&mut workers[0]), 3);
        let worker = metrics.worker(0);
        assert_eq!((worker.polls, worker.local_schedules), (3, 0));
        assert_eq!(metrics.injection_depth(), 0);
        assert_eq!(metrics.alive_tasks(), 0);
    }
}

/// The remaining tasks stay in the injection queue for the other workers.
#[test]
fn a_worker_takes_at_most_half_its_capacity_from_the_injection_queue() {
    const TASKS: usize = 600;
    let (handle, mut workers) = stepped(Policy::WorkStealing, 1);
    for _ in 0..TASKS {
        drop(handle.spawn(ready(())));
    }
    assert_eq!(workers[0].step(), Step::Ran);
    let remaining = TASKS - raddle_queue::local::CAPACITY / 2;
    assert_eq!(handle.metrics().injection_depth(), remaining);
    assert_eq!(run_dry(&mut workers[0]), TASKS as u64 - 1);
}

#[test]
fn spawns_wakes_and_yields_on_a_worker_are_local_schedules() {
    for policy in POLICIES {
        let (handle, mut workers) = stepped(policy, 1);
        let _current = handle.enter();
        let metrics = handle.metrics();
        let signal = Signal::default();
        let theirs = signal.clone();
        drop(handle.spawn(async move {
            drop(spawn(theirs.clone()));
            raddle_sched::yield_now().await;
            theirs.set();
        }));
        // The parent, the child, the parent again, the child again.
        assert_eq!(run_dry(&mut workers[0]), 4);
        let worker = metrics.worker(0);
        assert_eq!(worker.polls, 4);
        // The child's spawn, the parent's yield, the child's wake.
        assert_eq!(worker.local_schedules, 3);
        assert_eq!(metrics.remote_schedules(), 1);
        assert_eq!(metrics.alive_tasks(), 0);
    }
}

#[test]
fn a_wake_from_outside_is_a_remote_schedule_if_the_task_is_alive() {
    for policy in POLICIES {
        let (handle, mut workers) = stepped(policy, 1);
        let _current = handle.enter();
        let metrics = handle.metrics();
        let signal = Signal::default();
        drop(handle.spawn(signal.clone()));
        assert_eq!(run_dry(&mut workers[0]), 1);
        assert_eq!(metrics.alive_tasks(), 1);
        signal.set();
        assert_eq!(metrics.remote_schedules(), 2);
        assert_eq!(metrics.alive_tasks(), 1);
        assert_eq!(run_dry(&mut workers[0]), 1);
        assert_eq!(metrics.alive_tasks(), 0);
    }
}

#[test]
fn steals_and_completions_on_another_worker_are_counted() {
    let (handle, mut workers) = stepped(Policy::WorkStealing, 2);
    let _current = handle.enter();
    let metrics = handle.metrics();
    drop(handle.spawn(async {
        for _ in 0..9 {
            drop(spawn(yield_now()));
        }
    }));
    // A worker owns a task once it has polled it.
    for _ in 0..10 {
        assert_eq!(workers[0].step(), Step::Ran);
    }
    assert_eq!(metrics.worker(0).local_queue_depth, 9);
    assert_eq!(workers[1].step(), Step::Ran);
    let thief = metrics.worker(1);
    assert_eq!((thief.steals, thief.steal_operations), (5, 1));
    assert_eq!((thief.polls, thief.completed_elsewhere), (1, 1));
    assert_eq!(thief.local_queue_depth, 4);
    assert_eq!(metrics.alive_tasks(), 8);
    for (worker, remaining) in workers.iter_mut().zip([4, 4]) {
        for _ in 0..remaining {
            assert_eq!(worker.step(), Step::Ran);
        }
    }
    assert_eq!(metrics.alive_tasks(), 0);
    assert_eq!((metrics.worker(0).polls, metrics.worker(1).polls), (14, 5));
    assert_eq!(metrics.worker(0).steals, 0);
}

/// A full queue of 256 moves its older half and the new task to the injection queue.
#[test]
fn overflows_are_not_remote_schedules() {
    let (handle, mut workers) = stepped(Policy::WorkStealing, 1);
    let _current = handle.enter();
    let metrics = handle.metrics();
    drop(handle.spawn(async {
        for _ in 0..258 {
            drop(spawn(ready(())));
        }
    }));
    assert_eq!(workers[0].step(), Step::Ran);
    assert_eq!(metrics.worker(0).overflows, 1);
    assert_eq!(metrics.injection_depth(), 129);
    assert_eq!(metrics.worker(0).local_queue_depth, 129);
    assert_eq!(metrics.remote_schedules(), 1);
    assert_eq!(run_dry(&mut workers[0]), 258);
    assert_eq!(metrics.alive_tasks(), 0);
}
#[test]
fn a_park_that_finds_a_task_at_once_is_not_counted() {
    for policy in POLICIES {
        let (handle, mut workers) = stepped(policy, 1);
        drop(handle.spawn(ready(())));
        assert!(workers[0].begin_park().is_none());
        let worker = handle.metrics().worker(0);
        assert_eq!((worker.parks, worker.unparks), (0, 0), "{policy:?}");
        assert_eq!(run_dry(&mut workers[0]), 1);
    }
}

#[test]
fn parks_and_parks_without_a_poll_are_counted() {
    for policy in POLICIES {
        let (handle, mut workers) = stepped(policy, 1);
        let _current = handle.enter();
        let metrics = handle.metrics();
        let counts = |metrics: &Metrics| (metrics.worker(0).parks, metrics.worker(0).noops);
        let worker = &mut workers[0];
        let mut park = || {
            assert_eq!(worker.step(), Step::Idle);
            park_briefly(worker);
        };
        park();
        assert_eq!(counts(&metrics), (1, 0));
        park();
        assert_eq!(counts(&metrics), (2, 1));
        drop(handle.spawn(ready(())));
        assert_eq!(workers[0].step(), Step::Ran);
        assert_eq!(workers[0].step(), Step::Idle);
        park_briefly(&mut workers[0]);
        assert_eq!(counts(&metrics), (3, 1));
    }
}

#[test]
fn unparks_are_counted() {
    for policy in POLICIES {
        let (handle, mut workers) = stepped(policy, 1);
        let _current = handle.enter();
        let unparks = || handle.metrics().worker(0).unparks;
        for expected in 1..=3 {
            park_briefly(&mut workers[0]);
            assert_eq!(unparks(), expected);
        }
    }
}

#[test]
fn polls_that_use_up_their_budget_are_counted() {
    for policy in POLICIES {
        let (handle, mut workers) = stepped(policy, 1);
        let _current = handle.enter();
        let metrics = handle.metrics();
        let budget_yields = || metrics.worker(0).budget_yields;
        drop(handle.spawn(ready(())));
        drop(handle.spawn(yield_now()));
        drop(handle.spawn(pending::<()>()));
        assert_eq!(run_dry(&mut workers[0]), 4);
        assert_eq!(budget_yields(), 0);
        drop(handle.spawn(async {
            for _ in 0..300 {
                raddle_leaf::coop::consume_budget().await;
            }
        }));
        assert_eq!(run_dry(&mut workers[0]), 3, "of 128 units each");
        assert_eq!(budget_yields(), 2);
    }
}

/// A worker that finds work has not parked.
#[test]
fn a_cancelled_park_is_not_counted() {
    for policy in POLICIES {
        let (handle, mut workers) = stepped(policy, 1);
        let _current = handle.enter();
        drop(handle.spawn(ready(())));
        workers[0].park();
        assert_eq!(handle.metrics().worker(0).parks, 0);
    }
}

#[test]
fn aborted_tasks_are_not_alive() {
    for policy in POLICIES {
        let (handle, mut workers) = stepped(policy, 1);
        let _current = handle.enter();
        let metrics = handle.metrics();
        let parked = handle.spawn(pending::<()>());
        assert_eq!(run_dry(&mut workers[0]), 1);
        let queued = handle.spawn(pending::<()>());
        parked.abort();
        queued.abort();
        assert_eq!(metrics.alive_tasks(), 2);
        assert_eq!(run_dry(&mut workers[0]), 2);
        assert_eq!(metrics.alive_tasks(), 0);
        assert_eq!(metrics.worker(0).polls, 3);
    }
}

/// Records how many tasks are alive when it is woken.
struct CountsAlive {
    metrics: Metrics,
    counted: mpsc::Sender<usize>,
}

impl Wake for CountsAlive {
    fn wake(self: Arc<Self>) {
        self.counted.send(self.metrics.alive_tasks()).unwrap();
    }
}

/// Returns how many tasks are alive when a join handle is woken, and when it is ready.
fn alive_at_join(metrics: &Metrics, mut task: JoinHandle<()>, run: impl FnOnce()) -> [usize; 2] {
    let (counted, counts) = mpsc::channel();
    let metrics = metrics.clone();
    let waker = Waker::from(Arc::new(CountsAlive {
        metrics: metrics.clone(),
        counted,
    }));
    let mut cx = Context::from_waker(&waker);
    assert!(Pin::new(&mut task).poll(&mut cx).is_pending());
    run();
    let at_wake = counts.recv().unwrap();
    assert!(Pin::new(&mut task).poll(&mut cx).is_ready());
    [at_wake, metrics.alive_tasks()]
}

/// 7591: a task was counted for a moment after its join handle was ready.
#[test]
fn a_task_is_not_alive_when_its_join_handle_is_woken() {
    for policy in POLICIES {
        for cancels in [false, true] {
            let (handle, mut workers) = stepped(policy, 1);
            let _current = handle.enter();
            let metrics = handle.metrics();
            let task = handle.spawn(yield_now());
            if cancels {
                task.abort();
            }
            let run = || assert!(run_dry(&mut workers[0]) > 0);
            assert_eq!(alive_at_join(&metrics, task, run), [0, 0], "{policy:?}");
            // The shutdown, and a spawn after it.
            let task = handle.spawn(pending::<()>());
            let drops = || drop(workers);
            assert_eq!(alive_at_join(&metrics, task, drops), [0, 0], "{policy:?}");
            assert!(handle.spawn(ready(())).is_finished());
            assert_eq!(metrics.alive_tasks(), 0);
            assert_eq!(metrics.spawned_tasks(), 2, "a refused task does not count");
        }
    }
}

/// The same on another worker, which has not adopted the task, and on a current-thread scheduler.
#[test]
fn a_task_is_not_alive_when_its_join_handle_is_woken_elsewhere() {
    for policy in SHARING {
        let (handle, mut workers) = stepped(policy, 2);
        let _current = handle.enter();
        let signal = Signal::default();
        let task = handle.spawn(signal.clone());
        assert_eq!(workers[0].step(), Step::Ran);
        signal.set();
        let run = || assert_eq!(workers[1].step(), Step::Ran);
        assert_eq!(alive_at_join(&handle.metrics(), task, run), [0, 0]);
        assert_eq!(handle.metrics().worker(1).completed_elsewhere, 1);
    }
    let mut scheduler = current_thread();
    let metrics = scheduler.handle().metrics();
    let task = scheduler.handle().spawn(async {});
    let run = || scheduler.block_on(yield_now());
    assert_eq!(alive_at_join(&metrics, task, run), [0, 0]);
    let task = scheduler.handle().spawn(pending::<()>());
    let shut_down = || scheduler.shutdown();
    assert_eq!(alive_at_join(&metrics, task, shut_down), [0, 0]);
}

/// No task remains alive, whether it was parked, queued locally, in the injection queue, or spawned
/// too late.
#[test]
fn no_task_is_alive_after_shutdown() {
    for policy in SHARING {
        let (handle, mut workers) = stepped(policy, 2);
        let _current = handle.enter();
        let metrics = handle.metrics();
        drop(handle.spawn(async {
            for _ in 0..300 {
                drop(spawn(pending::<()>()));
            }
            drop(spawn(SelfWaking(Arc::new(AtomicUsize::new(0)))));
        }));
        for _ in 0..50 {
            assert_eq!(workers[0].step(), Step::Ran);
            assert_eq!(workers[1].step(), Step::Ran);
        }
        drop(handle.spawn(ready(())));
        assert!(metrics.alive_tasks() >= 301);
        drop(workers);
        assert_eq!(metrics.alive_tasks(), 0);
        assert!(handle.block_on(handle.spawn(ready(()))).is_err());
        assert_eq!(metrics.alive_tasks(), 0);
    }
}

#[test]
fn alive_tasks_counts_the_tasks_that_have_not_completed() {
    for policy in POLICIES {
        let pool = pool_of(policy, 2);
        let metrics = pool.handle().metrics();
        assert_eq!(metrics.workers(), 2);
        let signals: Vec<_> = (0..100).map(|_| Signal::default()).collect();
        for signal in &signals {
            drop(pool.handle().spawn(signal.clone()));
        }
        wait_until(|| signals.iter().all(|signal| signal.polls() == 1));
        assert_eq!(metrics.alive_tasks(), 100);
        assert_eq!(metrics.remote_schedules(), 100);
        signals.iter().for_each(Signal::set);
        wait_until(|| metrics.alive_tasks() == 0);
        let polls: u64 = (0..2).map(|index| metrics.worker(index).polls).sum();
        assert_eq!(polls, 200);
        wait_until(|| metrics.worker(0).parks > 0 && metrics.worker(1).parks > 0);
    }
}

/// The queue of the current-thread scheduler keeps its order beyond its capacity. Its depth
/// includes the tasks beyond the capacity.
#[test]
fn a_current_thread_scheduler_counts() {
    let scheduler = current_thread();
    let metrics = scheduler.handle().metrics();
    let theirs = metrics.clone();
    scheduler.block_on(async {
        let parent = spawn(async move {
            for _ in 0..1000 {
                drop(spawn(ready(())));
            }
            assert_eq!(theirs.worker(0).local_queue_depth, 1000);
        });
        parent.await.unwrap();
        while metrics.worker(0).polls < 1001 {
            raddle_sched::yield_now().await;
        }
    });
    let worker = metrics.worker(0);
    assert_eq!((worker.polls, worker.local_schedules), (1001, 1001));
    assert_eq!((worker.overflows, worker.local_queue_depth), (0, 0));
    assert_eq!(metrics.alive_tasks(), 0);
}

/// A worker is busy while it is not parked and a thread drives it.
#[test]
fn busy_time_does_not_grow_while_no_thread_drives_the_worker() {
    let scheduler = current_thread();
    let metrics = scheduler.handle().metrics();
    assert_eq!(metrics.worker(0).busy, Duration::ZERO);
    let nap = Duration::from_millis(5);
    scheduler.block_on(async {
        let task = spawn(async move { std::thread::sleep(nap) });
        task.await.unwrap();
    });
    let busy = metrics.worker(0).busy;
    assert!(busy >= nap);
    assert!(metrics.worker(0).mean_poll_time >= nap / 10);
    std::thread::sleep(nap);
    assert_eq!(metrics.worker(0).busy, busy);
}

#[test]
fn busy_time_does_not_grow_after_the_worker_has_retired() {
    for policy in POLICIES {
        let pool = pool_of(policy, 1);
        let metrics = pool.handle().metrics();
        // The worker retires in a step after a poll or a park.
        let task = pool.handle().spawn(async {});
        pool.handle().block_on(task).unwrap();
        drop(pool);
        let busy = metrics.worker(0).busy;
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(metrics.worker(0).busy, busy, "{policy:?}");
    }
}

#[test]
fn busy_time_grows_during_a_poll() {
    for policy in POLICIES {
        let pool = pool_of(policy, 1);
        let metrics = pool.handle().metrics();
        // The worker resumes its clock after a park.
        wait_until(|| metrics.worker(0).parks > 0);
        let theirs = metrics.clone();
        let task = pool.handle().spawn(async move {
            let before = theirs.worker(0).busy;
            wait_until(|| theirs.worker(0).busy > before + Duration::from_millis(2));
        });
        pool.handle().block_on(task).unwrap();
    }
}

#[test]
fn busy_time_does_not_grow_while_the_worker_is_parked() {
    for policy in POLICIES {
        let (handle, mut workers) = stepped(policy, 1);
        let _current = handle.enter();
        let metrics = handle.metrics();
        let check_busy_is_constant = || {
            let busy = metrics.worker(0).busy;
            std::thread::sleep(Duration::from_millis(2));
            assert_eq!(metrics.worker(0).busy, busy);
        };
        // The park returns because of the task.
        drop(handle.spawn(ready(())));
        workers[0].park();
        check_busy_is_constant();
        assert_eq!(run_dry(&mut workers[0]), 1);
        assert!(workers[0].begin_park().is_some());
        check_busy_is_constant();
    }
}

#[test]
fn a_worker_whose_thread_starts_after_the_shutdown_counts_as_parked_until_then() {
    for policy in POLICIES {
        let config = Config {
            unhandled_panic: UnhandledPanic::ShutdownRuntime,
            ..config_of(policy, 2)
        };
        let (handle, mut workers) = Pool::stepped(config, None);
        let _current = handle.enter();
        let metrics = handle.metrics();
        let late = workers.pop().unwrap();
        // One for each worker, if each has its own.
        for _ in 0..2 {
            drop(handle.spawn(async { std::panic::resume_unwind(Box::new(())) }));
        }
        while workers[0].step() != Step::Shutdown {}
        drop(workers);
        late.run();
        let late = metrics.worker(1);
        assert!(late.busy > Duration::ZERO, "{policy:?}");
        assert_eq!((late.parks, late.unparks), (1, 1), "{policy:?}");
    }
}

#[test]
fn a_worker_has_the_id_of_the_thread_that_drives_it() {
    for policy in POLICIES {
        let (handle, mut workers) = stepped(policy, 2);
        let _current = handle.enter();
        let metrics = handle.metrics();
        assert_eq!(metrics.worker_thread_id(0), None);
        park_briefly(&mut workers[0]);
        let here = std::thread::current().id();
        assert_eq!(metrics.worker_thread_id(0), Some(here));
        assert_eq!(metrics.worker_thread_id(1), None);
    }
}

#[test]
fn polls_are_timed_when_asked() {
    for policy in POLICIES {
        let (handle, mut workers) = Pool::stepped(
            Config {
                poll_time_histogram: Some(HistogramConfiguration::default()),
                ..config_of(policy, 1)
            },
            None,
        );
        let _current = handle.enter();
        let metrics = handle.metrics();
        let nap = Duration::from_millis(5);
        drop(handle.spawn(async move { std::thread::sleep(nap) }));
        drop(handle.spawn(ready(())));
        assert_eq!(run_dry(&mut workers[0]), 2);
        let times = metrics.poll_times(0).expect("polls are timed");
        let buckets = times.num_buckets();
        let counts: Vec<_> = (0..buckets).map(|bucket| times.count(bucket)).collect();
        assert_eq!(counts.iter().sum::<u64>(), 2);
        let long = (0..buckets)
            .filter(|&bucket| times.range(bucket).end > nap)
            .map(|bucket| counts[bucket])
            .sum::<u64>();
        assert!(long >= 1, "{counts:?}");
        assert_eq!(times.range(buckets - 1).end, Duration::from_nanos(u64::MAX));
    }
}

#[test]
fn metrics_of_missing_workers_and_buckets_panic() {
    for policy in POLICIES {
        let config = Config {
            poll_time_histogram: Some(HistogramConfiguration::linear(Duration::from_nanos(1), 3)),
            ..config_of(policy, 2)
        };
        let (handle, _workers) = Pool::stepped(config, None);
        let metrics = handle.metrics();
        assert_eq!(
            message_of(|| _ = metrics.worker(2)),
            "there is no worker 2; pass a number below 2, the number of workers"
        );
        let times = metrics.poll_times(0).expect("polls are timed");
        assert_eq!(
            message_of(|| _ = times.range(3)),
            "there is no bucket 3: the histogram of poll times has 3"
        );
        assert_eq!(
            message_of(|| _ = times.count(3)),
            "there is no bucket 3: the histogram of poll times has 3"
        );
        let (handle, _workers) = stepped(policy, 2);
        let metrics = handle.metrics();
        assert!(metrics.poll_times(1).is_none());
    }
}
