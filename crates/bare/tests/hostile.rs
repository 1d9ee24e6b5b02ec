//! What a program can do to an executor with safe code alone: nothing points at what is not there.
#![cfg(all(feature = "std", not(raddle_loom)))]

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::thread;

use raddle_bare::{Array, BoxExecutor, BoxFuture, Executor, Park, Slab, Spawner, Storage};

type Kept = Rc<RefCell<Vec<Waker>>>;

fn steps<A, F, M, S>(executor: Pin<&Executor<'_, A, F, M, S>>)
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

/// Keeps its waker, and waits for ever.
async fn keep(kept: Kept) {
    poll_fn(|cx| {
        kept.borrow_mut().push(cx.waker().clone());
        Poll::<()>::Pending
    })
    .await;
}

#[test]
fn drops_of_futures_use_the_wakers_of_tasks_that_were_dropped_before() {
    let kept = Kept::default();
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
                keep(kept).await;
            }
        }));
        for n in 0..4 {
            executor.as_ref().spawn(n).unwrap();
        }
        steps(executor.as_ref());
    }
    assert!(kept.borrow().is_empty());
    assert_eq!(woken.get(), 4 + 3 + 2 + 1);
}

#[test]
fn the_task_function_may_own_the_last_wakers() {
    let kept = Kept::default();
    let spawner = Spawner::new();
    {
        let theirs = kept.clone();
        let last = OnDrop(move || theirs.borrow_mut().drain(..).for_each(Waker::wake));
        let make = move |kept: Kept| {
            let _last = &last;
            keep(kept)
        };
        let executor = pin!(Executor::new(&spawner, Array::<_, _, 2>::new(), make));
        for _ in 0..2 {
            executor.as_ref().spawn(kept.clone()).unwrap();
        }
        steps(executor.as_ref());
        assert_eq!(kept.borrow().len(), 2);
    }
    assert!(
        kept.borrow().is_empty(),
        "or the array would have ended the program"
    );
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn an_executor_may_be_replaced_in_place() {
    let kept = Kept::default();
    let spawner = Spawner::new();
    let make = keep as fn(Kept) -> _;
    let mut executor = pin!(Executor::new(&spawner, Slab::with_capacity(2), make));
    for round in 1..4 {
        executor.as_ref().spawn(kept.clone()).unwrap();
        steps(executor.as_ref());
        // Its slab stays, for the wakers.
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
    let kept = Kept::default();
    let spawner = Spawner::new();
    {
        let executor = Box::pin(Executor::new(&spawner, Array::<_, _, 3>::new(), keep));
        executor.as_ref().spawn(kept.clone()).unwrap();
        steps(executor.as_ref());
        std::mem::forget(executor);
    }
    let moved = Box::new(spawner);
    kept.borrow()[0].wake_by_ref();
    moved.spawn(Kept::default()).unwrap();
    kept.borrow_mut().drain(..).for_each(Waker::wake);
    moved.spawn(Kept::default()).unwrap();
    assert!(moved.spawn(Kept::default()).unwrap_err().is_full());
    let another = pin!(Executor::new(&moved, Array::<_, _, 3>::new(), keep));
    let attached = catch_unwind(AssertUnwindSafe(|| another.as_ref().spawn(Kept::default())));
    assert!(attached.is_err(), "it has the leaked one");
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
                // The answers of an executor that polls.
                assert_eq!((own.len(), own.capacity(), own.is_empty()), (1, 2, false));
                assert!(format!("{own:?}").contains("tasks: 1"));
                Poll::<()>::Pending
            })
            .await;
        }))
        .unwrap();
    steps(executor.as_ref());
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
        static REFUSED: Cell<u32> = const { Cell::new(0) };
    }
    struct Argument;
    struct Fut;
    type Own = Executor<'static, Argument, Fut, fn(Argument) -> Fut, Array<Argument, Fut, 2>>;
    fn attempt() {
        let own = OWN.get().unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| own.step())).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| own.run(|_| Err(())))).is_err());
        REFUSED.set(REFUSED.get() + 1);
    }
    impl Drop for Argument {
        fn drop(&mut self) {
            attempt();
        }
    }
    impl Future for Fut {
        type Output = ();
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            attempt();
            Poll::Ready(())
        }
    }
    impl Drop for Fut {
        fn drop(&mut self) {
            attempt();
        }
    }
    let spawner: &'static Spawner<Argument> = Box::leak(Box::default());
    let make: fn(Argument) -> Fut = |argument| {
        attempt();
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
    assert_eq!(REFUSED.get(), 8, "made, argument dropped, polled, dropped");
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn an_executor_may_run_in_a_task_of_another() {
    let outer_kept = Kept::default();
    let inner_kept = Kept::default();
    let spawner = Spawner::new();
    {
        let outer = pin!(BoxExecutor::boxed(&spawner, 2));
        let (outers, inners) = (outer_kept.clone(), inner_kept.clone());
        let task = async move {
            let spawner = Spawner::new();
            let inner = pin!(Executor::new(&spawner, Slab::with_capacity(2), keep));
            inner.as_ref().spawn(inners.clone()).unwrap();
            poll_fn(|cx| {
                outers.borrow_mut().push(cx.waker().clone());
                let _ = inner.as_ref().run(|park| {
                    assert_eq!(park, Park::Wait);
                    // A wake of either in the midst of both.
                    outers.borrow().iter().for_each(Waker::wake_by_ref);
                    Err(())
                });
                Poll::<()>::Pending
            })
            .await;
        };
        outer.as_ref().spawn(Box::pin(task)).unwrap();
        assert!(outer.as_ref().step());
        inner_kept.borrow().iter().for_each(Waker::wake_by_ref);
        assert!(outer.as_ref().step(), "it was woken in its poll");
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
    let kept = Kept::default();
    let spawner = Spawner::new();
    {
        let executor = pin!(Executor::new(
            &spawner,
            Slab::with_capacity(2),
            |kept: Kept| {
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
        steps(executor.as_ref());
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
            let touch = || WAKERS.with(|wakers| assert!(wakers.borrow().is_empty()));
            if !executor_is_older {
                touch();
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
            EXECUTOR.with(|place| *place.borrow_mut() = Some(executor));
            EXECUTOR.with(|place| {
                let place = place.borrow();
                let executor = place.as_ref().unwrap().as_ref();
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
    let kept = Kept::default();
    let waker = {
        let spawner = Spawner::new();
        let executor = pin!(Executor::new(
            &spawner,
            Slab::with_capacity(1),
            |kept: Kept| {
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
            let uses = scope.spawn(move || {
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
            uses.join().unwrap()
        })
    };
    waker.wake_by_ref();
    // On a thread that may be where the first was.
    let used = thread::spawn(move || waker.wake()).join();
    assert!(used.is_err());
}

#[test]
fn panics_at_every_point_leave_every_slot_consistent() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum At {
        Making,
        FirstPoll,
        SecondPoll,
        Drop,
    }
    let kept = Kept::default();
    let spawner = Spawner::new();
    let alive = Rc::new(());
    let executor = pin!(Executor::new(
        &spawner,
        Array::<_, _, 1>::new(),
        |at: At| {
            let (kept, alive) = (kept.clone(), alive.clone());
            assert!(at != At::Making, "made");
            let mut polls = 0;
            let bomb = OnDrop(move || assert!(at != At::Drop || thread::panicking(), "dropped"));
            async move {
                let _alive = alive;
                let _bomb = bomb;
                poll_fn(|cx| {
                    polls += 1;
                    kept.borrow_mut().push(cx.waker().clone());
                    cx.waker().wake_by_ref();
                    assert!(at != At::FirstPoll, "polled");
                    assert!(at != At::SecondPoll || polls < 2, "polled again");
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
    for at in [At::Making, At::FirstPoll, At::SecondPoll, At::Drop] {
        executor.spawn(at).unwrap();
        let panics = catch_unwind(AssertUnwindSafe(|| steps(executor)));
        assert!(panics.is_err(), "{at:?}");
        assert!(executor.is_empty(), "{at:?}");
        assert_eq!(Rc::strong_count(&alive), 1, "{at:?}");
        let wakers = kept.borrow().len();
        assert_eq!(spawner.spawn(at).is_err(), wakers > 0, "{at:?}");
        if wakers == 0 {
            assert!(catch_unwind(AssertUnwindSafe(|| steps(executor))).is_err());
        }
        kept.borrow().iter().for_each(Waker::wake_by_ref);
        kept.borrow_mut().drain(..).rev().for_each(Waker::wake);
        steps(executor);
    }
}
