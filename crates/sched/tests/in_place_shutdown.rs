//! The end of a pool while tasks block in place: it waits for the polls, and
//! drops every task once.
#![cfg(not(raddle_loom))]

mod common;
#[path = "common/relief.rs"]
mod relief;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use common::{Census, Gate, OnDrop, Signal, config, wait_until};
use raddle_primitives::sync::Mutex;
use raddle_sched::{
    Config, Handle, Pool, Relief, TaskHook, TaskHooks, TaskMeta, UnhandledPanic, block_in_place,
    spawn,
};
use relief::Reliefs;

/// What the poll does after its function.
#[derive(Clone, Copy, Debug)]
enum Then {
    Completes,
    Waits,
    WakesItself,
    Panics,
}

impl Then {
    const ALL: [Self; 4] = [
        Self::Completes,
        Self::Waits,
        Self::WakesItself,
        Self::Panics,
    ];

    async fn go(self) {
        match self {
            Self::Completes => {}
            Self::Waits => pending().await,
            Self::WakesItself => raddle_sched::yield_now().await,
            Self::Panics => std::panic::resume_unwind(Box::new("planted")),
        }
    }
}

/// A pool with a task in a function that ends with the gate, and one beside it.
struct Scene {
    pool: Pool,
    reliefs: Reliefs,
    census: Census,
    gate: Gate,
}

impl Scene {
    fn new(workers: usize, then: Then) -> Self {
        let reliefs = Reliefs::default();
        let pool = reliefs.pool(config(workers));
        let (census, gate) = (Census::default(), Gate::default());
        let (theirs, citizen, other) = (gate.clone(), census.citizen(), census.citizen());
        let beside = Signal::default();
        let waits = beside.clone();
        drop(pool.handle().spawn(async move {
            let _citizen = citizen;
            drop(spawn(async move {
                let _other = other;
                waits.await;
            }));
            block_in_place(|| theirs.wait());
            then.go().await;
        }));
        // The worker is another thread's by then.
        wait_until(|| beside.polls() == 1);
        Self {
            pool,
            reliefs,
            census,
            gate,
        }
    }
}

#[test]
fn it_waits_for_the_function() {
    for then in Then::ALL {
        for workers in [1, 2] {
            let Scene {
                mut pool,
                reliefs,
                census,
                gate,
            } = Scene::new(workers, then);
            assert!(!pool.shutdown(Some(Duration::ZERO)));
            assert!(!pool.shutdown(Some(Duration::from_millis(5))));
            // The function may be waiting for the drop of the task beside it.
            wait_until(|| census.dropped() == 1);
            gate.open();
            assert!(pool.shutdown(None));
            assert_eq!(census.alive(), 0, "{then:?}");
            assert_eq!(census.dropped(), 2);
            drop(pool);
            reliefs.join();
        }
    }
}

#[test]
fn a_drop_waits_too() {
    for then in Then::ALL {
        let Scene {
            pool,
            reliefs,
            census,
            gate,
        } = Scene::new(1, then);
        let opener = thread::spawn(move || {
            thread::sleep(Duration::from_millis(2));
            gate.open();
        });
        drop(pool);
        assert_eq!((census.alive(), census.dropped()), (0, 2));
        opener.join().unwrap();
        reliefs.join();
    }
}

/// The function, and what comes after it in the poll, does not wait for itself.
#[test]
fn a_pool_that_is_dropped_inside_ends_behind() {
    for inside in [true, false] {
        let reliefs = Reliefs::default();
        let pool = Arc::new(Mutex::new(None::<Pool>));
        let (census, ended) = (Census::default(), Arc::new(AtomicBool::new(false)));
        let (theirs, citizen) = (pool.clone(), census.citizen());
        *pool.lock() = Some(reliefs.pool(config(1)));
        let handle = pool.lock().as_ref().unwrap().handle().clone();
        let end = ended.clone();
        let task = handle.spawn(async move {
            let _citizen = citizen;
            let gate = Gate::default();
            let open = gate.clone();
            drop(spawn(async move { open.open() }));
            let drop_pool = || {
                let pool = theirs.lock().take();
                drop(pool);
                end.store(true, SeqCst);
            };
            block_in_place(|| {
                gate.wait();
                if inside {
                    drop_pool();
                }
            });
            if !inside {
                drop_pool();
            }
            pending::<()>().await;
        });
        wait_until(|| ended.load(SeqCst) && task.is_finished());
        wait_until(|| census.dropped() == 1);
        reliefs.join();
    }
}

/// Nor does a hook, or the drop of a task at the end, which keep their worker.
#[test]
fn a_pool_that_is_dropped_inside_without_a_poll_ends_behind() {
    for in_hook in [true, false] {
        let kept = Arc::new(Mutex::new(None::<Pool>));
        let (theirs, gone) = (kept.clone(), Gate::default());
        let tells = gone.clone();
        let drop_pool = move || {
            let pool = theirs.lock().take();
            if pool.is_some() {
                block_in_place(|| drop(pool));
                tells.open();
            }
        };
        let mut before_poll = None;
        let mut guard = None;
        match in_hook {
            true => before_poll = Some(Arc::new(move |_: &TaskMeta<'_>| drop_pool()) as TaskHook),
            false => guard = Some(OnDrop(drop_pool)),
        }
        let config = Config {
            unhandled_panic: UnhandledPanic::ShutdownRuntime,
            task_hooks: TaskHooks {
                before_poll,
                ..TaskHooks::default()
            },
            ..config(1)
        };
        let pool = Pool::start(config, None).unwrap();
        let handle = pool.handle().clone();
        *kept.lock() = Some(pool);
        let signal = Signal::default();
        let waits = signal.clone();
        drop(handle.spawn(async move {
            let _guard = guard;
            waits.await;
        }));
        if !in_hook {
            wait_until(|| signal.polls() == 1);
            drop(handle.spawn(async { panic!("a task panics on purpose") }));
        }
        gone.wait();
    }
}

/// The worker is in nobody's hands when the end comes.
#[test]
fn a_relief_that_does_not_come_does_not_keep_the_end() {
    for runs_late in [true, false] {
        let kept = Arc::new(Mutex::new(Vec::<Relief>::new()));
        let theirs = kept.clone();
        let config = Config {
            relief: Some(Arc::new(move |relief| theirs.lock().push(relief))),
            ..config(1)
        };
        let mut pool = Pool::start(config, None).unwrap();
        let (census, gate, entered) = (Census::default(), Gate::default(), Gate::default());
        let (citizen, theirs, inside) = (census.citizen(), gate.clone(), entered.clone());
        drop(pool.handle().spawn(async move {
            let _citizen = citizen;
            block_in_place(|| {
                inside.open();
                theirs.wait();
            });
            pending::<()>().await;
        }));
        entered.wait();
        assert!(!pool.shutdown(Some(Duration::ZERO)));
        if runs_late {
            // Finds the end, and hands the worker in.
            let relief = kept.lock().pop().unwrap();
            relief.run();
        }
        assert!(!pool.shutdown(Some(Duration::ZERO)));
        gate.open();
        assert!(pool.shutdown(None));
        assert_eq!(census.dropped(), 1);
        kept.lock().drain(..).for_each(Relief::run);
    }
}

/// At the end there is one thread for all workers.
#[test]
fn a_future_that_the_end_drops_may_block() {
    let reliefs = Reliefs::default();
    let pool = reliefs.pool(config(2));
    let signal = Signal::default();
    let waits = signal.clone();
    drop(pool.handle().spawn(async move {
        let _blocks = OnDrop(|| {
            let handle = Handle::current();
            block_in_place(|| handle.block_on(async {}));
        });
        waits.await;
    }));
    wait_until(|| signal.polls() == 1);
    drop(pool);
    assert_eq!(reliefs.count(), 0);
}

/// Functions that begin, go on and return while the pool ends.
#[test]
fn the_end_may_come_at_any_time() {
    for round in 0..200 {
        let reliefs = Reliefs::default();
        let pool = reliefs.pool(config(1 + round % 2));
        let census = Census::default();
        for number in 0..8 {
            let citizen = census.citizen();
            drop(pool.handle().spawn(async move {
                let _citizen = citizen;
                for _ in 0..number {
                    block_in_place(thread::yield_now);
                    raddle_sched::yield_now().await;
                }
                Then::ALL[number % 3].go().await;
            }));
        }
        for _ in 0..round {
            thread::yield_now();
        }
        drop(pool);
        assert_eq!((census.alive(), census.dropped()), (0, 8));
        reliefs.join();
    }
}
