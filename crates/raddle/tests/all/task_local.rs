//! Task-local variables.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::common::{each_flavor, panic_message};
use raddle::task::futures::TaskLocalFuture;
use raddle::task::{self, LocalSet};

raddle::task_local! {
    /// A declaration with documentation and a visibility.
    pub(crate) static NUMBER: u32;
    static TEXT: RefCell<String>;
}

raddle::task_local!(static SHARED: Rc<Cell<u32>>);
raddle::task_local!();

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Records the value of `NUMBER` when it is dropped.
struct SeesOnDrop<'a>(&'a RefCell<Vec<Option<u32>>>);

impl Drop for SeesOnDrop<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().push(NUMBER.try_get().ok());
    }
}

#[test]
fn each_task_sees_its_own_value() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..100)
                .map(|i| {
                    raddle::spawn(NUMBER.scope(i, async move {
                        for _ in 0..3 {
                            assert_eq!(NUMBER.get(), i);
                            task::yield_now().await;
                        }
                        // A spawned task does not inherit the value.
                        let inner = raddle::spawn(async { NUMBER.try_get().is_err() });
                        assert!(inner.await.unwrap());
                        NUMBER.with(|number| *number)
                    }))
                })
                .collect();
            for (i, task) in tasks.into_iter().enumerate() {
                assert_eq!(task.await.unwrap() as usize, i);
            }
            assert!(NUMBER.try_with(|_| ()).is_err());
        });
    });
}

#[test]
fn local_tasks_see_their_own_values() {
    each_flavor(|runtime| {
        let local = LocalSet::new();
        let counters: Vec<_> = (0..3).map(|_| Rc::new(Cell::new(0))).collect();
        for counter in &counters {
            local.spawn_local(SHARED.scope(Rc::clone(counter), async {
                for _ in 0..100 {
                    SHARED.with(|counter| counter.set(counter.get() + 1));
                    task::yield_now().await;
                }
            }));
        }
        runtime.block_on(local);
        for counter in counters {
            assert_eq!(counter.get(), 100);
            assert_eq!(Rc::strong_count(&counter), 1);
        }
    });
}

#[test]
fn an_inner_scope_hides_the_outer_value() {
    let runtime = crate::common::current_thread().build().unwrap();
    runtime.block_on(NUMBER.scope(1, async {
        NUMBER
            .scope(2, async {
                assert_eq!(NUMBER.get(), 2);
                task::yield_now().await;
                NUMBER.sync_scope(3, || assert_eq!(NUMBER.get(), 3));
                assert_eq!(NUMBER.get(), 2);
            })
            .await;
        assert_eq!(NUMBER.get(), 1);
        TEXT.sync_scope(RefCell::default(), || {
            TEXT.with(|text| text.borrow_mut().push('a'));
            assert_eq!(TEXT.get().into_inner(), "a");
            assert_eq!(NUMBER.get(), 1);
        });
    }));
    assert!(NUMBER.try_get().is_err());
}

#[test]
fn a_panic_restores_the_outer_value() {
    NUMBER.sync_scope(1, || {
        let message = panic_message(|| NUMBER.sync_scope(2, || panic!("at {}", NUMBER.get())));
        assert_eq!(message, "at 2");
        assert_eq!(NUMBER.get(), 1);

        let mut future = pin!(NUMBER.scope(3, async { panic!("at {}", NUMBER.get()) }));
        let message = panic_message(|| poll(future.as_mut()));
        assert_eq!(message, "at 3");
        assert_eq!(NUMBER.get(), 1);
        assert_eq!(future.take_value(), Some(3));
    });
}

#[test]
fn access_without_a_value_returns_an_error() {
    let error = NUMBER.try_get().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the task-local variable has no value here; set one with LocalKey::scope"
    );
    assert_eq!(panic_message(|| NUMBER.get()), error.to_string());
    assert_eq!(panic_message(|| NUMBER.with(|_| ())), error.to_string());
    assert_eq!(NUMBER.try_with(|_| ()), Err(error));
}

#[test]
fn a_borrowed_value_is_not_replaced() {
    NUMBER.sync_scope(1, || {
        let message = panic_message(|| NUMBER.with(|_| NUMBER.sync_scope(2, || ())));
        assert!(message.contains("while LocalKey::with borrows"));
        let mut future = pin!(NUMBER.scope(2, async {}));
        let message = panic_message(|| NUMBER.with(|_| poll(future.as_mut())));
        assert!(message.contains("while LocalKey::with borrows"));
        assert!(poll(future).is_ready());
        assert_eq!(NUMBER.get(), 1);
        // Reading is allowed.
        assert_eq!(NUMBER.with(|outer| outer + NUMBER.get()), 2);
    });
}

#[test]
fn the_value_outlives_the_future() {
    let mut future = pin!(NUMBER.scope(5, task::yield_now()));
    assert!(poll(future.as_mut()).is_pending());
    assert!(NUMBER.try_get().is_err());
    assert!(poll(future.as_mut()).is_ready());
    assert_eq!(future.as_mut().take_value(), Some(5));
    assert_eq!(future.as_mut().take_value(), None);
    let message = panic_message(|| poll(future));
    assert_eq!(
        message,
        "the future of a task-local scope was polled after it had completed; await it once"
    );
}

#[test]
fn a_value_taken_early_is_not_seen_again() {
    NUMBER.sync_scope(1, || {
        let seen = RefCell::default();
        let sees = SeesOnDrop(&seen);
        let mut future = Box::pin(NUMBER.scope(2, async {
            let _sees = sees;
            assert!(NUMBER.try_get().is_err());
            pending::<()>().await;
        }));
        assert_eq!(future.as_mut().take_value(), Some(2));
        assert!(poll(future.as_mut()).is_pending());
        drop(future);
        assert_eq!(*seen.borrow(), [None]);
        assert_eq!(NUMBER.get(), 1);
    });
}

#[test]
fn a_future_sees_the_value_while_it_is_dropped() {
    fn scoped<'a>(
        seen: &'a RefCell<Vec<Option<u32>>>,
        number: u32,
        ready: bool,
    ) -> TaskLocalFuture<u32, impl Future<Output = ()> + use<'a>> {
        let sees = SeesOnDrop(seen);
        NUMBER.scope(number, async move {
            let _sees = sees;
            if !ready {
                pending::<()>().await;
            }
        })
    }

    let seen = RefCell::default();
    // Futures that were never polled, are pending, are ready, and are pending inside two scopes.
    drop(scoped(&seen, 1, false));
    assert!(poll(pin!(scoped(&seen, 2, false))).is_pending());
    assert!(poll(pin!(scoped(&seen, 3, true))).is_ready());
    assert!(poll(pin!(NUMBER.scope(9, scoped(&seen, 4, false)))).is_pending());
    NUMBER.sync_scope(9, || {
        drop(scoped(&seen, 5, false));
        assert_eq!(NUMBER.get(), 9);
    });
    let all: Vec<_> = (1..=5).map(Some).collect();
    assert_eq!(*seen.borrow(), all);
    assert!(NUMBER.try_get().is_err());
}

/// Values that a task owns see the task-local value when the task is aborted or is dropped with its
/// set or runtime.
#[test]
fn an_aborted_task_sees_the_value_while_it_is_dropped() {
    struct Sends(std::sync::mpsc::Sender<u32>);
    impl Drop for Sends {
        fn drop(&mut self) {
            self.0.send(NUMBER.get()).unwrap();
        }
    }
    each_flavor(|runtime| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let task = |number| {
            let sends = Sends(sender.clone());
            NUMBER.scope(number, async move {
                let _sends = sends;
                pending::<()>().await;
            })
        };
        let aborted = runtime.spawn(task(1));
        runtime.block_on(async {
            task::yield_now().await;
            aborted.abort();
            assert!(aborted.await.unwrap_err().is_cancelled());
        });
        let local = LocalSet::new();
        local.spawn_local(task(2));
        local.block_on(&runtime, task::yield_now());
        drop(local);
        drop(runtime.spawn(task(3)));
        drop(runtime);
        drop(sender);
        assert!(receiver.iter().eq([1, 2, 3]));
    });
}

/// The length of an array, which may have any name.
const VALUE: usize = 3;

raddle::task_local! {
    static ARRAY: [u8; VALUE];
}

#[test]
fn the_type_may_name_a_constant_of_the_caller() {
    ARRAY.sync_scope([7; VALUE], || assert_eq!(ARRAY.get(), [7; 3]));
}
