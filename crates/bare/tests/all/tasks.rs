//! Tests of spawning, running and dropping tasks.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;

use raddle_bare::{Array, BoxExecutor, BoxFuture, Executor, Park, Slab, Spawner, Storage};

fn run_to_completion<A, F, M, S>(executor: Pin<&Executor<'_, A, F, M, S>>)
where
    F: Future<Output = ()>,
    M: Fn(A) -> F,
    S: Storage<A, F>,
{
    let Ok(()) = executor.run(|_| -> Result<(), Infallible> { panic!("no task is woken") });
}

/// Wakes its task and is pending once.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Pushes its number to the list when it is dropped.
struct RecordDrop<'a>(&'a RefCell<Vec<u32>>, u32);

impl Drop for RecordDrop<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().push(self.1);
    }
}

#[test]
fn tasks_run_in_the_order_in_which_they_became_ready() {
    let order = RefCell::new(Vec::new());
    let spawner = Spawner::new();
    let executor = pin!(Executor::new(&spawner, Slab::with_capacity(3), async |n| {
        for round in 0..2 {
            order.borrow_mut().push(10 * round + n);
            yield_now().await;
        }
    }));
    for n in 1..=3 {
        executor.as_ref().spawn(n).unwrap();
    }
    assert_eq!((executor.len(), executor.capacity()), (3, 3));
    assert!(order.borrow().is_empty(), "a spawn does not run the task");
    run_to_completion(executor.as_ref());
    assert_eq!(*order.borrow(), [1, 2, 3, 11, 12, 13]);
    assert!(executor.is_empty());
}

#[test]
fn one_function_runs_several_kinds_of_tasks() {
    enum Job {
        Tree(u32),
        Leaf,
    }
    async fn grow(job: Job, spawner: &Spawner<Job>, leaves: &Cell<u32>) {
        match job {
            Job::Tree(0) => spawner.spawn(Job::Leaf).unwrap(),
            Job::Tree(height) => {
                spawner.spawn(Job::Tree(height - 1)).unwrap();
                spawner.spawn(Job::Tree(height - 1)).unwrap();
                yield_now().await;
            }
            Job::Leaf => leaves.set(leaves.get() + 1),
        }
    }
    let leaves = Cell::new(0);
    let spawner = Spawner::new();
    let executor = pin!(Executor::new(&spawner, Array::<_, _, 64>::new(), |job| {
        grow(job, &spawner, &leaves)
    }));
    executor.as_ref().spawn(Job::Tree(4)).unwrap();
    run_to_completion(executor.as_ref());
    assert_eq!(leaves.get(), 16);
}

#[test]
fn a_full_executor_returns_the_argument_until_a_task_ends() {
    let spawner = Spawner::new();
    let executor = pin!(Executor::new(
        &spawner,
        Array::<_, _, 2>::new(),
        async |text: String| drop(text)
    ));
    let executor = executor.as_ref();
    for _ in 0..3 {
        executor.spawn("one".to_owned()).unwrap();
        spawner.spawn("two".to_owned()).unwrap();
        let error = spawner.spawn("three".to_owned()).unwrap_err();
        assert!(error.is_full());
        assert_eq!(
            error.to_string(),
            "the executor's storage is full; wait until a task has ended"
        );
        assert_eq!(error.into_argument(), "three");
        run_to_completion(executor);
    }
}

#[test]
fn a_spawner_without_an_executor_returns_the_argument() {
    let spawner = Spawner::new();
    let error = spawner.spawn(7).unwrap_err();
    assert!(!error.is_full());
    assert_eq!(error.into_argument(), 7);
    {
        let executor = pin!(Executor::new(
            &spawner,
            Slab::with_capacity(1),
            async |_| ()
        ));
        executor.as_ref().spawn(1).unwrap();
    }
    assert!(!spawner.spawn(8).unwrap_err().is_full());
}

#[test]
#[should_panic(expected = "already has an executor")]
fn spawning_on_a_second_executor_of_a_spawner_panics() {
    let spawner = Spawner::new();
    let first = pin!(Executor::new(
        &spawner,
        Slab::with_capacity(1),
        async |()| ()
    ));
    let second = pin!(Executor::new(
        &spawner,
        Slab::with_capacity(1),
        async |()| ()
    ));
    first.as_ref().spawn(()).unwrap();
    second.as_ref().spawn(()).unwrap();
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_spawner_of_a_leaked_executor_may_still_spawn() {
    let spawner = Spawner::new();
    let ran = Cell::new(0);
    {
        let short_lived = Cell::new(0);
        let executor = Box::pin(Executor::new(&spawner, Slab::with_capacity(2), |()| {
            short_lived.set(short_lived.get() + 1);
            ran.set(ran.get() + 1);
            async {}
        }));
        executor.as_ref().spawn(()).unwrap();
        std::mem::forget(executor);
    }
    spawner.spawn(()).unwrap();
    assert!(spawner.spawn(()).unwrap_err().is_full());
    assert_eq!(
        ran.get(),
        0,
        "the leaked executor's borrows are not used again"
    );
}

#[test]
fn each_step_polls_one_task() {
    let spawner = Spawner::new();
    let executor = pin!(Executor::new(
        &spawner,
        Slab::with_capacity(1),
        async |()| {
            yield_now().await;
        }
    ));
    let executor = executor.as_ref();
    assert!(!executor.step());
    executor.spawn(()).unwrap();
    assert!(executor.step());
    assert_eq!(executor.len(), 1);
    assert!(executor.step());
    assert!(executor.is_empty() && !executor.step());
}

#[test]
fn events_are_polled_while_tasks_are_always_ready() {
    let stop = Cell::new(false);
    let spawner = Spawner::new();
    let executor = pin!(Executor::new(
        &spawner,
        Slab::with_capacity(1),
        async |()| {
            while !stop.get() {
                yield_now().await;
            }
        }
    ));
    executor.as_ref().spawn(()).unwrap();
    let Ok(()) = executor.as_ref().run(|park| {
        assert_eq!(park, Park::CheckEvents);
        stop.set(true);
        Ok::<(), Infallible>(())
    });
}

#[test]
fn events_are_not_polled_after_the_last_task_has_ended() {
    let spawner = Spawner::new();
    for tasks in 100..200 {
        let executor = pin!(Executor::new(
            &spawner,
            Slab::with_capacity(tasks),
            async |()| ()
        ));
        for _ in 0..tasks {
            executor.as_ref().spawn(()).unwrap();
        }
        let result = executor
            .as_ref()
            .run(|park| if tasks <= 128 { Err(park) } else { Ok(()) });
        assert_eq!(
            result,
            Ok(()),
            "{tasks} tasks that complete at their first poll"
        );
    }
}

#[test]
fn an_error_of_park_keeps_the_tasks() {
    let done = Cell::new(false);
    let waker = Cell::new(None);
    let spawner = Spawner::new();
    let executor = pin!(Executor::new(
        &spawner,
        Slab::with_capacity(1),
        async |()| {
            poll_fn(|cx| {
                waker.set(Some(cx.waker().clone()));
                if done.get() {
                    waker.take();
                    return Poll::Ready(());
                }
                Poll::Pending
            })
            .await;
        }
    ));
    let executor = executor.as_ref();
    executor.spawn(()).unwrap();
    assert_eq!(
        executor.run(|park| {
            assert_eq!(park, Park::Wait);
            Err("no")
        }),
        Err("no")
    );
    assert_eq!(executor.len(), 1);
    done.set(true);
    waker.take().unwrap().wake();
    run_to_completion(executor);
}

#[test]
fn a_panic_ends_only_its_task() {
    #[derive(Clone, Copy, PartialEq)]
    enum PanicIn {
        Nothing,
        TaskFunction,
        Poll,
        Drop,
    }
    struct Bomb(bool);
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(!self.0, "panic in the drop");
        }
    }
    for panic_in in [PanicIn::TaskFunction, PanicIn::Poll, PanicIn::Drop] {
        let dropped = Rc::new(());
        let spawner = Spawner::new();
        let executor = pin!(Executor::new(
            &spawner,
            Array::<_, _, 2>::new(),
            |panic_in| {
                assert!(
                    panic_in != PanicIn::TaskFunction,
                    "panic in the task function"
                );
                let dropped = dropped.clone();
                async move {
                    let _dropped = dropped;
                    let _bomb = Bomb(panic_in == PanicIn::Drop);
                    yield_now().await;
                    assert!(panic_in != PanicIn::Poll, "panic in the poll");
                }
            }
        ));
        let executor = executor.as_ref();
        executor.spawn(panic_in).unwrap();
        executor.spawn(PanicIn::Nothing).unwrap();
        let panic = catch_unwind(AssertUnwindSafe(|| run_to_completion(executor)));
        assert!(panic.is_err());
        assert_eq!(executor.len(), 1, "the other task is still there");
        run_to_completion(executor);
        assert_eq!(Rc::strong_count(&dropped), 1);
        executor.spawn(PanicIn::Nothing).unwrap();
        executor.spawn(PanicIn::Nothing).unwrap();
        run_to_completion(executor);
    }
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
#[should_panic(expected = "may not run the executor that runs it")]
fn a_task_that_runs_its_executor_panics() {
    type Inner = BoxExecutor<'static, 'static>;
    thread_local! {
        static INNER: Cell<Option<Pin<&'static Inner>>> = const { Cell::new(None) };
    }
    let spawner = Box::leak(Box::new(Spawner::new()));
    let executor: Pin<&'static Inner> =
        Pin::static_ref(Box::leak(Box::new(Inner::boxed(spawner, 1))));
    INNER.set(Some(executor));
    let nested = async { run_to_completion(INNER.get().unwrap()) };
    executor.spawn(Box::pin(nested)).unwrap();
    run_to_completion(executor);
}

#[test]
fn dropping_the_executor_drops_every_task_and_refuses_more() {
    let order = RefCell::new(Vec::new());
    let refused = Cell::new(0);
    let spawner = Spawner::new();
    struct SpawnOnDrop<'a>(&'a Spawner<u32>, &'a Cell<u32>);
    impl Drop for SpawnOnDrop<'_> {
        fn drop(&mut self) {
            self.1.set(self.0.spawn(9).unwrap_err().into_argument());
        }
    }
    {
        let executor = pin!(Executor::new(&spawner, Slab::with_capacity(4), async |n| {
            let _record = RecordDrop(&order, n);
            let _spawn = SpawnOnDrop(&spawner, &refused);
            pending::<()>().await;
        }));
        executor.as_ref().spawn(1).unwrap();
        executor.as_ref().spawn(2).unwrap();
        while executor.as_ref().step() {}
    }
    order.borrow_mut().sort_unstable();
    assert_eq!(*order.borrow(), [1, 2]);
    assert_eq!(refused.get(), 9);
}

#[test]
fn dropping_the_executor_drops_arguments_of_tasks_not_yet_started() {
    let argument = Rc::new(());
    let spawner = Spawner::new();
    {
        let executor = pin!(Executor::new(
            &spawner,
            Array::<_, _, 2>::new(),
            async |_: Rc<()>| ()
        ));
        executor.as_ref().spawn(argument.clone()).unwrap();
        assert_eq!(Rc::strong_count(&argument), 2);
    }
    assert_eq!(Rc::strong_count(&argument), 1);
}

#[test]
fn a_panic_in_a_drop_does_not_prevent_the_drops_of_other_tasks() {
    struct Bomb<'a>(RecordDrop<'a>);
    impl Drop for Bomb<'_> {
        fn drop(&mut self) {
            assert!(self.0.1 != 2, "the drop of the second task");
        }
    }
    let order = RefCell::new(Vec::new());
    let spawner = Spawner::new();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let executor = pin!(Executor::new(
            &spawner,
            Array::<_, _, 3>::new(),
            async |n| {
                let _bomb = Bomb(RecordDrop(&order, n));
                pending::<()>().await;
            }
        ));
        for n in 1..=3 {
            executor.as_ref().spawn(n).unwrap();
        }
        while executor.as_ref().step() {}
    }));
    assert!(panic.is_err());
    order.borrow_mut().sort_unstable();
    assert_eq!(*order.borrow(), [1, 2, 3]);
}

#[test]
fn a_boxed_executor_runs_futures_of_different_types() {
    async fn outer<'a>(spawner: &'a Spawner<BoxFuture<'a>>, sum: &'a Cell<u64>) {
        spawner
            .spawn_boxed(async { sum.set(sum.get() + 1) })
            .unwrap();
        let large = [1_u64; 100];
        yield_now().await;
        sum.set(sum.get() + large.iter().sum::<u64>());
    }
    let sum = Cell::new(0);
    let spawner = Spawner::new();
    let executor = pin!(BoxExecutor::boxed(&spawner, 4));
    executor
        .as_ref()
        .spawn(Box::pin(outer(&spawner, &sum)))
        .unwrap();
    run_to_completion(executor.as_ref());
    assert_eq!(sum.get(), 101);
}

#[test]
fn futures_are_aligned_and_keep_their_address() {
    #[repr(align(64))]
    struct Aligned(u8);
    let spawner = Spawner::new();
    let executor = pin!(Executor::new(
        &spawner,
        Slab::with_capacity(3),
        async |n: u8| {
            let value = Aligned(n);
            let address = &raw const value;
            for _ in 0..3 {
                yield_now().await;
                assert_eq!(address, &raw const value);
                assert_eq!(address.addr() % 64, 0);
                assert_eq!(value.0, n);
            }
        }
    ));
    for n in 0..3 {
        executor.as_ref().spawn(n).unwrap();
    }
    run_to_completion(executor.as_ref());
}
