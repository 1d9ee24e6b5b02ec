//! Tests of cells that are set once.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;

use futures_lite::future::{pending, yield_now};
use raddle_sync::{OnceCell, SetError, SetOnce, SetOnceError};
use raddle_testing::{Wakes, calling, poll, poll_with, ready};

use crate::polling::{waits, yields};

#[test]
fn the_first_initialiser_sets_the_value() {
    let cell = OnceCell::new();
    assert_eq!(cell.get(), None);
    assert_eq!(ready(cell.get_or_init(async || 1)), &1);
    assert_eq!(ready(cell.get_or_init(async || 2)), &1);
    assert!(cell.initialized());
    assert_eq!(cell.into_inner(), Some(1));
}

#[test]
fn a_static_cell_works() {
    static EMPTY: OnceCell<u32> = OnceCell::const_new();
    static FULL: OnceCell<u32> = OnceCell::const_new_with(7);
    assert_eq!(EMPTY.set(6), Ok(()));
    assert_eq!((EMPTY.get(), FULL.get()), (Some(&6), Some(&7)));
}

#[test]
fn a_set_is_refused_during_and_after_the_initialisation() {
    let cell = OnceCell::new();
    {
        let mut making = pin!(cell.get_or_init(async || {
            yield_now().await;
            1
        }));
        assert!(poll(making.as_mut()).is_pending());
        let refused = cell.set(2).unwrap_err();
        assert!(refused.is_initializing_err());
        assert_eq!(refused, SetError::InitializingError(2));
        assert!(poll(making.as_mut()).is_ready());
    }
    let refused = cell.set(2).unwrap_err();
    assert!(refused.is_already_init_err());
    assert_eq!(refused, SetError::AlreadyInitializedError(2));
}

#[test]
fn waiters_receive_the_value() {
    let cell = OnceCell::new();
    let (woken, waker) = Wakes::new();
    let go = Cell::new(false);
    let mut making = pin!(cell.get_or_init(async || {
        while !go.get() {
            yield_now().await;
        }
        1
    }));
    assert!(poll(making.as_mut()).is_pending());
    let mut waiting: Vec<_> = (0..3)
        .map(|_| Box::pin(cell.get_or_init(async || unreachable!("the value was made twice"))))
        .collect();
    for wait in &mut waiting {
        assert!(poll_with(wait.as_mut(), &waker).is_pending());
    }
    go.set(true);
    assert!(poll(making.as_mut()).is_ready());
    assert_eq!(woken.get(), 3);
    for wait in &mut waiting {
        assert!(poll(wait.as_mut()).is_ready());
    }
}

/// An initialiser is dropped at one of its polls, fails, or panics: the next one in line is woken
/// and makes the value.
#[test]
fn the_next_waiter_initialises_after_a_failure() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum End {
        Drop,
        Fail,
        Panic,
    }
    for end in [End::Drop, End::Fail, End::Panic] {
        for polls in 1..4 {
            let cell = OnceCell::new();
            let (woken, waker) = Wakes::new();
            let mut making = Box::pin(cell.get_or_try_init(async || {
                for _ in 0..polls {
                    yield_now().await;
                }
                assert_ne!(end, End::Panic, "planted");
                Err("no")
            }));
            for _ in 0..polls {
                assert!(poll(making.as_mut()).is_pending());
            }
            let mut next = pin!(cell.get_or_try_init(async || Ok::<_, &str>(2)));
            assert!(poll_with(next.as_mut(), &waker).is_pending());
            match end {
                End::Drop => drop(making),
                End::Fail => assert_eq!(poll(making.as_mut()), Err("no").into()),
                End::Panic => {
                    catch_unwind(AssertUnwindSafe(|| poll(making.as_mut()))).unwrap_err();
                }
            }
            assert_eq!(woken.get(), 1, "{end:?}");
            assert_eq!(poll(next.as_mut()), Ok(&2).into());
        }
    }
}

/// When an initialiser stops, its successor has the permit at once, not only after its next poll.
#[test]
fn a_set_is_refused_once_the_next_waiter_may_initialise() {
    for drops in [false, true] {
        let cell = OnceCell::new();
        let (woken, waker) = Wakes::new();
        let mut making = Box::pin(cell.get_or_init(pending::<u32>));
        let mut next = Box::pin(cell.get_or_init(async || 2));
        assert!(poll(making.as_mut()).is_pending());
        assert!(poll_with(next.as_mut(), &waker).is_pending());
        drop(making);
        assert_eq!(woken.get(), 1);
        assert_eq!(cell.set(3), Err(SetError::InitializingError(3)));
        assert!(!cell.initialized());
        if drops {
            drop(next);
            assert_eq!(cell.set(3), Ok(()));
            assert_eq!(cell.set(4), Err(SetError::AlreadyInitializedError(4)));
        } else {
            assert_eq!(poll(next.as_mut()), std::task::Poll::Ready(&2));
        }
    }
}

/// If the next waiter in line is dropped, the waiter behind it tries.
#[test]
fn dropping_the_next_initialiser_lets_the_following_waiter_initialise() {
    for dropped_first in [false, true] {
        let cell = OnceCell::new();
        let (woken, waker) = Wakes::new();
        let mut making = Box::pin(cell.get_or_init(pending::<u32>));
        let mut second = Box::pin(cell.get_or_init(async || 2));
        let mut third = pin!(cell.get_or_init(async || 3));
        assert!(poll(making.as_mut()).is_pending());
        assert!(poll(second.as_mut()).is_pending());
        assert!(poll_with(third.as_mut(), &waker).is_pending());
        if dropped_first {
            drop(making);
            drop(second);
        } else {
            drop(second);
            drop(making);
        }
        assert_eq!(woken.get(), 1);
        assert_eq!(poll(third.as_mut()), std::task::Poll::Ready(&3));
    }
}

#[test]
fn a_value_can_be_taken_and_set_again() {
    let mut cell = OnceCell::new_with(Some(1));
    *cell.get_mut().unwrap() += 1;
    assert_eq!(cell.take(), Some(2));
    assert_eq!(cell.take(), None);
    assert!(cell.get_mut().is_none());
    assert_eq!(ready(cell.get_or_init(async || 3)), &3);
}

#[test]
fn a_set_during_an_initialisation_is_refused_also_after_a_take() {
    let mut cell = OnceCell::const_new();
    for value in 1..4 {
        {
            let mut making = pin!(cell.get_or_init(pending));
            assert!(poll(making.as_mut()).is_pending());
            assert_eq!(cell.set(9), Err(SetError::InitializingError(9)));
        }
        assert_eq!(cell.set(value), Ok(()));
        assert_eq!(cell.take(), Some(value));
    }
}

#[test]
fn a_cell_made_with_its_value_keeps_it() {
    let cell = OnceCell::from(1);
    assert_eq!(cell.set(2), Err(SetError::AlreadyInitializedError(2)));
    assert_eq!(ready(cell.get_or_init(async || 3)), &1);
    assert_eq!(ready(cell.get_or_try_init(async || Err(4))), Ok(&1));
    let cell = SetOnce::from(1);
    assert!(cell.initialized() && !SetOnce::<u32>::new().initialized());
    assert_eq!(cell.set(2), Err(SetOnceError(2)));
}

#[test]
fn cells_can_be_cloned_and_compared() {
    let cell = OnceCell::from(1);
    assert_eq!(cell.clone(), cell);
    assert_ne!(cell, OnceCell::default());
    assert_eq!(format!("{cell:?}"), "OnceCell(Some(1))");
    let set = SetOnce::from(1);
    assert_eq!(set.clone(), set);
    assert_ne!(set, SetOnce::default());
    assert_eq!(format!("{set:?}"), "SetOnce(Some(1))");
    assert_eq!(set.into_inner(), Some(1));
}

#[test]
fn a_value_is_dropped_once() {
    let value = Arc::new(());
    drop(OnceCell::from(value.clone()));
    drop(SetOnce::from(value.clone()));
    assert_eq!(Arc::strong_count(&value), 1);
    let mut cell = OnceCell::from(value.clone());
    let taken = cell.take();
    drop(cell);
    assert_eq!(Arc::strong_count(&value), 2);
    drop(taken);
    drop(OnceCell::<Arc<()>>::new());
}

#[test]
fn a_set_wakes_the_waiters() {
    let cell = SetOnce::new();
    let (woken, waker) = Wakes::new();
    assert!(waits(cell.wait()));
    let mut waiting = pin!(cell.wait());
    assert!(poll_with(waiting.as_mut(), &waker).is_pending());
    assert_eq!(cell.set(1), Ok(()));
    assert_eq!(woken.get(), 1);
    assert_eq!(cell.set(2), Err(SetOnceError(2)));
    assert_eq!(poll(waiting.as_mut()), std::task::Poll::Ready(&1));
    assert_eq!(ready(cell.wait()), &1);
}

#[test]
fn a_waker_that_panics_leaves_the_value() {
    static CELL: SetOnce<u32> = SetOnce::const_new();
    let mut waiting = pin!(CELL.wait());
    let panics = calling(|| {
        assert_eq!(CELL.get(), Some(&1));
        panic!("planted");
    });
    assert!(poll_with(waiting.as_mut(), &panics).is_pending());
    assert!(catch_unwind(|| CELL.set(1)).is_err());
    assert_eq!(poll(waiting.as_mut()), std::task::Poll::Ready(&1));
}

#[test]
fn a_loop_over_an_initialised_cell_yields() {
    let set = SetOnce::from(1);
    yields(async {
        loop {
            set.wait().await;
        }
    });
    yields(async {
        loop {
            OnceCell::new().get_or_init(async || 2).await;
        }
    });
}

#[test]
fn futures_are_send() {
    fn send<T: Send>(_: T) {}
    fn sync<T: Send + Sync>() {}
    sync::<OnceCell<u32>>();
    sync::<SetOnce<u32>>();
    let (cell, set) = (OnceCell::new(), SetOnce::<u32>::new());
    send(cell.get_or_init(async || 1));
    send(cell.get_or_try_init(async || Err::<u32, u32>(1)));
    send(set.wait());
}

/// Four threads set one cell; each thread then finds the value that was set first.
#[test]
fn a_set_that_fails_finds_the_value() {
    for _ in 0..200 {
        let cell = Arc::new(SetOnce::new());
        let threads: Vec<_> = (0..4)
            .map(|number| {
                let cell = cell.clone();
                std::thread::spawn(move || {
                    let won = cell.set(number).is_ok();
                    (won, number, *cell.get().unwrap())
                })
            })
            .collect();
        let ends = threads.into_iter().map(|thread| thread.join().unwrap());
        let winners = ends.filter(|&(won, number, found)| {
            assert_eq!(found, *cell.get().unwrap());
            assert_eq!(won, number == found);
            won
        });
        assert_eq!(winners.count(), 1);
    }
}
