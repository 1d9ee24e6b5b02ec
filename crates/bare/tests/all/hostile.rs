//! Misuse of an executor by safe code: no waker or task is left with a dangling pointer.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::thread;

use raddle_bare::{Array, BoxExecutor, BoxFuture, Executor, Park, Slab, Spawner, Storage};

type KeptWakers = Rc<RefCell<Vec<Waker>>>;

fn step_until_idle<A, F, M, S>(executor: Pin<&Executor<'_, A, F, M, S>>)
where
    F: Future<Output = ()>,
    M: Fn(A) -> F,
    S: Storage<A, F>,
{
    while executor.step() {}
}

/// Runs a function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Adds a clone of its waker to `kept`, and never completes.
async fn keep_waker(kept: KeptWakers) {
    poll_fn(|cx| {
        kept.borrow_mut().push(cx.waker().clone());
        Poll::<()>::Pending
    })
    .await;
}

#[test]
fn drops_of_futures_use_the_wakers_of_tasks_that_were_dropped_before() {
    let kept = KeptWakers::default();
    let spawner = Spawner::new();
    let woken = Rc::new(Cell::new(0));
    {
        let executor = pin!(Executor::new(&spawner, Array::<_, _, 4>::new(), |_: u8| {
            let (kept, woken) = (kept.clone(), woken.clone());
            async move {
                let _wakes = OnDrop({
                    let kept = kept.clone();
                    move || {
                        for waker in &*kept.borrow() {
                            waker.wake_by_ref();
                            drop(waker.clone());
                            woken.set(woken.get() + 1);
                        }
                        kept.borrow_mut().pop();
                    }
                });
                keep_waker(kept).await;
            }
        }));
        for n in 0..4 {
            executor.as_ref().spawn(n).unwrap();
        }
        step_until_idle(executor.as_ref());
    }
    assert!(kept.borrow().is_empty());
    assert_eq!(woken.get(), 4 + 3 + 2 + 1);
}

#[test]
fn the_task_function_may_own_the_last_wakers() {
    let kept = KeptWakers::default();
    let spawner = Spawner::new();
    {
        let wakers = kept.clone();
        let wake_on_drop = OnDrop(move || wakers.borrow_mut().drain(..).for_each(Waker::wake));
        let make = move |kept: KeptWakers| {
            let _wake_on_drop = &wake_on_drop;
            keep_waker(kept)
        };
        let executor = pin!(Executor::new(&spawner, Array::<_, _, 2>::new(), make));
        for _ in 0..2 {
            executor.as_ref().spawn(kept.clone()).unwrap();
        }
        step_until_idle(executor.as_ref());
        assert_eq!(kept.borrow().len(), 2);
    }
    assert!(
        kept.borrow().is_empty(),
        "the array aborts the process if a waker outlives it"
    );
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn an_executor_may_be_replaced_in_place() {
    let kept = KeptWakers::default();
    let spawner = Spawner::new();
    let make = keep_waker as fn(KeptWakers) -> _;
    let mut executor = pin!(Executor::new(&spawner, Slab::with_capacity(2), make));
    for round in 1..4 {
        executor.as_ref().spawn(kept.clone()).unwrap();
        step_until_idle(executor.as_ref());
        // The replaced executor leaks its slab, because wakers point into it.
        executor.set(Executor::new(&spawner, Slab::with_capacity(2), make));
        assert_eq!(kept.borrow().len(), round);
        kept.borrow().iter().for_each(Waker::wake_by_ref);
        assert!(!executor.as_ref().step());
        assert!(!spawner.spawn(kept.clone()).unwrap_err().is_full());
    }
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_leaked_executor_and_its_spawner_may_be_moved_and_used() {
    let kept = KeptWakers::default();
    let spawner = Spawner::new();
    {
        let executor = Box::pin(Executor::new(&spawner, Array::<_, _, 3>::new(), keep_waker));
        executor.as_ref().spawn(kept.clone()).unwrap();
        step_until_idle(executor.as_ref());
        std::mem::forget(executor);
    }
    let moved = Box::new(spawner);
    kept.borrow()[0].wake_by_ref();
    moved.spawn(KeptWakers::default()).unwrap();
    kept.borrow_mut().drain(..).for_each(Waker::wake);
    moved.spawn(KeptWakers::default()).unwrap();
    assert!(moved.spawn(KeptWakers::default()).unwrap_err().is_full());
    let another = pin!(Executor::new(&moved, Array::<_, _, 3>::new(), keep_waker));
    let attached = catch_unwind(AssertUnwindSafe(|| {
        another.as_ref().spawn(KeptWakers::default())
    }));
    assert!(
        attached.is_err(),
        "the spawner already has the leaked executor"
    );
    assert!(!another.as_ref().step());
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn an_executor_and_its_task_may_own_each_other_and_be_forgotten() {
    type Own = BoxExecutor<'static, 'static>;
    thread_local! {
        static WAKER: RefCell<Option<Waker>> = const { RefCell::new(None) };
    }
    let spawner: &'static Spawner<BoxFuture<'static>> = Box::leak(Box::default());
    let executor: Pin<Rc<Own>> = Rc::pin(Own::boxed(spawner, 2));
    let own = executor.clone();
    executor
        .as_ref()
        .spawn(Box::pin(async move {
            poll_fn(|cx| {
                WAKER.set(Some(cx.waker().clone()));
                // What the executor returns while it polls.
                assert_eq!((own.len(), own.capacity(), own.is_empty()), (1, 2, false));
                assert!(format!("{own:?}").contains("tasks: 1"));
                Poll::<()>::Pending
            })
            .await;
        }))
        .unwrap();
    step_until_idle(executor.as_ref());
    drop(executor);
    spawner.spawn_boxed(pending()).unwrap();
    WAKER.take().unwrap().wake();
    assert!(spawner.spawn_boxed(pending()).unwrap_err().is_full());
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_nested_step_of_the_same_executor_is_refused() {
    thread_local! {
        static OWN: Cell<Option<Pin<&'static Own>>> = const { Cell::new(None) };
        static REFUSED_RUNS: Cell<u32> = const { Cell::new(0) };
    }
    struct Argument;
    struct Fut;
    type Own = Executor<'static, Argument, Fut, fn(Argument) -> Fut, Array<Argument, Fut, 2>>;
    fn assert_nested_runs_panic() {
        let own = OWN.get().unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| own.step())).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| own.run(|_| Err(())))).is_err());
        REFUSED_RUNS.set(REFUSED_RUNS.get() + 1);
    }
    impl Drop for Argument {
        fn drop(&mut self) {
            assert_nested_runs_panic();
        }
    }
    impl Future for Fut {
        type Output = ();
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            assert_nested_runs_panic();
            Poll::Ready(())
        }
    }
    impl Drop for Fut {
        fn drop(&mut self) {
            assert_nested_runs_panic();
        }
    }
    let spawner: &'static Spawner<Argument> = Box::leak(Box::default());
    let make: fn(Argument) -> Fut = |argument| {
        assert_nested_runs_panic();
        drop(argument);
        Fut
    };
    let own = Pin::static_ref(Box::leak(Box::new(Executor::new(
        spawner,
        Array::new(),
        make,
    ))));
    OWN.set(Some(own));
    for _ in 0..2 {
        own.spawn(Argument).unwrap();
    }
    own.run(|_| Ok::<(), Infallible>(())).unwrap();
    assert_eq!(
        REFUSED_RUNS.get(),
        8,
        "two tasks try when the future is made, the argument dropped, the future polled and dropped"
    );
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn an_executor_may_run_in_a_task_of_another() {
    let outer_kept = KeptWakers::default();
    let inner_kept = KeptWakers::default();
    let spawner = Spawner::new();
    {
        let outer = pin!(BoxExecutor::boxed(&spawner, 2));
        let (outer_wakers, inner_wakers) = (outer_kept.clone(), inner_kept.clone());
        let task = async move {
            let spawner = Spawner::new();
            let inner = pin!(Executor::new(&spawner, Slab::with_capacity(2), keep_waker));
            inner.as_ref().spawn(inner_wakers.clone()).unwrap();
            poll_fn(|cx| {
                outer_wakers.borrow_mut().push(cx.waker().clone());
                let _ = inner.as_ref().run(|park| {
                    assert_eq!(park, Park::Wait);
                    // Wakes the outer task while both executors run.
                    outer_wakers.borrow().iter().for_each(Waker::wake_by_ref);
                    Err(())
                });
                Poll::<()>::Pending
            })
            .await;
        };
        outer.as_ref().spawn(Box::pin(task)).unwrap();
        assert!(outer.as_ref().step());
        inner_kept.borrow().iter().for_each(Waker::wake_by_ref);
        assert!(
            outer.as_ref().step(),
            "the outer task was woken during its poll"
        );
        assert_eq!(
            (outer_kept.borrow().len(), inner_kept.borrow().len()),
            (2, 2)
        );
    }
    for kept in [inner_kept, outer_kept] {
        kept.borrow().iter().for_each(Waker::wake_by_ref);
        kept.borrow_mut().drain(..).for_each(Waker::wake);
    }
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_future_may_clone_its_waker_while_its_executor_drops_it() {
    let kept = KeptWakers::default();
    let spawner = Spawner::new();
    {
        let executor = pin!(Executor::new(
            &spawner,
            Slab::with_capacity(2),
            |kept: KeptWakers| {
                let held = Rc::new(RefCell::new(None::<Waker>));
                let clones = OnDrop({
                    let held = held.clone();
                    move || kept.borrow_mut().extend(held.borrow().clone())
                });
                async move {
                    let _clones = clones;
                    poll_fn(|cx| {
                        *held.borrow_mut() = Some(cx.waker().clone());
                        Poll::<()>::Pending
                    })
                    .await;
                }
            }
        ));
        executor.as_ref().spawn(kept.clone()).unwrap();
        step_until_idle(executor.as_ref());
    }
    assert_eq!(kept.borrow().len(), 1);
    kept.borrow_mut().drain(..).for_each(Waker::wake);
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_waker_may_be_dropped_by_the_destructor_of_a_thread_local() {
    thread_local! {
        static WAKERS: RefCell<Vec<Waker>> = const { RefCell::new(Vec::new()) };
        static EXECUTOR: RefCell<Option<Pin<Box<BoxExecutor<'static, 'static>>>>> = const { RefCell::new(None) };
    }
    for executor_is_older in [true, false] {
        thread::spawn(move || {
            let initialize_wakers = || WAKERS.with(|wakers| assert!(wakers.borrow().is_empty()));
            if !executor_is_older {
                initialize_wakers();
            }
            let spawner = Box::leak(Box::new(Spawner::new()));
            let executor = Box::pin(BoxExecutor::boxed(spawner, 2));
            let wakes = OnDrop(|| {
                let _ =
                    WAKERS.try_with(|wakers| wakers.borrow().iter().for_each(Waker::wake_by_ref));
            });
            let task = async move {
                let _wakes = wakes;
                poll_fn(|cx| {
                    WAKERS.with(|wakers| wakers.borrow_mut().push(cx.waker().clone()));
                    Poll::<()>::Pending
                })
                .await;
            };
            EXECUTOR.with(|slot| *slot.borrow_mut() = Some(executor));
            EXECUTOR.with(|slot| {
                let slot = slot.borrow();
                let executor = slot.as_ref().unwrap().as_ref();
                executor.spawn(Box::pin(task)).unwrap();
                assert!(executor.step());
            });
        })
        .join()
        .unwrap();
    }
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_waker_on_another_thread_panics_while_the_executor_runs_and_is_dropped() {
    let kept = KeptWakers::default();
    let waker = {
        let spawner = Spawner::new();
        let executor = pin!(Executor::new(
            &spawner,
            Slab::with_capacity(1),
            |kept: KeptWakers| {
                poll_fn(move |cx| {
                    let mut kept = kept.borrow_mut();
                    kept.push(cx.waker().clone());
                    Poll::<()>::Pending
                })
            }
        ));
        executor.as_ref().spawn(kept.clone()).unwrap();
        assert!(executor.as_ref().step());
        let foreign = kept.borrow()[0].clone();
        thread::scope(|scope| {
            let user = scope.spawn(move || {
                for _ in 0..20 {
                    assert!(catch_unwind(AssertUnwindSafe(|| foreign.wake_by_ref())).is_err());
                    assert!(catch_unwind(AssertUnwindSafe(|| drop(foreign.clone()))).is_err());
                }
                foreign
            });
            for _ in 0..20 {
                kept.borrow()[0].wake_by_ref();
                assert!(executor.as_ref().step());
            }
            user.join().unwrap()
        })
    };
    waker.wake_by_ref();
    // The new thread may have the thread-local address of the first one, which has ended.
    let result = thread::spawn(move || waker.wake()).join();
    assert!(result.is_err());
}

#[test]
fn panics_at_every_point_leave_every_slot_consistent() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum PanicAt {
        TaskFunction,
        FirstPoll,
        SecondPoll,
        Drop,
    }
    let kept = KeptWakers::default();
    let spawner = Spawner::new();
    let alive = Rc::new(());
    let executor = pin!(Executor::new(
        &spawner,
        Array::<_, _, 1>::new(),
        |panic_at: PanicAt| {
            let (kept, alive) = (kept.clone(), alive.clone());
            assert!(
                panic_at != PanicAt::TaskFunction,
                "panic in the task function"
            );
            let mut polls = 0;
            let bomb = OnDrop(move || {
                assert!(
                    panic_at != PanicAt::Drop || thread::panicking(),
                    "panic in the drop"
                )
            });
            async move {
                let _alive = alive;
                let _bomb = bomb;
                poll_fn(|cx| {
                    polls += 1;
                    kept.borrow_mut().push(cx.waker().clone());
                    cx.waker().wake_by_ref();
                    assert!(panic_at != PanicAt::FirstPoll, "panic in the first poll");
                    assert!(
                        panic_at != PanicAt::SecondPoll || polls < 2,
                        "panic in the second poll"
                    );
                    if polls < 2 {
                        Poll::Pending
                    } else {
                        Poll::Ready(())
                    }
                })
                .await;
            }
        }
    ));
    let executor = executor.as_ref();
    for panic_at in [
        PanicAt::TaskFunction,
        PanicAt::FirstPoll,
        PanicAt::SecondPoll,
        PanicAt::Drop,
    ] {
        executor.spawn(panic_at).unwrap();
        let result = catch_unwind(AssertUnwindSafe(|| step_until_idle(executor)));
        assert!(result.is_err(), "{panic_at:?}");
        assert!(executor.is_empty(), "{panic_at:?}");
        assert_eq!(Rc::strong_count(&alive), 1, "{panic_at:?}");
        let wakers = kept.borrow().len();
        assert_eq!(spawner.spawn(panic_at).is_err(), wakers > 0, "{panic_at:?}");
        if wakers == 0 {
            assert!(catch_unwind(AssertUnwindSafe(|| step_until_idle(executor))).is_err());
        }
        kept.borrow().iter().for_each(Waker::wake_by_ref);
        kept.borrow_mut().drain(..).rev().for_each(Waker::wake);
        step_until_idle(executor);
    }
}
