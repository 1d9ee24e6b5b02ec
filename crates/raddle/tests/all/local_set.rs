//! `LocalSet`.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use crate::common::{
    current_thread, each_flavor, eventually, multi_thread, panic_message, with_policy,
};
use raddle::runtime::Policy;
use raddle::task::{self, JoinSet, LocalSet, spawn_local};
use raddle::time::sleep;
use raddle_testing::Wakes;

/// Counts its drops, and must be dropped on the thread that created it.
struct Here {
    drops: Rc<Cell<usize>>,
    thread: thread::ThreadId,
}

impl Here {
    fn new(drops: &Rc<Cell<usize>>) -> Self {
        Self {
            drops: Rc::clone(drops),
            thread: thread::current().id(),
        }
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        assert_eq!(self.thread, thread::current().id());
        self.drops.set(self.drops.get() + 1);
    }
}

/// Is never ready, and adds its waker to `wakers` in each poll.
fn waits(wakers: &Arc<Mutex<Vec<Waker>>>) -> impl Future<Output = ()> + use<> {
    let wakers = Arc::clone(wakers);
    poll_fn(move |cx| {
        wakers.lock().unwrap().push(cx.waker().clone());
        Poll::Pending
    })
}

fn poll_once<F: Future>(future: F, waker: &Waker) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(waker))
}

#[test]
fn local_tasks_share_values_that_are_not_send() {
    each_flavor(|runtime| {
        let local = LocalSet::new();
        let sum = Rc::new(Cell::new(0));
        let output = local.block_on(&runtime, async {
            let tasks: Vec<_> = (0..1000)
                .map(|i| {
                    let sum = Rc::clone(&sum);
                    spawn_local(async move {
                        if i % 3 == 0 {
                            task::yield_now().await;
                        }
                        sum.set(sum.get() + i);
                        Rc::clone(&sum)
                    })
                })
                .collect();
            for task in tasks {
                assert!(Rc::ptr_eq(&task.await.unwrap(), &sum));
            }
            sum.get()
        });
        assert_eq!(output, 999 * 1000 / 2);
        assert_eq!(Rc::strong_count(&sum), 1);
    });
}

#[test]
fn tasks_wait_for_timers_and_for_other_threads_tasks() {
    each_flavor(|runtime| {
        let local = LocalSet::new();
        local.block_on(&runtime, async {
            let slept = spawn_local(async {
                sleep(Duration::from_millis(2)).await;
                Rc::new(1)
            });
            let remote = spawn_local(async {
                let blocking = task::spawn_blocking(|| 2);
                let pooled = raddle::spawn(async { 3 });
                blocking.await.unwrap() + pooled.await.unwrap()
            });
            assert_eq!(*slept.await.unwrap() + remote.await.unwrap(), 6);
        });
    });
}

#[test]
fn tasks_run_in_the_order_in_which_they_became_ready() {
    each_flavor(|runtime| {
        let order = Rc::new(RefCell::new(Vec::new()));
        let local = LocalSet::new();
        for i in 0..200 {
            let order = Rc::clone(&order);
            local.spawn_local(async move {
                order.borrow_mut().push(i);
                task::yield_now().await;
                order.borrow_mut().push(200 + i);
            });
        }
        runtime.block_on(local);
        assert!(order.borrow().iter().copied().eq(0..400));
    });
}

#[test]
fn a_poll_runs_61_tasks() {
    let polls = Rc::new(Cell::new(0));
    let local = LocalSet::new();
    for _ in 0..100 {
        let polls = Rc::clone(&polls);
        local.spawn_local(async move { polls.set(polls.get() + 1) });
    }
    let mut local = pin!(local);
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let cx = &mut Context::from_waker(&waker);
    assert!(local.as_mut().poll(cx).is_pending());
    assert_eq!((polls.get(), wakes.get()), (61, 1));
    assert!(local.as_mut().poll(cx).is_ready());
    assert_eq!((polls.get(), wakes.get()), (100, 1));
    // A set that has completed has no waker to call.
    local.spawn_local(async {});
    assert_eq!(wakes.get(), 1);
}

#[test]
fn a_set_that_waits_is_not_woken() {
    let local = LocalSet::new();
    let wakers = Arc::default();
    local.spawn_local(waits(&wakers));
    let wakers_inside = Arc::clone(&wakers);
    local.spawn_local(async move {
        // A task that becomes ready inside the set runs in the same poll.
        drop(spawn_local(async {}));
        task::yield_now().await;
        wakers_inside.lock().unwrap().remove(0).wake();
    });
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut local = pin!(local);
    let cx = &mut Context::from_waker(&waker);
    assert!(local.as_mut().poll(cx).is_pending());
    assert_eq!(wakes.get(), 0);
    // Two spawns outside the set wake it once.
    local.spawn_local(async {});
    local.spawn_local(async {});
    assert_eq!(wakes.get(), 1);
    assert!(local.as_mut().poll(cx).is_pending());
    let waker = wakers.lock().unwrap().pop().unwrap();
    waker.wake_by_ref();
    waker.wake();
    assert_eq!(wakes.get(), 2);
}

#[test]
fn a_task_that_wakes_itself_starves_no_other() {
    each_flavor(|runtime| {
        let local = LocalSet::new();
        let stop = Rc::new(Cell::new(false));
        let until = Rc::clone(&stop);
        let spinner = local.spawn_local(poll_fn(move |cx| {
            cx.waker().wake_by_ref();
            if until.get() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }));
        local.block_on(&runtime, async {
            // A task of the set, a task of the runtime, a timer, and a wake by another thread.
            let other = spawn_local(async {
                for _ in 0..10 {
                    task::yield_now().await;
                }
            });
            other.await.unwrap();
            raddle::spawn(task::yield_now()).await.unwrap();
            sleep(Duration::from_millis(1)).await;
            task::spawn_blocking(|| {}).await.unwrap();
            stop.set(true);
            spinner.await.unwrap();
        });
    });
}

/// Neither kind of task starves the other: tasks that are woken on this thread all the time, and
/// tasks that are woken on other threads.
#[test]
fn tasks_that_wake_themselves_do_not_starve_tasks_woken_by_other_threads() {
    let local = LocalSet::new();
    let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
    let (here, elsewhere) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let polls = Rc::clone(&here);
    local.spawn_local(poll_fn(move |cx| {
        polls.set(polls.get() + 1);
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    }));
    let (polls, given) = (Rc::clone(&elsewhere), Arc::clone(&wakers));
    local.spawn_local(poll_fn(move |cx| {
        polls.set(polls.get() + 1);
        given.lock().unwrap().push(cx.waker().clone());
        Poll::<()>::Pending
    }));
    let mut local = pin!(local);
    let cx = &mut Context::from_waker(Waker::noop());
    for round in 1..=100 {
        assert!(local.as_mut().poll(cx).is_pending());
        assert_eq!(elsewhere.get(), round);
        assert!(here.get() >= 60 * round);
        let waker = wakers.lock().unwrap().pop().unwrap();
        thread::spawn(move || waker.wake()).join().unwrap();
    }
}

#[test]
fn tasks_may_be_woken_on_other_threads() {
    const WAKES: usize = 500;
    each_flavor(|runtime| {
        let local = LocalSet::new();
        local.block_on(&runtime, async {
            let mut tasks = Vec::new();
            let mut threads = Vec::new();
            for _ in 0..3 {
                let count = Arc::new(AtomicUsize::new(0));
                let (sender, receiver) = mpsc::channel::<Waker>();
                let counted = Arc::clone(&count);
                tasks.push(spawn_local(async move {
                    let seen = Rc::new(Cell::new(0));
                    poll_fn(move |cx| {
                        seen.set(counted.load(SeqCst));
                        let _ = sender.send(cx.waker().clone());
                        if seen.get() == WAKES {
                            Poll::Ready(())
                        } else {
                            Poll::Pending
                        }
                    })
                    .await;
                }));
                threads.push(thread::spawn(move || {
                    for _ in 0..WAKES {
                        let waker = receiver.recv().unwrap();
                        count.fetch_add(1, SeqCst);
                        waker.wake();
                    }
                }));
            }
            for task in tasks {
                task.await.unwrap();
            }
            for thread in threads {
                thread.join().unwrap();
            }
        });
    });
}

/// RUSTSEC-2021-0072.
#[test]
fn abort_drops_the_future_on_its_thread() {
    each_flavor(|runtime| {
        let local = LocalSet::new();
        let drops = Rc::default();
        for early in [true, false] {
            let here = Here::new(&drops);
            let task = local.spawn_local(async move {
                let _here = here;
                pending::<()>().await;
            });
            if !early {
                local.block_on(&runtime, task::yield_now());
            }
            let abort = task.abort_handle();
            thread::spawn(move || abort.abort()).join().unwrap();
            let error = local.block_on(&runtime, task).unwrap_err();
            assert!(error.is_cancelled());
        }
        assert_eq!(drops.get(), 2);
    });
}

#[test]
fn a_panic_is_returned_by_the_join_handle() {
    each_flavor(|runtime| {
        let local = LocalSet::new();
        let error = local.block_on(&runtime, async {
            let panics = spawn_local(async { panic!("expected by this test") });
            let fine = spawn_local(async { Rc::new(1) });
            assert_eq!(*fine.await.unwrap(), 1);
            panics.await.unwrap_err()
        });
        let payload = error.into_panic();
        assert_eq!(payload.downcast_ref(), Some(&"expected by this test"));

        // A panic of the future itself does not change the set.
        let left = local.spawn_local(async { 2 });
        let message = panic_message(|| {
            local.block_on(&runtime, async { panic!("expected by this test") });
        });
        assert_eq!(message, "expected by this test");
        assert_eq!(local.block_on(&runtime, left).unwrap(), 2);
    });
}

#[test]
fn spawn_local_needs_a_set() {
    const OUTSIDE: &str = "spawn_local was called outside a LocalSet";
    assert!(panic_message(|| spawn_local(async {})).starts_with(OUTSIDE));
    // On a sharded runtime a task may spawn locally: `sharded.rs`.
    for mut builder in [
        multi_thread(),
        with_policy(Policy::Shared),
        current_thread(),
    ] {
        let runtime = builder.build().unwrap();
        let message = panic_message(|| runtime.block_on(async { drop(spawn_local(async {})) }));
        assert!(message.starts_with(OUTSIDE));
        // A task of the runtime is outside the set, even while the set runs.
        let local = LocalSet::new();
        local.block_on(&runtime, async {
            let spawned = raddle::spawn(async {
                drop(spawn_local(async {}));
            });
            assert!(spawned.await.unwrap_err().is_panic());
            // This future is still inside the set.
            spawn_local(async {}).await.unwrap();
        });
    }
}

#[test]
fn an_entered_set_takes_tasks() {
    each_flavor(|runtime| {
        let (outer, inner) = (LocalSet::new(), LocalSet::new());
        let ran = Rc::new(RefCell::new(Vec::new()));
        let spawn = |name| {
            let ran = Rc::clone(&ran);
            drop(spawn_local(async move { ran.borrow_mut().push(name) }));
        };
        {
            let _outer = outer.enter();
            spawn("outer");
            {
                let _inner = inner.enter();
                spawn("inner");
            }
            spawn("outer again");
        }
        assert!(ran.borrow().is_empty());
        runtime.block_on(inner);
        runtime.block_on(outer);
        assert_eq!(*ran.borrow(), ["inner", "outer", "outer again"]);
    });
}

#[test]
fn a_set_that_was_dropped_cancels_what_is_spawned() {
    let runtime = crate::common::current_thread().build().unwrap();
    let drops = Rc::default();
    let local = LocalSet::new();
    let guard = local.enter();
    drop(local);
    let here = Here::new(&drops);
    let task = spawn_local(async move { drop(here) });
    assert_eq!(drops.get(), 1);
    drop(guard);
    assert!(runtime.block_on(task).unwrap_err().is_cancelled());
}

#[test]
fn awaiting_the_set_runs_all_tasks() {
    each_flavor(|runtime| {
        let ended = Rc::new(Cell::new(0));
        let local = LocalSet::default();
        runtime.block_on(LocalSet::new());
        for _ in 0..10 {
            let ended = Rc::clone(&ended);
            local.spawn_local(async move {
                sleep(Duration::from_millis(1)).await;
                let inner = Rc::clone(&ended);
                drop(spawn_local(async move {
                    task::yield_now().await;
                    inner.set(inner.get() + 1);
                }));
                ended.set(ended.get() + 1);
            });
        }
        runtime.block_on(local);
        assert_eq!(ended.get(), 20);
    });
}

#[test]
fn tasks_stay_in_the_set_from_run_to_run() {
    each_flavor(|runtime| {
        let local = LocalSet::new();
        let (sender, receiver) = mpsc::channel();
        let task = local.spawn_local(async move {
            for i in 0..3 {
                sender.send(i).unwrap();
                task::yield_now().await;
            }
            Rc::new(3)
        });
        while !task.is_finished() {
            local.block_on(&runtime, task::yield_now());
        }
        assert!(receiver.iter().eq(0..3));
        assert_eq!(*runtime.block_on(task).unwrap(), 3);
    });
}

#[test]
fn drop_cancels_tasks_in_every_state() {
    each_flavor(|runtime| {
        let drops = Rc::new(Cell::new(0));
        let wakers = Arc::default();
        let local = LocalSet::new();
        let spawn = |local: &LocalSet| {
            let (here, wait) = (Here::new(&drops), waits(&wakers));
            local.spawn_local(async move {
                let _here = here;
                wait.await;
            })
        };
        let mut tasks: Vec<_> = (0..300).map(|_| spawn(&local)).collect();
        local.block_on(&runtime, async {
            while wakers.lock().unwrap().len() < 300 {
                task::yield_now().await;
            }
        });
        // Some tasks are idle, some woken, some aborted, and some never polled.
        for (i, waker) in wakers.lock().unwrap().iter().enumerate() {
            if i % 3 == 0 {
                waker.wake_by_ref();
            }
        }
        tasks.iter().skip(200).for_each(|task| task.abort());
        tasks.extend((0..100).map(|_| spawn(&local)));
        drop(local);
        assert_eq!(drops.get(), 400);
        // The wakers outlive the set, and their wakes do nothing.
        let wakers: Vec<_> = std::mem::take(&mut *wakers.lock().unwrap());
        thread::spawn(move || wakers.into_iter().for_each(Waker::wake))
            .join()
            .unwrap();
        for task in tasks {
            assert!(runtime.block_on(task).unwrap_err().is_cancelled());
        }
        assert_eq!(drops.get(), 400);
    });
}

/// Threads wake and abort tasks while the set is dropped: the drop has to wait for tasks that are
/// just being queued.
#[test]
fn dropping_a_set_may_race_with_wakes_on_other_threads() {
    let stop = Arc::new(AtomicBool::new(false));
    let shared: Arc<Mutex<Vec<Waker>>> = Arc::default();
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (stop, shared) = (Arc::clone(&stop), Arc::clone(&shared));
            thread::spawn(move || {
                while !stop.load(SeqCst) {
                    let wakers = shared.lock().unwrap().clone();
                    wakers.iter().for_each(Waker::wake_by_ref);
                    wakers.into_iter().for_each(Waker::wake);
                    thread::yield_now();
                }
            })
        })
        .collect();
    for round in 0..300 {
        let drops = Rc::new(Cell::new(0));
        let mut local = LocalSet::new();
        for _ in 0..8 {
            let (here, wait) = (Here::new(&drops), waits(&shared));
            local.spawn_local(async move {
                let _here = here;
                wait.await;
            });
        }
        for _ in 0..round % 4 {
            assert!(poll_once(&mut local, Waker::noop()).is_pending());
        }
        drop(local);
        assert_eq!(drops.get(), 8);
        // Other threads may still use clones of the wakers; dropping these frees the rest.
        shared.lock().unwrap().clear();
    }
    stop.store(true, SeqCst);
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn futures_that_are_dropped_may_spawn_and_wake() {
    let runtime = crate::common::current_thread().build().unwrap();
    let drops = Rc::new(Cell::new(0));
    struct Spawns(Rc<Cell<usize>>, Arc<Mutex<Vec<Waker>>>);
    impl Drop for Spawns {
        fn drop(&mut self) {
            self.1.lock().unwrap().iter().for_each(Waker::wake_by_ref);
            let here = Here::new(&self.0);
            assert!(spawn_local(async move { drop(here) }).is_finished());
        }
    }
    let wakers = Arc::default();
    let local = LocalSet::new();
    for _ in 0..10 {
        let spawns = Spawns(Rc::clone(&drops), Arc::clone(&wakers));
        let wait = waits(&wakers);
        local.spawn_local(async move {
            let _spawns = spawns;
            wait.await;
        });
    }
    local.block_on(&runtime, task::yield_now());
    drop(local);
    assert_eq!(drops.get(), 10);
}

#[test]
fn a_panic_in_a_drop_is_returned_by_the_join_handle() {
    let runtime = crate::common::current_thread().build().unwrap();
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("expected by this test");
        }
    }
    let local = LocalSet::new();
    let tasks: Vec<_> = (0..2)
        .map(|_| {
            let panics = Panics;
            local.spawn_local(async move {
                let _panics = panics;
                pending::<()>().await;
            })
        })
        .collect();
    drop(local);
    for task in tasks {
        assert!(runtime.block_on(task).unwrap_err().is_panic());
    }
}

#[test]
fn a_set_in_a_thread_local_ends_with_the_thread() {
    thread_local! {
        static SET: RefCell<Option<LocalSet>> = const { RefCell::new(None) };
    }
    let count = Arc::new(AtomicUsize::new(0));
    let live = crate::common::Live::new(&count);
    thread::spawn(move || {
        let local = LocalSet::new();
        local.spawn_local(async move {
            let _live = live;
            pending::<()>().await;
        });
        SET.with(|set| set.replace(Some(local)));
    })
    .join()
    .unwrap();
    eventually("the task is dropped", || count.load(SeqCst) == 0);
}

#[test]
fn nested_sets_keep_their_own_tasks() {
    each_flavor(|runtime| {
        let outer = LocalSet::new();
        let seen = outer.block_on(&runtime, async {
            let outside = spawn_local(async {
                for _ in 0..100 {
                    task::yield_now().await;
                }
                "outer"
            });
            // A task of the outer set joins tasks of both sets.
            spawn_local(async {
                let inner = LocalSet::new();
                let mut seen = inner
                    .run_until(async {
                        let inside = spawn_local(async {
                            sleep(Duration::from_millis(1)).await;
                            "inner"
                        });
                        vec![inside.await.unwrap(), outside.await.unwrap()]
                    })
                    .await;
                // After the inner set has been dropped, this spawns on the outer set.
                drop(inner);
                seen.push(spawn_local(async { "outer again" }).await.unwrap());
                seen
            })
            .await
            .unwrap()
        });
        assert_eq!(seen, ["inner", "outer", "outer again"]);
    });
}

#[test]
fn dropping_an_outer_set_drops_the_inner() {
    let runtime = crate::common::current_thread().build().unwrap();
    let drops = Rc::new(Cell::new(0));
    let outer = LocalSet::new();
    for _ in 0..3 {
        let inner = LocalSet::new();
        for _ in 0..3 {
            let here = Here::new(&drops);
            inner.spawn_local(async move {
                let _here = here;
                pending::<()>().await;
            });
        }
        outer.spawn_local(inner);
    }
    outer.block_on(&runtime, task::yield_now());
    assert_eq!(drops.get(), 0);
    drop(outer);
    assert_eq!(drops.get(), 9);
}

/// When two futures run the same set, the set keeps running after either is dropped, even if the
/// other was not the last to be polled.
#[test]
fn several_futures_run_one_set() {
    let local = LocalSet::new();
    let wakers = Arc::default();
    let task = local.spawn_local(waits(&wakers));
    let wakes: [Arc<Wakes>; 2] = Default::default();
    let mut first = Box::pin(local.run_until(task));
    let mut second = Box::pin(local.run_until(pending::<()>()));
    let noop = Waker::from(Arc::clone(&wakes[0]));
    assert!(poll_once(first.as_mut(), &noop).is_pending());
    let noop = Waker::from(Arc::clone(&wakes[1]));
    assert!(poll_once(second.as_mut(), &noop).is_pending());
    let count = || wakes.each_ref().map(|wakes| wakes.get());
    assert_eq!(count(), [0, 0]);
    wakers.lock().unwrap()[0].wake_by_ref();
    assert_eq!(count(), [1, 1]);
    assert!(poll_once(first.as_mut(), &Waker::from(Arc::clone(&wakes[0]))).is_pending());
    // The second future is dropped before it has run the task for which it was woken.
    drop(second);
    let second = local.run_until(async {
        drop(spawn_local(async {}));
    });
    assert!(poll_once(second, Waker::noop()).is_ready());
    assert_eq!(count(), [2, 1]);
}

#[test]
fn a_join_set_joins_local_tasks() {
    each_flavor(|runtime| {
        let local = LocalSet::new();
        let mut set = JoinSet::new();
        set.spawn_local_on(async { Rc::new(0) }, &local);
        let sum = local.block_on(&runtime, async {
            for i in 1..100 {
                set.spawn_local(async move {
                    task::yield_now().await;
                    Rc::new(i)
                });
            }
            let mut sum = 0;
            while let Some(output) = set.join_next().await {
                sum += *output.unwrap();
            }
            set.spawn_local(pending()).abort();
            assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
            sum
        });
        assert_eq!(sum, 99 * 100 / 2);
        assert!(panic_message(|| set.spawn_local(pending())).starts_with("spawn_local was"));
    });
}

/// A resource that is always ready makes a local task yield, too.
#[test]
fn each_task_has_a_budget() {
    let local = LocalSet::new();
    let steps = Rc::new(Cell::new(0));
    let counted = Rc::clone(&steps);
    local.spawn_local(async move {
        loop {
            task::coop::consume_budget().await;
            counted.set(counted.get() + 1);
        }
    });
    let mut local = pin!(local);
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(local.as_mut().poll(cx).is_pending());
    assert_eq!(steps.get(), 61 * 128);
}
