//! Sharded pools: a task stays on its worker, and so on one thread.

use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::thread::{self, ThreadId};

use crate::common::driver::Events;
use crate::common::{
    DropTracker, OnDrop, SHARING, SelfWaking, Signal, Tracked, message_of, pool_of, wait_until,
};
use raddle_sched::{
    Config, Handle, Policy, Pool, Step, TaskHooks, Worker, is_on_pinned_worker, spawn, spawn_local,
    yield_now,
};

fn sharded(workers: usize) -> Pool {
    pool_of(Policy::Sharded, workers)
}

fn stepped(workers: usize) -> (Handle, Vec<Worker>) {
    let config = Config {
        workers,
        policy: Policy::Sharded,
        ..Config::default()
    };
    Pool::stepped(config, None)
}

fn run(worker: &mut Worker) {
    while worker.step() == Step::Ran {}
}

/// A value that only the thread that made it may use and drop. Otherwise it aborts the process,
/// because a panic could be caught.
struct Bound {
    thread: ThreadId,
    tracked: Tracked,
    not_send: PhantomData<Rc<()>>,
}

impl Bound {
    fn new(tracked: Tracked) -> Self {
        Self {
            thread: thread::current().id(),
            tracked,
            not_send: PhantomData,
        }
    }

    fn check(&self) {
        let _ = &self.tracked;
        if thread::current().id() != self.thread {
            eprintln!("a bound value is used on another thread");
            std::process::abort();
        }
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        self.check();
    }
}

/// Polls a future and checks a bound value at every poll.
struct Checked<F>(Bound, F);

impl<F: Future + Unpin> Future for Checked<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.0.check();
        Pin::new(&mut self.1).poll(cx)
    }
}

#[test]
fn a_task_stays_on_the_worker_it_was_sent_to() {
    let pool = sharded(3);
    let handle = pool.handle().clone();
    for worker in 0..3 {
        let here = handle.clone();
        let task = handle.spawn_on(worker, move || {
            let count = Rc::new(Cell::new(0));
            async move {
                for _ in 0..100 {
                    count.set(count.get() + 1);
                    assert_eq!(here.current_worker(), Some(worker));
                    yield_now().await;
                }
                count.get()
            }
        });
        assert_eq!(handle.block_on(task).unwrap(), 100);
    }
}

#[test]
fn a_worker_spawns_onto_itself() {
    let pool = sharded(3);
    let handle = pool.handle().clone();
    for worker in 0..3 {
        let here = handle.clone();
        let seen = handle.spawn_on(worker, move || async move {
            let there = here.clone();
            let by_spawn = spawn(async move { there.current_worker() }).await.unwrap();
            let there = here.clone();
            let by_handle = here.spawn(async move { there.current_worker() });
            let text = Rc::new("not Send");
            let ours = text.clone();
            let by_local = spawn_local(async move {
                yield_now().await;
                assert!(is_on_pinned_worker());
                ours
            });
            // The output is not `Send` either.
            assert!(Rc::ptr_eq(&by_local.await.unwrap(), &text));
            [by_spawn, by_handle.await.unwrap()]
        });
        assert_eq!(handle.block_on(seen).unwrap(), [Some(worker); 2]);
    }
}

#[test]
fn spawns_from_outside_are_spread_over_the_workers() {
    let pool = sharded(3);
    let handle = pool.handle().clone();
    let tasks: Vec<_> = (0..6)
        .map(|_| {
            let here = handle.clone();
            handle.spawn(async move { here.current_worker().unwrap() })
        })
        .collect();
    let workers: Vec<_> = tasks
        .into_iter()
        .map(|task| handle.block_on(task).unwrap())
        .collect();
    assert_eq!(workers, [0, 1, 2, 0, 1, 2]);
}

/// The task is woken by every kind of wake, from a foreign thread and from the other worker.
#[test]
fn a_task_runs_on_its_worker_wherever_it_is_woken() {
    let pool = sharded(2);
    let tracker = DropTracker::default();
    for round in 0..200 {
        let signals = [Signal::default(), Signal::default()];
        let tasks: Vec<_> = (0..2)
            .map(|worker| {
                let (tracked, own) = (tracker.tracked(), signals[worker].clone());
                let other = signals[1 - worker].clone();
                pool.handle().spawn_on(worker, move || {
                    let mut task = Checked(Bound::new(tracked), own);
                    async move {
                        (&mut task).await;
                        other.set();
                    }
                })
            })
            .collect();
        if round % 2 == 0 {
            wait_until(|| signals.iter().all(|signal| signal.polls() > 0));
        }
        signals[round % 2].set();
        for task in tasks {
            pool.handle().block_on(task).unwrap();
        }
    }
    assert_eq!(tracker.alive(), 0);
}

#[test]
fn an_abort_from_another_thread_drops_on_the_worker() {
    let pool = sharded(2);
    let tracker = DropTracker::default();
    for _ in 0..100 {
        let (tracked, signal) = (tracker.tracked(), Signal::default());
        let inside = signal.clone();
        let task = pool
            .handle()
            .spawn_on(1, move || Checked(Bound::new(tracked), inside));
        wait_until(|| signal.polls() == 1);
        task.abort();
        assert!(pool.handle().block_on(task).unwrap_err().is_cancelled());
    }
    assert_eq!((tracker.alive(), tracker.dropped()), (0, 100));
}

/// A task that was never polled has only its closure, which any thread may drop.
#[test]
fn a_task_that_is_aborted_before_its_first_poll_makes_no_future() {
    let (handle, mut workers) = stepped(1);
    let _guard = handle.enter();
    let tracker = DropTracker::default();
    let tracked = tracker.tracked();
    let task = handle.spawn_on(0, move || {
        let _tracked = tracked;
        unreachable!("it was aborted") as std::future::Ready<()>
    });
    task.abort();
    run(&mut workers[0]);
    assert_eq!(tracker.alive(), 0);
    assert!(task.is_finished());
}

#[test]
fn a_panic_and_its_payload_do_not_affect_the_worker() {
    let pool = sharded(2);
    let tracker = DropTracker::default();
    let tracked = tracker.tracked();
    let task = pool.handle().spawn_on(1, move || {
        let bound = Bound::new(tracked);
        async move {
            bound.check();
            yield_now().await;
            panic!("on purpose");
        }
    });
    let payload = pool.handle().block_on(task).unwrap_err().into_panic();
    assert_eq!(*payload.downcast::<&str>().unwrap(), "on purpose");
    let task = pool.handle().spawn_on(1, || -> std::future::Ready<()> {
        panic!("in the closure");
    });
    assert!(pool.handle().block_on(task).unwrap_err().is_panic());
    assert_eq!(tracker.alive(), 0);
    let task = pool.handle().spawn_on(1, || async { 7 });
    assert_eq!(pool.handle().block_on(task).unwrap(), 7);
}

#[test]
fn a_handle_may_be_dropped_on_another_thread() {
    let pool = sharded(2);
    let tracker = DropTracker::default();
    for _ in 0..200 {
        let (tracked, output) = (tracker.tracked(), tracker.tracked());
        let task = pool.handle().spawn_on(1, move || {
            let bound = Bound::new(tracked);
            async move {
                yield_now().await;
                bound.check();
                output
            }
        });
        drop(task);
    }
    wait_until(|| tracker.alive() == 0);
}

/// Tasks in every state, and wakers that outlive all tasks.
#[test]
fn shutdown_drops_each_task_on_its_own_worker() {
    for _ in 0..20 {
        let pool = sharded(3);
        let tracker = DropTracker::default();
        let mut signals = Vec::new();
        for place in 0..30 {
            let (tracked, signal) = (tracker.tracked(), Signal::default());
            signals.push(signal.clone());
            drop(pool.handle().spawn_on(place % 3, move || {
                let mut task = Checked(Bound::new(tracked), signal);
                async move {
                    loop {
                        (&mut task).await;
                    }
                }
            }));
        }
        wait_until(|| signals.iter().all(|signal| signal.polls() > 0));
        for signal in &signals[..10] {
            // The task is now in the injection queue, or it runs.
            signal.set();
        }
        let wakers: Vec<_> = signals.iter().filter_map(Signal::waker).collect();
        drop(pool);
        assert_eq!(tracker.alive(), 0);
        wakers.iter().for_each(|waker| waker.wake_by_ref());
    }
}

/// Foreign threads wake and spawn while the pool shuts down.
#[test]
fn shutdown_may_race_with_wakes_and_spawns() {
    for _ in 0..50 {
        let pool = sharded(2);
        let tracker = DropTracker::default();
        let signals: Vec<_> = (0..10).map(|_| Signal::default()).collect();
        for (place, signal) in signals.iter().enumerate() {
            let (tracked, signal) = (tracker.tracked(), signal.clone());
            drop(pool.handle().spawn_on(place % 2, move || {
                let mut task = Checked(Bound::new(tracked), signal);
                async move {
                    loop {
                        (&mut task).await;
                    }
                }
            }));
        }
        let (handle, spawned) = (pool.handle().clone(), tracker.clone());
        let theirs = signals.clone();
        let foreign = thread::spawn(move || {
            for round in 0..50 {
                theirs.iter().for_each(Signal::set);
                let tracked = spawned.tracked();
                drop(handle.spawn_on(round % 2, move || {
                    Checked(Bound::new(tracked), std::future::pending::<()>())
                }));
            }
        });
        drop(pool);
        foreign.join().unwrap();
        assert_eq!(tracker.alive(), 0);
    }
}

#[test]
fn a_spawn_after_shutdown_is_cancelled_at_once() {
    let mut pool = sharded(2);
    let handle = pool.handle().clone();
    assert!(pool.shutdown(None));
    let tracker = DropTracker::default();
    let tracked = tracker.tracked();
    let task = handle.spawn_on(1, move || async move { drop(tracked) });
    assert_eq!(tracker.dropped(), 1);
    assert!(handle.block_on(task).unwrap_err().is_cancelled());
}

/// A drop during the shutdown of its worker spawns a local task.
#[test]
fn a_local_spawn_during_shutdown_is_cancelled_at_once() {
    let pool = sharded(2);
    let tracker = DropTracker::default();
    let (tracked, inner, signal) = (tracker.tracked(), tracker.tracked(), Signal::default());
    let mut inner = Some(inner);
    let waiting = signal.clone();
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let cancelled = is_cancelled.clone();
    drop(pool.handle().spawn_on(1, move || {
        let _ = &tracked;
        let guard = OnDrop(move || {
            let bound = Bound::new(inner.take().unwrap());
            let task = spawn_local(async move { bound.check() });
            // A panic of a drop is contained, so the test checks the result later.
            cancelled.store(task.is_finished(), Ordering::SeqCst);
        });
        async move {
            let _guard = (guard, tracked);
            waiting.await;
        }
    }));
    wait_until(|| signal.polls() == 1);
    drop(pool);
    assert!(is_cancelled.load(Ordering::SeqCst));
    assert_eq!(tracker.alive(), 0);
}

#[test]
fn hooks_are_called_for_local_tasks() {
    let hook_calls = DropTracker::default();
    let (spawned, ended) = (hook_calls.clone(), hook_calls.clone());
    let config = Config {
        workers: 1,
        policy: Policy::Sharded,
        task_hooks: TaskHooks {
            on_spawn: Some(Arc::new(move |_| drop(spawned.tracked()))),
            on_terminate: Some(Arc::new(move |_| drop(ended.tracked()))),
            ..TaskHooks::default()
        },
        ..Config::default()
    };
    let pool = Pool::start(config, None).unwrap();
    let task = pool.handle().spawn_on(0, || async {
        let rc = Rc::new(7);
        *spawn_local(async move { rc }).await.unwrap()
    });
    assert_eq!(pool.handle().block_on(task).unwrap(), 7);
    drop(pool);
    assert_eq!(
        hook_calls.dropped(),
        4,
        "the hooks ran for two spawns and two ends"
    );
}

#[test]
fn functions_that_need_a_sharded_pool_panic_and_name_the_remedy() {
    for policy in SHARING {
        let pool = pool_of(policy, 2);
        let message = message_of(|| drop(pool.handle().spawn_on(0, || async {})));
        assert_eq!(
            message,
            "spawn_on needs workers that keep their tasks; use Policy::Sharded"
        );
        let task = pool
            .handle()
            .spawn(async { message_of(|| drop(spawn_local(async {}))) });
        let inside = pool.handle().block_on(task).unwrap();
        assert!(
            inside.starts_with("spawn_local was called outside the workers of a sharded scheduler")
        );
    }
    let pool = sharded(2);
    let message = message_of(|| drop(pool.handle().spawn_on(2, || async {})));
    assert_eq!(
        message,
        "there is no worker 2; pass a number below 2, the number of workers"
    );
    let _guard = pool.handle().enter();
    let message = message_of(|| drop(spawn_local(async {})));
    assert!(
        message.starts_with("spawn_local was called outside the workers of a sharded scheduler")
    );
}

/// A worker enters another pool inside a task. It has no local tasks in that pool.
#[test]
fn spawn_local_is_for_the_current_scheduler() {
    let (ours, theirs) = (sharded(1), sharded(1));
    let other = theirs.handle().clone();
    let task = ours.handle().spawn_on(0, move || async move {
        let _guard = other.enter();
        message_of(|| drop(spawn_local(async {})))
    });
    let message = ours.handle().block_on(task).unwrap();
    assert!(message.starts_with("spawn_local was called outside"));
}

#[test]
fn a_worker_with_tasks_stays_on_its_thread() {
    let (handle, mut workers) = stepped(2);
    let _guard = handle.enter();
    let tracker = DropTracker::default();
    let tracked = tracker.tracked();
    let signal = Signal::default();
    let waiting = signal.clone();
    drop(handle.spawn_on(0, move || Checked(Bound::new(tracked), waiting)));
    run(&mut workers[0]);
    let worker = workers.remove(0);
    thread::scope(|scope| {
        // A worker is `Send`, so it may move to another thread and back.
        let mut worker = scope
            .spawn(move || {
                let mut worker = worker;
                for use_it in [
                    (|worker| assert_eq!(worker.step(), Step::Idle)) as fn(&mut Worker),
                    |worker| worker.park(),
                    |worker| assert!(worker.begin_park().is_none()),
                ] {
                    let message = message_of(|| use_it(&mut worker));
                    assert!(message.starts_with("a worker of a sharded scheduler was used on"));
                }
                worker
            })
            .join()
            .unwrap();
        assert_eq!(tracker.alive(), 1);
        // Its own thread may use it.
        signal.set();
        run(&mut worker);
        assert_eq!(tracker.alive(), 0);
        // A worker without tasks may be dropped on any thread.
        scope.spawn(move || drop(worker)).join().unwrap();
    });
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_worker_dropped_elsewhere_is_leaked_with_its_tasks() {
    for parked in [false, true] {
        let (handle, mut workers) = stepped(2);
        let _guard = handle.enter();
        let tracker = DropTracker::default();
        let (tracked, signal) = (tracker.tracked(), Signal::default());
        let waiting = signal.clone();
        drop(handle.spawn_on(0, move || Checked(Bound::new(tracked), waiting)));
        run(&mut workers[0]);
        if parked {
            assert!(workers[0].begin_park().is_some());
        }
        let worker = workers.remove(0);
        let message = thread::spawn(|| message_of(|| drop(worker)))
            .join()
            .unwrap();
        assert!(message.starts_with("a worker of a sharded scheduler was dropped on another"));
        assert_eq!(tracker.alive(), 1);
        // A wake no longer reaches the task.
        signal.set();
        drop(workers);
        assert_eq!(tracker.alive(), 1);
    }
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_worker_dropped_elsewhere_is_leaked_with_the_tasks_in_its_queue() {
    let (handle, mut workers) = stepped(1);
    let _guard = handle.enter();
    let tracker = DropTracker::default();
    let tracked = tracker.tracked();
    drop(handle.spawn_on(0, move || {
        Checked(Bound::new(tracked), SelfWaking(Arc::default()))
    }));
    assert_eq!(workers[0].step(), Step::Ran);
    let message = thread::spawn(|| message_of(|| drop(workers)))
        .join()
        .unwrap();
    assert!(message.starts_with("a worker of a sharded scheduler was dropped on another"));
    assert_eq!(tracker.alive(), 1);
}

/// The drop happens during a panic: a second panic would abort the process.
#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_worker_dropped_elsewhere_by_a_panic_is_leaked_quietly() {
    let (handle, mut workers) = stepped(1);
    let _guard = handle.enter();
    let tracker = DropTracker::default();
    let tracked = tracker.tracked();
    drop(handle.spawn_on(0, move || {
        Checked(Bound::new(tracked), std::future::pending::<()>())
    }));
    run(&mut workers[0]);
    let outcome = thread::spawn(move || {
        let _workers = workers;
        panic!("on purpose");
    })
    .join();
    assert_eq!(
        *outcome.unwrap_err().downcast::<&str>().unwrap(),
        "on purpose"
    );
    assert_eq!(tracker.alive(), 1);
}

/// The other shards continue. Spawns from outside skip the shard that has shut down.
#[test]
fn a_worker_that_is_dropped_early_ends_only_its_shard() {
    let (handle, mut workers) = stepped(3);
    let _guard = handle.enter();
    let tracker = DropTracker::default();
    for (number, worker) in workers.iter_mut().enumerate() {
        let tracked = tracker.tracked();
        drop(handle.spawn_on(number, move || {
            Checked(Bound::new(tracked), std::future::pending::<()>())
        }));
        run(worker);
    }
    drop(workers.remove(1));
    assert_eq!(tracker.alive(), 2);
    let tasks: Vec<_> = (0..6).map(|_| handle.spawn(async {})).collect();
    workers.iter_mut().for_each(run);
    assert!(tasks.iter().all(|task| task.is_finished()));
    assert_eq!(handle.metrics().worker(1).polls, 1);
    let refused = handle.spawn_on(1, || async {});
    assert!(handle.block_on(refused).unwrap_err().is_cancelled());
    drop(workers);
    assert_eq!(tracker.alive(), 0);
}

#[test]
fn a_driver_for_several_shards_is_refused() {
    let events = Events::new();
    let config = Config {
        workers: 2,
        policy: Policy::Sharded,
        ..Config::default()
    };
    let message = message_of(|| {
        let driver = Events::driver(&events);
        drop(Pool::start(config, [driver]));
    });
    assert_eq!(
        message,
        "a scheduler has one driver or none, and a sharded scheduler has one for each worker or \
         none; this one has places for 2, but got 1"
    );
}

/// Each worker waits in its own driver, and the driver's events wake tasks on that worker.
#[test]
fn each_worker_has_its_driver() {
    let events: Vec<_> = (0..2).map(|_| Events::new()).collect();
    let drivers = events.iter().map(|events| Events::driver(events));
    let config = Config {
        workers: 2,
        policy: Policy::Sharded,
        ..Config::default()
    };
    let pool = Pool::start(config, drivers).unwrap();
    assert_eq!(pool.handle().workers(), 2);
    for (worker, events) in events.iter().enumerate() {
        let handle = pool.handle().clone();
        let signal = Signal::default();
        let waiting = signal.clone();
        let task = pool.handle().spawn_on(worker, move || async move {
            waiting.await;
            handle.current_worker()
        });
        wait_until(|| signal.waker().is_some());
        let before = pool.handle().metrics().remote_schedules();
        let waker = std::task::Waker::from(Arc::new(Setting(signal)));
        events.raise([waker]);
        assert_eq!(pool.handle().block_on(task).unwrap(), Some(worker));
        // The task was woken on its own worker.
        assert_eq!(pool.handle().metrics().remote_schedules(), before);
    }
    drop(pool);
    for events in events {
        assert_eq!(events.with(|state| state.shutdowns), 1);
    }
}

/// A waker that sets a signal.
struct Setting(Signal);

impl std::task::Wake for Setting {
    fn wake(self: Arc<Self>) {
        self.0.set();
    }
}

/// A local task that has not been polled yet keeps its worker on its thread.
#[test]
fn a_local_task_in_the_queue_keeps_the_worker_on_its_thread() {
    let (handle, mut workers) = stepped(1);
    let _guard = handle.enter();
    let tracker = DropTracker::default();
    let tracked = tracker.tracked();
    drop(handle.spawn_on(0, move || async move {
        let bound = Bound::new(tracked);
        drop(spawn_local(async move { bound.check() }));
    }));
    assert_eq!(workers[0].step(), Step::Ran);
    assert_eq!(handle.metrics().worker(0).local_queue_depth, 1);
    let mut workers = thread::spawn(move || {
        let message = message_of(|| _ = workers[0].step());
        assert!(message.starts_with("a worker of a sharded scheduler was used on"));
        workers
    })
    .join()
    .unwrap();
    assert_eq!(tracker.alive(), 1);
    run(&mut workers[0]);
    assert_eq!(tracker.alive(), 0);
}
