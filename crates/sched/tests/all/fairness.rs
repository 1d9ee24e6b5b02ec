//! Which task runs when, counted in steps of workers that the test drives itself.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};

use crate::common::driver::Events;
use crate::common::{POLICIES, SelfWaking, Signal, config, config_of};
use raddle_primitives::sync::Mutex;
use raddle_sched::{Config, Handle, Policy, Pool, Step, Worker, spawn, yield_now};

fn stepped(config: Config) -> (Handle, Worker) {
    let (handle, mut workers) = Pool::stepped(config, None);
    (handle, workers.pop().unwrap())
}

/// Steps the worker until a condition holds, and returns the number of steps.
fn steps_until(worker: &mut Worker, limit: usize, condition: impl Fn() -> bool) -> usize {
    for steps in 0..=limit {
        if condition() {
            return steps;
        }
        assert_eq!(worker.step(), Step::Ran);
    }
    panic!("the condition did not hold within {limit} steps");
}

/// Two tasks that wake each other without end, through the next-task slot.
fn ping_pong(polls: &Arc<AtomicUsize>) -> [impl Future<Output = ()> + Send + 'static; 2] {
    let wakers: Arc<[Mutex<Option<Waker>>; 2]> = Arc::default();
    [0, 1].map(|me| {
        let (wakers, polls) = (wakers.clone(), polls.clone());
        poll_fn(move |cx| {
            polls.fetch_add(1, Ordering::Relaxed);
            let mine = cx.waker().clone();
            drop(wakers[me].lock().replace(mine));
            let other = wakers[1 - me].lock().clone();
            if let Some(other) = other {
                other.wake();
            }
            Poll::<()>::Pending
        })
    })
}

/// tokio 2349, 5712.
#[test]
fn a_pair_that_wakes_each_other_does_not_starve_a_third() {
    let (handle, mut worker) = stepped(config(1));
    let _guard = handle.enter();
    let pair_polls = Arc::new(AtomicUsize::new(0));
    let pair = ping_pong(&pair_polls);
    let third = Arc::new(AtomicUsize::new(0));
    let theirs = third.clone();
    let start = handle.spawn(async move {
        for task in pair {
            drop(spawn(task));
        }
        drop(spawn(SelfWaking(theirs)));
    });
    steps_until(&mut worker, 10, || third.load(Ordering::SeqCst) == 1);
    for _ in 0..20 {
        assert_eq!(worker.step(), Step::Ran);
    }
    for _ in 0..1000 {
        let (pairs, thirds) = (
            pair_polls.load(Ordering::Relaxed),
            third.load(Ordering::SeqCst),
        );
        // The worker takes from the slot three times at most, then from the queue.
        steps_until(&mut worker, 4, || third.load(Ordering::SeqCst) > thirds);
        assert!(pair_polls.load(Ordering::Relaxed) - pairs <= 3);
    }
    assert!(
        pair_polls.load(Ordering::Relaxed) > 2000,
        "the slot is not used"
    );
    assert!(start.is_finished());
}

#[test]
fn a_woken_task_runs_before_queued_tasks() {
    let (handle, mut worker) = stepped(config(1));
    let _guard = handle.enter();
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let order = order.clone();
        async move { order.lock().push(name) }
    };
    let (queued, woken, last) = (note("queued"), note("woken"), note("spawner"));
    let wake = Signal::default();
    let waiting = wake.clone();
    let woken = async move {
        waiting.await;
        woken.await;
    };
    drop(handle.spawn(woken));
    while worker.step() == Step::Ran {}
    drop(handle.spawn(async move {
        drop(spawn(queued));
        wake.set();
        last.await;
    }));
    while worker.step() == Step::Ran {}
    assert_eq!(*order.lock(), ["spawner", "woken", "queued"]);
}

/// tokio 5720: a task from outside is polled within `global_queue_interval` steps and one.
#[test]
fn a_spawn_from_outside_is_not_starved_by_a_busy_worker() {
    for policy in POLICIES {
        for interval in [1, 2, 7, 31] {
            let (handle, mut worker) = stepped(Config {
                global_queue_interval: interval,
                ..config_of(policy, 1)
            });
            let _guard = handle.enter();
            for _ in 0..3 {
                drop(handle.spawn(SelfWaking(Arc::default())));
            }
            // The tasks move from the injection queue to the worker's queue.
            for _ in 0..10 * interval {
                assert_eq!(worker.step(), Step::Ran);
            }
            for offset in 0..interval {
                for _ in 0..offset {
                    assert_eq!(worker.step(), Step::Ran);
                }
                let task = handle.spawn(async {});
                let limit = match policy {
                    // The new task is behind the three others.
                    Policy::Shared => 4,
                    _ => interval as usize + 1,
                };
                steps_until(&mut worker, limit, || task.is_finished());
            }
        }
    }
}

/// The same when a pair of tasks in the slot keeps the worker busy.
#[test]
fn a_spawn_from_outside_is_not_starved_by_the_slot() {
    let (handle, mut worker) = stepped(config(1));
    let _guard = handle.enter();
    for task in ping_pong(&Arc::default()) {
        drop(handle.spawn(task));
    }
    for _ in 0..100 {
        let task = handle.spawn(async {});
        steps_until(&mut worker, 32, || task.is_finished());
    }
}

#[test]
fn a_task_that_wakes_itself_does_not_starve_another() {
    for policy in POLICIES {
        let (handle, mut worker) = stepped(config_of(policy, 1));
        let _guard = handle.enter();
        let polls = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        for polls in &polls {
            drop(handle.spawn(SelfWaking(polls.clone())));
        }
        for _ in 0..1000 {
            assert_eq!(worker.step(), Step::Ran);
        }
        let [first, second] = polls.map(|polls| polls.load(Ordering::SeqCst));
        assert_eq!(first + second, 1000);
        assert!(first.abs_diff(second) <= 32, "{first} against {second}");
    }
}

#[test]
fn yielding_lets_every_other_task_run() {
    for policy in POLICIES {
        let (handle, mut worker) = stepped(config_of(policy, 1));
        let _guard = handle.enter();
        let order = Arc::new(Mutex::new(Vec::new()));
        let theirs = order.clone();
        drop(handle.spawn(async move {
            for name in 0..3 {
                let order = theirs.clone();
                drop(spawn(async move {
                    for _ in 0..3 {
                        order.lock().push(name);
                        yield_now().await;
                    }
                }));
            }
        }));
        while worker.step() == Step::Ran {}
        let order = order.lock();
        for round in order.chunks(3) {
            let mut round = round.to_vec();
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2], "{order:?}");
        }
    }
}

/// A busy worker polls the driver every `event_interval` steps.
#[test]
fn a_busy_worker_polls_the_driver() {
    for policy in POLICIES {
        for interval in [1, 5, 61] {
            let events = Events::new();
            let (handle, mut workers) = Pool::stepped(
                Config {
                    event_interval: Some(interval),
                    ..config_of(policy, 1)
                },
                Some(Events::driver(&events)),
            );
            let worker = &mut workers[0];
            let _guard = handle.enter();
            drop(handle.spawn(SelfWaking(Arc::default())));
            let signal = Signal::default();
            drop(handle.spawn(signal.clone()));
            steps_until(worker, 40, || signal.polls() == 1);
            for _ in 0..10 {
                let polls = signal.polls();
                events.raise(signal.waker());
                steps_until(worker, interval as usize + 1, || signal.polls() > polls);
            }
        }
    }
}

/// A task in the slot would pass those that have waited longer, again and again under load.
#[test]
fn tasks_that_events_wake_go_behind_those_that_wait() {
    let events = Events::new();
    let config = Config {
        event_interval: Some(1),
        ..config_of(Policy::WorkStealing, 1)
    };
    let (handle, mut workers) = Pool::stepped(config, Some(Events::driver(&events)));
    let worker = &mut workers[0];
    let _guard = handle.enter();
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: u32| {
        let order = order.clone();
        async move { order.lock().push(name) }
    };
    let signals: [Signal; 2] = Default::default();
    for (name, signal) in (3..).zip(&signals) {
        let (signal, noted) = (signal.clone(), note(name));
        drop(handle.spawn(async move {
            signal.await;
            noted.await;
        }));
    }
    while worker.step() == Step::Ran {}
    let noted = [0, 1, 2].map(note);
    drop(handle.spawn(async move {
        for noted in noted {
            drop(spawn(noted));
        }
    }));
    // The task that spawns the others, and the one in the slot.
    for _ in 0..2 {
        assert_eq!(worker.step(), Step::Ran);
    }
    for signal in &signals {
        events.raise(signal.prepare());
    }
    while worker.step() == Step::Ran {}
    assert_eq!(*order.lock(), [0, 1, 2, 3, 4]);
}

#[test]
fn a_task_that_an_event_wakes_goes_before_tasks_that_have_yielded() {
    let events = Events::new();
    let config = Config {
        global_queue_interval: 1000,
        event_interval: Some(1000),
        ..config_of(Policy::WorkStealing, 1)
    };
    let (handle, mut workers) = Pool::stepped(config, Some(Events::driver(&events)));
    let _guard = handle.enter();
    let signal = Signal::default();
    drop(handle.spawn(signal.clone()));
    for _ in 0..3 {
        drop(handle.spawn(async {
            loop {
                yield_now().await;
            }
        }));
    }
    for _ in 0..10 {
        assert_eq!(workers[0].step(), Step::Ran);
    }
    events.raise(signal.waker());
    // The driver is polled when all three tasks have yielded.
    steps_until(&mut workers[0], 4, || signal.polls() == 2);
}

/// The driver is polled when each queued task has yielded since the last driver poll. A task that
/// wakes itself has not yielded.
#[test]
fn yielding_tasks_cause_one_driver_poll_a_round() {
    for policy in POLICIES {
        for tasks in [1, 2, 3, 10] {
            let events = Events::new();
            let config = Config {
                global_queue_interval: 1000,
                event_interval: Some(1000),
                ..config_of(policy, 1)
            };
            let (handle, mut workers) = Pool::stepped(config, Some(Events::driver(&events)));
            let worker = &mut workers[0];
            let _guard = handle.enter();
            for _ in 0..tasks {
                drop(handle.spawn(async {
                    loop {
                        yield_now().await;
                    }
                }));
            }
            let driver_polls_in = |worker: &mut Worker, steps: usize| {
                let before = events.with(|state| state.parks);
                for _ in 0..steps {
                    assert_eq!(worker.step(), Step::Ran);
                }
                events.with(|state| state.parks) - before
            };
            // After these steps, all tasks are in the queue.
            driver_polls_in(worker, 3 * tasks);
            for _ in 0..5 {
                assert_eq!(
                    driver_polls_in(worker, tasks),
                    1,
                    "{policy:?}, {tasks} tasks"
                );
            }
        }
        let events = Events::new();
        let driver = Events::driver(&events);
        let (handle, mut workers) = Pool::stepped(config_of(policy, 1), Some(driver));
        let _guard = handle.enter();
        drop(handle.spawn(SelfWaking(Arc::default())));
        for _ in 0..50 {
            assert_eq!(workers[0].step(), Step::Ran);
        }
        assert_eq!(events.with(|state| state.parks), 0);
    }
}

/// As many always-ready tasks as the queue holds leave no room for events. An event is still
/// dispatched.
#[test]
fn events_are_dispatched_while_the_queue_is_full() {
    let events = Events::new();
    let (handle, mut workers) = Pool::stepped(config(1), Some(Events::driver(&events)));
    let worker = &mut workers[0];
    let _guard = handle.enter();
    let signal = Signal::default();
    drop(handle.spawn(signal.clone()));
    steps_until(worker, 1, || signal.polls() == 1);
    let busy = Arc::new(AtomicUsize::new(0));
    let theirs = busy.clone();
    drop(handle.spawn(async move {
        for _ in 0..256 {
            drop(spawn(SelfWaking(theirs.clone())));
        }
    }));
    steps_until(worker, 1000, || busy.load(Ordering::SeqCst) > 500);
    events.raise(signal.waker());
    steps_until(worker, 200, || signal.polls() == 2);
}

/// A task that another worker steals runs once.
#[test]
fn a_worker_without_work_steals() {
    let (handle, mut workers) = Pool::stepped(config(2), None);
    let _guard = handle.enter();
    let ran = Arc::new(AtomicUsize::new(0));
    let theirs = ran.clone();
    drop(handle.spawn(async move {
        for _ in 0..10 {
            let ran = theirs.clone();
            drop(spawn(async move {
                ran.fetch_add(1, Ordering::Relaxed);
            }));
        }
    }));
    let [first, second] = &mut workers[..] else {
        unreachable!()
    };
    assert_eq!(first.step(), Step::Ran);
    while second.step() == Step::Ran {}
    let stolen = ran.load(Ordering::Relaxed);
    assert!(stolen >= 5, "{stolen}");
    while first.step() == Step::Ran {}
    assert_eq!(ran.load(Ordering::Relaxed), 10);
}

/// async-executor 104: the queued tasks of a worker that is dropped early go to the other workers.
#[test]
fn a_dropped_worker_leaves_its_tasks_to_the_others() {
    let (handle, mut workers) = Pool::stepped(config(2), None);
    let _guard = handle.enter();
    let ran = Arc::new(AtomicUsize::new(0));
    let theirs = ran.clone();
    drop(handle.spawn(async move {
        for _ in 0..10 {
            let ran = theirs.clone();
            drop(spawn(async move {
                ran.fetch_add(1, Ordering::Relaxed);
            }));
        }
    }));
    assert_eq!(workers[0].step(), Step::Ran);
    drop(workers.remove(0));
    while workers[0].step() == Step::Ran {}
    assert_eq!(ran.load(Ordering::Relaxed), 10);
}

/// The woken task goes behind the tasks that it joins, which are in the queue, and finds all of
/// them done.
#[test]
fn a_task_that_joins_many_is_not_polled_for_each() {
    let (handle, mut worker) = stepped(config(1));
    let _guard = handle.enter();
    let polls = Arc::new(AtomicUsize::new(0));
    let theirs = polls.clone();
    let joining = handle.spawn(async move {
        let children: Vec<_> = (0..100).map(|_| spawn(async {})).collect();
        let mut all = Box::pin(async move {
            for child in children {
                child.await.unwrap();
            }
        });
        poll_fn(move |cx| {
            theirs.fetch_add(1, Ordering::Relaxed);
            all.as_mut().poll(cx)
        })
        .await;
    });
    steps_until(&mut worker, 110, || joining.is_finished());
    assert!(polls.load(Ordering::Relaxed) < 10);
}

/// Under `Shared` all workers take tasks from one queue, in the order in which they became ready:
/// spawned or woken, on a worker or outside.
#[test]
fn a_shared_queue_is_in_order_over_all_workers() {
    let (handle, mut workers) = Pool::stepped(config_of(Policy::Shared, 3), None);
    let _guard = handle.enter();
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: usize| {
        let order = order.clone();
        move || order.lock().push(name)
    };
    let signal = Signal::default();
    let (woken, waiting) = (note(5), signal.clone());
    drop(handle.spawn(async move {
        waiting.await;
        woken();
    }));
    assert_eq!(workers[0].step(), Step::Ran);
    for place in [0, 1] {
        let (first, again) = (note(place), note(place + 3));
        drop(handle.spawn(async move {
            first();
            yield_now().await;
            again();
        }));
    }
    let (last, spawned, waker) = (note(2), note(6), signal.clone());
    drop(handle.spawn(async move {
        last();
        waker.set();
        let task = async move { spawned() };
        drop(spawn(task));
    }));
    for turn in 0..7 {
        assert_eq!(workers[turn * 2 % 3].step(), Step::Ran);
    }
    assert_eq!(*order.lock(), [0, 1, 2, 3, 4, 5, 6]);
}

/// `n` tasks that are always ready are each polled once in `n` steps of all workers together.
#[test]
fn a_shared_queue_polls_each_ready_task_once_a_round() {
    let (handle, mut workers) = Pool::stepped(config_of(Policy::Shared, 2), None);
    let _guard = handle.enter();
    let polls: Vec<_> = (0..300).map(|_| Arc::new(AtomicUsize::new(0))).collect();
    for polls in &polls {
        drop(handle.spawn(SelfWaking(polls.clone())));
    }
    for round in 1..=5 {
        for step in 0..300 {
            assert_eq!(workers[step % 2].step(), Step::Ran);
        }
        assert!(
            polls
                .iter()
                .all(|polls| polls.load(Ordering::SeqCst) == round)
        );
    }
}

/// Many events at once do not make a driver poll longer than its limit, and the next driver polls
/// dispatch the rest.
#[test]
fn a_shared_queue_takes_events_in_batches() {
    let events = Events::new();
    let driver = Events::driver(&events);
    let (handle, mut workers) = Pool::stepped(config_of(Policy::Shared, 1), Some(driver));
    let _guard = handle.enter();
    let signals: Vec<_> = (0..600).map(|_| Signal::default()).collect();
    for signal in &signals {
        drop(handle.spawn(signal.clone()));
    }
    for _ in 0..600 {
        assert_eq!(workers[0].step(), Step::Ran);
    }
    drop(handle.spawn(SelfWaking(Arc::default())));
    events.raise(signals.iter().filter_map(Signal::waker));
    steps_until(&mut workers[0], 1500, || {
        signals.iter().all(|signal| signal.polls() == 2)
    });
    assert_eq!(events.with(|state| state.largest_batch), 256);
}

/// Tasks from outside get half of the polls, not one in `global_queue_interval`.
#[test]
fn many_spawns_from_outside_get_half_of_the_polls() {
    let (handle, mut worker) = stepped(config(1));
    let _guard = handle.enter();
    for _ in 0..3 {
        drop(handle.spawn(SelfWaking(Arc::default())));
    }
    for _ in 0..100 {
        assert_eq!(worker.step(), Step::Ran);
    }
    let tasks: Vec<_> = (0..310).map(|_| handle.spawn(async {})).collect();
    let all = || tasks.iter().all(raddle_task::JoinHandle::is_finished);
    steps_until(&mut worker, 1000, all);
}
