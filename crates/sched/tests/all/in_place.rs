//! A task that blocks in place keeps only its thread: the worker moves to another thread.

use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Barrier, mpsc};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use crate::common::handoff::Handoffs;
use crate::common::{
    DropTracker, Gate, Signal, config, config_without_spares, current_thread, message_of,
    wait_until,
};
use raddle_primitives::sync::Mutex;
use raddle_sched::{
    Config, Driver, Handle, Handoff, Observer, Pool, SpawnedTask, UnhandledPanic, Unpark,
    block_in_place, is_inside, spawn, yield_now,
};
use raddle_task::Id;

/// Runs `body` as a task of a pool and returns its output.
fn run<F>(workers: usize, body: F) -> F::Output
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let handoffs = Handoffs::default();
    let pool = handoffs.pool(config(workers));
    let task = pool.handle().spawn(body);
    let output = pool.handle().block_on(task).unwrap();
    wait_until(|| pool.handle().metrics().alive_tasks() == 0);
    drop(pool);
    handoffs.join();
    output
}

/// Blocks in place until another thread has taken the worker.
fn force_handoff() {
    block_in_place(|| {
        let handle = Handle::current();
        handle.block_on(handle.spawn(async {})).unwrap();
    });
}

#[test]
fn the_task_in_the_slot_runs_while_the_thread_blocks() {
    run(1, async {
        let gate = Gate::default();
        let theirs = gate.clone();
        drop(spawn(async move { theirs.open() }));
        block_in_place(|| gate.wait());
    });
}

#[test]
fn queued_and_injected_tasks_run_while_the_thread_blocks() {
    run(1, async {
        let here: Vec<_> = (0..100).map(|n| spawn(async move { n })).collect();
        let sum: usize = block_in_place(|| {
            let handle = Handle::current();
            let there: Vec<_> = (0..100).map(|n| handle.spawn(async move { n })).collect();
            let join = async |tasks| {
                let mut sum = 0;
                for task in tasks {
                    let task: raddle_task::JoinHandle<usize> = task;
                    sum += task.await.unwrap();
                }
                sum
            };
            handle.block_on(join(here)) + handle.block_on(join(there))
        });
        assert_eq!(sum, 9900);
    });
}

#[test]
fn a_blocking_function_and_a_task_exchange_messages() {
    run(1, async {
        let (question, asked) = mpsc::channel::<usize>();
        let signal = Signal::default();
        let (theirs, answers) = (signal.clone(), Arc::new(AtomicUsize::new(0)));
        let answer = answers.clone();
        drop(spawn(async move {
            loop {
                theirs.clone().await;
                let Ok(number) = asked.try_recv() else { return };
                answer.store(number + 1, SeqCst);
            }
        }));
        block_in_place(|| {
            for round in 1..=100 {
                question.send(round).unwrap();
                signal.set();
                wait_until(|| answers.load(SeqCst) == round + 1);
            }
            drop(question);
            signal.set();
        });
    });
}

/// The first task releases the lock after the function, in the same poll. Meanwhile the thread that
/// drives the worker waits for the lock.
#[test]
fn a_task_that_waits_for_a_lock_held_over_the_function_does_not_deadlock() {
    run(1, async {
        let lock = Arc::new(Mutex::new(0));
        let (theirs, waits) = (lock.clone(), Gate::default());
        let about_to_wait = waits.clone();
        let other = spawn(async move {
            about_to_wait.open();
            *theirs.lock() += 1;
        });
        {
            let mut guard = lock.lock();
            block_in_place(|| waits.wait());
            *guard += 1;
        }
        other.await.unwrap();
        assert_eq!(*lock.lock(), 2);
    });
}

#[test]
fn a_handed_off_task_may_wait_and_yield_and_spawn() {
    run(1, async {
        for _ in 0..100 {
            force_handoff();
            yield_now().await;
            force_handoff();
            let signal = Signal::default();
            let theirs = signal.clone();
            let waiting = spawn(async move {
                force_handoff();
                theirs.await;
            });
            wait_until_polled(&signal).await;
            signal.set();
            force_handoff();
            waiting.await.unwrap();
            drop(spawn(async { force_handoff() }));
        }
    });
}

async fn wait_until_polled(signal: &Signal) {
    while signal.polls() == 0 {
        yield_now().await;
    }
}

#[test]
fn a_handed_off_thread_is_no_worker_and_stays_inside_the_scheduler() {
    run(1, async {
        assert!(is_inside());
        let before = thread::current().id();
        block_in_place(|| assert!(!is_inside()));
        force_handoff();
        assert_eq!(thread::current().id(), before, "in the same poll");
        assert!(is_inside());
        let message = message_of(|| Handle::current().block_on(async {}));
        assert!(message.starts_with("block_on was called inside a runtime"));
        yield_now().await;
        assert_ne!(thread::current().id(), before);
        // The same in the first poll of each new thread.
        for _ in 0..3 {
            force_handoff();
            assert!(is_inside());
        }
    });
}

/// A thread of the caller drives the worker until another thread does.
#[test]
fn a_thread_that_has_driven_a_worker_may_block_and_shut_down_afterwards() {
    let (offers, handoffs) = mpsc::channel::<Handoff>();
    let config = Config {
        handoff: Some(Arc::new(move |handoff| offers.send(handoff).unwrap())),
        ..config_without_spares(1)
    };
    let mut pool = Pool::start(config, None).unwrap();
    let handle = pool.handle().clone();
    let (first, second) = (Gate::default(), Gate::default());
    let waits = first.clone();
    drop(handle.spawn(async move { block_in_place(|| waits.wait()) }));
    let handoff = handoffs.recv().unwrap();
    let (waits, opening_gate) = (second.clone(), second);
    drop(handle.spawn(async move { block_in_place(|| waits.wait()) }));
    drop(handle.spawn(async move { opening_gate.open() }));
    let other = thread::spawn(move || handoffs.recv().unwrap().run());
    handoff.run();
    assert!(!is_inside());
    // The pool's first thread is still in its function, so the shutdown waits for it.
    let opener = thread::spawn(move || {
        wait_until(|| handle.spawn(pending::<()>()).is_finished());
        thread::sleep(Duration::from_millis(10));
        first.open();
    });
    assert!(
        pool.shutdown(None),
        "a thread that has driven a worker cannot wait for the shutdown"
    );
    opener.join().unwrap();
    other.join().unwrap();
}

#[test]
fn nested_blocking_functions_are_called() {
    let number = run(1, async {
        block_in_place(|| block_in_place(|| block_in_place(|| 7)))
            + block_in_place(|| {
                force_handoff();
                block_in_place(|| Handle::current().block_on(async { block_in_place(|| 7) }))
            })
    });
    assert_eq!(number, 14);
}

#[test]
fn a_panic_of_the_function_is_that_of_the_task() {
    run(1, async {
        for hands_off in [false, true] {
            let fails = move || -> () {
                if hands_off {
                    force_handoff();
                }
                panic!("planted");
            };
            let message = message_of(|| block_in_place(fails));
            assert_eq!(message, "planted");
            assert!(is_inside());
            spawn(async {}).await.unwrap();
            let error = spawn(async move { block_in_place(fails) }).await;
            assert!(error.unwrap_err().is_panic());
        }
    });
}

#[test]
fn no_budget_is_in_force_inside_the_function() {
    run(1, async {
        let spend = |cx: &mut std::task::Context<'_>| {
            raddle_leaf::coop::poll_proceed(cx).map(|unit| unit.made_progress())
        };
        poll_fn(|cx| {
            // The budget may be partly spent already, so use it up.
            while spend(cx).is_ready() {}
            block_in_place(|| {
                for _ in 0..1000 {
                    assert!(spend(cx).is_ready());
                }
            });
            assert!(spend(cx).is_pending(), "the function changed the budget");
            Poll::Ready(())
        })
        .await;
    });
}

#[test]
fn an_aborted_task_is_dropped_after_its_function() {
    let tracker = DropTracker::default();
    let tracked = tracker.tracked();
    run(1, async {
        let (entered, gate) = (Gate::default(), Gate::default());
        let (inside, theirs) = (entered.clone(), gate.clone());
        let task = spawn(async move {
            let _tracked = tracked;
            block_in_place(|| {
                inside.open();
                theirs.wait();
            });
            pending::<()>().await;
        });
        block_in_place(|| entered.wait());
        task.abort();
        gate.open();
        assert!(task.await.unwrap_err().is_cancelled());
    });
    assert_eq!(tracker.dropped(), 1);
}

/// All hundred tasks are in their functions at the same time, on two workers.
#[test]
fn a_hundred_tasks_block_at_the_same_time() {
    let handoffs = Handoffs::default();
    let pool = handoffs.pool(config(2));
    let barrier = Arc::new(Barrier::new(100));
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let barrier = barrier.clone();
            pool.handle().spawn(async move {
                for _ in 0..3 {
                    block_in_place(|| barrier.wait());
                    yield_now().await;
                }
            })
        })
        .collect();
    for task in tasks {
        pool.handle().block_on(task).unwrap();
    }
    wait_until(|| pool.handle().metrics().alive_tasks() == 0);
    drop(pool);
    handoffs.join();
}

/// The thread for the handoff comes too late, or never.
#[test]
fn without_another_thread_the_function_is_called_anyway() {
    let kept = Arc::new(Mutex::new(Vec::<Handoff>::new()));
    let theirs = kept.clone();
    let handoffs: [raddle_sched::StartHandoff; 3] = [
        Arc::new(drop),
        Arc::new(move |handoff| theirs.lock().push(handoff)),
        Arc::new(|_| panic!("planted")),
    ];
    for (number, handoff) in handoffs.into_iter().enumerate() {
        let config = Config {
            handoff: Some(handoff),
            ..config(1)
        };
        let pool = Pool::start(config, None).unwrap();
        let task = pool.handle().spawn(async move {
            let before = thread::current().id();
            for _ in 0..10 {
                drop(spawn(async {}));
                match number {
                    2 => assert_eq!(message_of(|| block_in_place(|| ())), "planted"),
                    _ => assert_eq!(block_in_place(|| 7), 7),
                }
                assert!(is_inside());
                yield_now().await;
                assert_eq!(thread::current().id(), before);
            }
        });
        pool.handle().block_on(task).unwrap();
        assert_eq!(
            kept.lock().len(),
            usize::from(number == 1),
            "one handoff was requested"
        );
        // These handoffs find no worker to drive.
        std::mem::take(&mut *kept.lock())
            .into_iter()
            .for_each(Handoff::run);
        let metrics = pool.handle().metrics();
        wait_until(|| metrics.alive_tasks() == 0);
        assert_eq!(metrics.remote_schedules(), 1);
    }
}
/// The thread that the first function requested arrives after the function has returned, and finds
/// no worker. The second function requests another.
#[test]
fn a_handoff_that_arrives_too_late_is_requested_again() {
    let asked = Arc::new(Mutex::new(Vec::<Handoff>::new()));
    let asks = asked.clone();
    let config = Config {
        handoff: Some(Arc::new(move |handoff| asks.lock().push(handoff))),
        ..config_without_spares(1)
    };
    let pool = Pool::start(config, None).unwrap();
    let theirs = asked.clone();
    let task = pool.handle().spawn(async move {
        block_in_place(|| ());
        let late = std::mem::take(&mut *theirs.lock());
        assert_eq!(late.len(), 1);
        let late = thread::spawn(|| late.into_iter().for_each(Handoff::run));
        late.join().unwrap();
        block_in_place(|| theirs.lock().len())
    });
    assert_eq!(pool.handle().block_on(task).unwrap(), 1);
    drop(pool);
    let late = std::mem::take(&mut *asked.lock());
    late.into_iter().for_each(Handoff::run);
}

#[test]
fn without_a_worker_the_function_is_called_directly() {
    assert_eq!(block_in_place(|| 7), 7);
    let handoffs = Handoffs::default();
    let pool = handoffs.pool(config_without_spares(1));
    let number = pool.handle().block_on(async {
        let inner = block_in_place(|| Handle::current().block_on(async { 7 }));
        assert!(is_inside());
        inner + block_in_place(|| 7)
    });
    assert_eq!(number, 14);
    drop(pool);

    // Stepped workers stay on their thread.
    let (handle, mut workers) = Pool::stepped(handoffs.config(config_without_spares(1)), None);
    let task = handle.spawn(async { block_in_place(|| Handle::current().block_on(async { 7 })) });
    let _current = handle.enter();
    while !task.is_finished() {
        let _ = workers[0].step();
    }
    assert_eq!(handoffs.count(), 0);
}

#[test]
fn block_in_place_panics_on_the_current_thread_scheduler() {
    let scheduler = current_thread();
    const MESSAGE: &str = "block_in_place needs the multi-thread runtime";
    scheduler.block_on(async {
        assert!(message_of(|| block_in_place(|| ())).starts_with(MESSAGE));
        let task = spawn(async { message_of(|| block_in_place(|| ())) });
        assert!(task.await.unwrap().starts_with(MESSAGE));
    });
    // The same inside the function of a pool's task.
    run(1, async move {
        block_in_place(|| {
            scheduler.block_on(async {
                assert!(message_of(|| block_in_place(|| ())).starts_with(MESSAGE));
            });
        });
        force_handoff();
    });
}

/// The worker's own code continues after a hook, and after a task that is polled inside a task, so
/// the thread must keep the worker.
#[test]
fn hooks_and_nested_polls_keep_the_worker() {
    let handoffs = Handoffs::default();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let blocks = move || block_in_place(|| counted.fetch_add(1, SeqCst));
    let hook = |blocks: &Arc<dyn Fn() -> usize + Send + Sync>| -> raddle_sched::TaskHook {
        let blocks = blocks.clone();
        Arc::new(move |_| {
            blocks();
        })
    };
    let blocks: Arc<dyn Fn() -> usize + Send + Sync> = Arc::new(blocks);
    let on_park = blocks.clone();
    let pool = handoffs.pool(Config {
        task_hooks: raddle_sched::TaskHooks {
            on_spawn: Some(hook(&blocks)),
            on_terminate: Some(hook(&blocks)),
            before_poll: Some(hook(&blocks)),
            after_poll: Some(hook(&blocks)),
        },
        on_thread_park: Some(Arc::new(move || {
            on_park();
        })),
        ..config_without_spares(1)
    });
    let inside = blocks.clone();
    let task = pool.handle().spawn(async move {
        for _ in 0..10 {
            drop(spawn(async {}));
            let blocks = inside.clone();
            let (task, _handle) = raddle_task::spawn(async move { blocks() }, drop);
            drop(task.run());
            yield_now().await;
        }
    });
    pool.handle().block_on(task).unwrap();
    drop(pool);
    assert!(calls.load(SeqCst) > 50);
    assert_eq!(handoffs.count(), 0);
}

/// Blocks in place in each call that a poll can cause.
struct BlockingObserver(Box<dyn Fn() + Send + Sync>);

impl Observer for BlockingObserver {
    fn task_spawned(&self, _: &SpawnedTask<'_>) {
        (self.0)();
    }

    fn task_woken(&self, _: Id) {
        (self.0)();
    }

    fn shutdown_started(&self) {
        (self.0)();
    }
}

/// The worker's own code continues after a call of the observer, which may be made in a poll.
#[test]
fn an_observer_keeps_the_worker() {
    let handoffs = Handoffs::default();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let blocks = move || {
        block_in_place(|| counted.fetch_add(1, SeqCst));
    };
    let pool = handoffs.pool(Config {
        observer: Some(Arc::new(BlockingObserver(Box::new(blocks)))),
        unhandled_panic: UnhandledPanic::ShutdownRuntime,
        ..config_without_spares(1)
    });
    let task = pool.handle().spawn(async {
        for _ in 0..10 {
            let waker = Arc::new(Mutex::new(None));
            let slot = waker.clone();
            let woken = spawn(poll_fn(move |cx| {
                match slot.lock().replace(cx.waker().clone()) {
                    Some(_) => Poll::Ready(()),
                    None => Poll::Pending,
                }
            }));
            yield_now().await;
            let waker = waker.lock().clone();
            waker.expect("the task was polled").wake();
            woken.await.unwrap();
        }
        // Shuts the scheduler down in a poll.
        spawn(async { panic!("planted") });
        yield_now().await;
    });
    let _ = catch_unwind(AssertUnwindSafe(|| pool.handle().block_on(task)));
    drop(pool);
    assert!(calls.load(SeqCst) >= 30, "ten spawns, wakes and joins");
    assert_eq!(handoffs.count(), 0);
}

/// A driver whose unpark blocks in place, in the middle of a spawn on a worker.
struct Blocking(Arc<(Mutex<bool>, raddle_primitives::sync::Condvar)>);

impl Driver for Blocking {
    fn park(&mut self, timeout: Option<Duration>, _: usize) {
        let mut unparked = self.0.0.lock();
        if !*unparked && timeout != Some(Duration::ZERO) {
            unparked = match timeout {
                None => self.0.1.wait(unparked),
                Some(timeout) => self.0.1.wait_timeout(unparked, timeout).0,
            };
        }
        *unparked = false;
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(Self(self.0.clone()))
    }

    fn shutdown(&mut self) {}
}

impl Unpark for Blocking {
    fn unpark(&self) {
        block_in_place(|| *self.0.0.lock() = true);
        self.0.1.notify_all();
    }
}

#[test]
fn a_driver_s_unpark_that_blocks_keeps_the_worker() {
    let handoffs = Handoffs::default();
    let driver: Box<dyn Driver> = Box::new(Blocking(Arc::default()));
    let pool = Pool::start(handoffs.config(config_without_spares(2)), [driver]).unwrap();
    let task = pool.handle().spawn(async {
        for _ in 0..100 {
            // The second task displaces the first from the slot, which wakes a worker.
            let (first, second) = (spawn(async {}), spawn(async {}));
            first.await.unwrap();
            second.await.unwrap();
            thread::sleep(Duration::from_micros(100));
        }
    });
    pool.handle().block_on(task).unwrap();
    drop(pool);
    assert_eq!(handoffs.count(), 0);
}

/// The worker's loop runs inside a task, in a function that blocks in place.
#[test]
fn a_worker_that_is_driven_inside_a_task_is_not_handed_off() {
    let kept = Arc::new(Mutex::new(Vec::<Handoff>::new()));
    let (theirs, ours) = (kept.clone(), kept.clone());
    let pool = Pool::start(
        Config {
            handoff: Some(Arc::new(move |handoff| theirs.lock().push(handoff))),
            on_thread_park: Some(Arc::new(|| block_in_place(|| ()))),
            ..config_without_spares(1)
        },
        None,
    )
    .unwrap();
    let ran = Gate::default();
    let open = ran.clone();
    drop(pool.handle().spawn(async move {
        drop(spawn(async move {
            block_in_place(|| ());
            open.open();
        }));
        block_in_place(|| {
            let handoff = ours.lock().pop().unwrap();
            handoff.run();
        });
    }));
    ran.wait();
    drop(pool);
    assert!(kept.lock().is_empty());
}

/// Hooks run on the thread of the handed-off poll, and around the tasks of the other thread.
#[test]
fn hooks_run_on_both_threads_after_a_handoff() {
    let handoffs = Handoffs::default();
    let ended = Arc::new(AtomicUsize::new(0));
    let counted = ended.clone();
    let pool = handoffs.pool(Config {
        task_hooks: raddle_sched::TaskHooks {
            on_terminate: Some(Arc::new(move |_| {
                counted.fetch_add(1, SeqCst);
            })),
            ..Default::default()
        },
        poll_time_histogram: Some(raddle_sched::HistogramConfiguration::default()),
        ..config(1)
    });
    for _ in 0..10 {
        drop(pool.handle().spawn(async { force_handoff() }));
    }
    wait_until(|| ended.load(SeqCst) == 20);
    drop(pool);
    handoffs.join();
}

/// The future of an aborted task blocks in its drop.
#[test]
fn the_drop_of_a_future_may_block_in_place() {
    struct Blocks(Gate);
    impl Drop for Blocks {
        fn drop(&mut self) {
            block_in_place(|| self.0.wait());
        }
    }
    run(1, async {
        let gate = Gate::default();
        let blocks = Blocks(gate.clone());
        let task = spawn(async move {
            let _blocks = blocks;
            pending::<()>().await;
        });
        yield_now().await;
        task.abort();
        drop(spawn(async move { gate.open() }));
        assert!(task.await.unwrap_err().is_cancelled());
        let outcome = catch_unwind(AssertUnwindSafe(force_handoff));
        assert!(outcome.is_ok());
    });
}

/// Another thread has the worker by then, and counts its own polls.
#[test]
fn a_handed_off_poll_changes_no_counter_of_its_worker() {
    let handoffs = Handoffs::default();
    let pool = handoffs.pool(Config {
        poll_time_histogram: Some(raddle_sched::HistogramConfiguration::default()),
        ..config(1)
    });
    let mut polls = 0;
    let task = pool.handle().spawn(poll_fn(move |cx| {
        polls += 1;
        if polls == 2 {
            return Poll::Ready(());
        }
        force_handoff();
        while raddle_leaf::coop::poll_proceed(cx)
            .map(|unit| unit.made_progress())
            .is_ready()
        {}
        Poll::Pending
    }));
    pool.handle().block_on(task).unwrap();
    let metrics = pool.handle().metrics();
    wait_until(|| metrics.alive_tasks() == 0);
    drop(pool);
    handoffs.join();
    assert_eq!(
        metrics.worker(0).polls,
        3,
        "two polls of the task, one of the task that it waits for"
    );
    let times = metrics.poll_times(0).expect("polls are timed");
    let timed = (0..times.num_buckets()).map(|bucket| times.count(bucket));
    assert_eq!(timed.sum::<u64>(), 2);
    assert_eq!(metrics.worker(0).budget_yields, 0);
}

/// A thread drives a second worker inside a poll of its own worker.
#[test]
fn a_hook_of_a_worker_that_a_task_drives_keeps_the_worker_of_the_task() {
    let handoffs = Handoffs::default();
    let pool = handoffs.pool(config_without_spares(1));
    let task = pool.handle().spawn(async {
        let config = Config {
            on_thread_park: Some(Arc::new(|| block_in_place(|| ()))),
            ..config_without_spares(1)
        };
        let (handle, mut workers) = Pool::stepped(config, None);
        let _current = handle.enter();
        assert!(workers[0].begin_park().is_some());
    });
    pool.handle().block_on(task).unwrap();
    drop(pool);
    assert_eq!(handoffs.count(), 0);
}

/// No thread takes over, and no worker is the monitor: another worker takes the task.
#[test]
fn the_task_in_the_slot_is_left_to_another_worker() {
    let config = Config {
        handoff: Some(Arc::new(drop)),
        has_monitor: false,
        ..config(2)
    };
    let pool = Pool::start(config, None).unwrap();
    let metrics = pool.handle().metrics();
    wait_until(|| (0..2).all(|worker| metrics.worker(worker).parks > 0));
    let ran = Arc::new(AtomicUsize::new(0));
    let count = ran.clone();
    let task = pool.handle().spawn(async move {
        drop(spawn(async move { count.fetch_add(1, SeqCst) }));
        block_in_place(|| wait_until(|| ran.load(SeqCst) == 1));
    });
    pool.handle().block_on(task).unwrap();
}
