//! Tests of the documented behaviour of a mutex.

use std::cell::Cell;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use raddle_primitives::thread;
use raddle_sync::{
    MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard, TryLockError,
};
use raddle_testing::{Wakes, calling, ready};
use static_assertions::{assert_impl_all, assert_not_impl_any};

use crate::common::{poll, poll_with, yields};

/// A type that is `Send` but not `Sync`.
type Sent = Cell<u32>;
/// A type that is neither `Send` nor `Sync`.
type Bound = Rc<u32>;

assert_impl_all!(Mutex<Sent>: Send, Sync, Unpin);
assert_not_impl_any!(Mutex<Bound>: Send, Sync);
assert_impl_all!(MutexGuard<'static, u32>: Send, Sync, Unpin);
assert_impl_all!(MutexGuard<'static, Sent>: Send);
assert_not_impl_any!(MutexGuard<'static, Sent>: Sync);
assert_not_impl_any!(MutexGuard<'static, Bound>: Send, Sync);
assert_impl_all!(MappedMutexGuard<'static, Sent>: Send);
assert_not_impl_any!(MappedMutexGuard<'static, Sent>: Sync);
assert_not_impl_any!(MappedMutexGuard<'static, Bound>: Send, Sync);
assert_impl_all!(OwnedMutexGuard<u32>: Send, Sync, Unpin);
assert_impl_all!(OwnedMutexGuard<Sent>: Send);
assert_not_impl_any!(OwnedMutexGuard<Sent>: Sync);
assert_not_impl_any!(OwnedMutexGuard<Bound>: Send, Sync);
assert_impl_all!(OwnedMappedMutexGuard<u32, u32>: Send, Sync);
assert_not_impl_any!(OwnedMappedMutexGuard<u32, Sent>: Sync);
assert_not_impl_any!(OwnedMappedMutexGuard<Bound, u32>: Send, Sync);
assert_not_impl_any!(OwnedMappedMutexGuard<u32, Bound>: Send, Sync);
assert_impl_all!(TryLockError: Send, Sync, Error);

static STATIC: Mutex<u32> = Mutex::const_new(7);

#[test]
fn a_static_mutex_can_be_locked() {
    assert_eq!(*STATIC.try_lock().unwrap(), 7);
}

#[test]
fn each_guard_releases_the_lock_once() {
    let is_one = |mutex: &Mutex<(u32, u32)>| {
        let _guard = mutex.try_lock().unwrap();
        assert!(mutex.try_lock().is_err());
    };
    let mutex = Arc::new(Mutex::const_new((1, 2)));
    is_one(&mutex);
    drop(mutex.try_lock().unwrap());
    is_one(&mutex);
    let guard = mutex.try_lock().unwrap();
    drop(MutexGuard::map(guard, |pair| &mut pair.0));
    is_one(&mutex);
    drop(mutex.clone().try_lock_owned().unwrap());
    is_one(&mutex);
    let guard = mutex.clone().try_lock_owned().unwrap();
    drop(OwnedMutexGuard::map(guard, |pair| &mut pair.1));
    is_one(&mutex);
}

#[test]
fn one_task_at_a_time_holds_the_lock() {
    let mutex = Mutex::new(1);
    let mut guard = ready(mutex.lock());
    assert!(mutex.try_lock().is_err());
    assert!(std::ptr::eq(MutexGuard::mutex(&guard), &mutex));
    *guard += 1;
    drop(guard);
    assert_eq!(*mutex.try_lock().unwrap(), 2);
    let error = {
        let _guard = mutex.try_lock();
        mutex.try_lock().unwrap_err()
    };
    assert!(error.to_string().contains("held"));
    let mut mutex = mutex;
    *mutex.get_mut() = 5;
    assert_eq!(mutex.into_inner(), 5);
    assert_eq!(Mutex::<u32>::default().into_inner(), 0);
    assert_eq!(Mutex::from(3).into_inner(), 3);
}

#[test]
fn owned_guards_keep_the_mutex_alive() {
    let mutex = Arc::new(Mutex::new(1));
    let weak = Arc::downgrade(&mutex);
    let mut guard = ready(mutex.clone().lock_owned());
    assert!(mutex.clone().try_lock_owned().is_err());
    assert!(Arc::ptr_eq(OwnedMutexGuard::mutex(&guard), &mutex));
    drop(mutex);
    *guard += 1;
    let again = weak.upgrade().unwrap();
    drop(guard);
    assert_eq!(*again.try_lock_owned().unwrap(), 2);
    assert!(weak.upgrade().is_none());
}

#[test]
fn unsized_values_can_be_locked() {
    let mutex: Arc<Mutex<dyn Fn() -> u32 + Send>> = Arc::new(Mutex::new(|| 7));
    assert_eq!(ready(mutex.lock())(), 7);
    assert_eq!(ready(mutex.clone().lock_owned())(), 7);
    let slice: Box<Mutex<[u32]>> = Box::new(Mutex::new([1, 2, 3]));
    ready(slice.lock())[1] = 5;
    assert_eq!(*ready(slice.lock()), [1, 5, 3]);
}

#[test]
fn a_guard_can_be_mapped_and_holds_the_lock() {
    let mutex = Mutex::new((1, (2, 3)));
    let guard = MutexGuard::map(ready(mutex.lock()), |value| &mut value.1);
    let mut guard = MappedMutexGuard::map(guard, |value| &mut value.0);
    assert!(mutex.try_lock().is_err());
    *guard += 10;
    let guard = MappedMutexGuard::try_map(guard, |_| None::<&mut u32>).unwrap_err();
    let guard = MappedMutexGuard::try_map(guard, |value| Some(value)).unwrap();
    assert_eq!(
        (*guard, format!("{guard} {guard:?}")),
        (12, "12 12".to_owned())
    );
    drop(guard);
    let guard = ready(mutex.lock());
    assert_eq!(*guard, (1, (12, 3)));
    let guard = MutexGuard::try_map(guard, |_| None::<&mut u32>).unwrap_err();
    drop(MutexGuard::try_map(guard, |value| Some(&mut value.0)).unwrap());
    assert!(mutex.try_lock().is_ok());
}

#[test]
fn an_owned_guard_can_be_mapped_and_holds_the_lock() {
    let mutex = Arc::new(Mutex::new((1, (2, 3))));
    let guard = OwnedMutexGuard::map(ready(mutex.clone().lock_owned()), |value| &mut value.1);
    let mut guard = OwnedMappedMutexGuard::map(guard, |value| &mut value.0);
    assert!(mutex.try_lock().is_err());
    *guard += 10;
    let guard = OwnedMappedMutexGuard::try_map(guard, |_| None::<&mut u32>).unwrap_err();
    let guard = OwnedMappedMutexGuard::try_map(guard, |value| Some(value)).unwrap();
    assert_eq!(
        (*guard, format!("{guard} {guard:?}")),
        (12, "12 12".to_owned())
    );
    drop(guard);
    let guard = ready(mutex.clone().lock_owned());
    assert_eq!(*guard, (1, (12, 3)));
    let guard = OwnedMutexGuard::try_map(guard, |_| None::<&mut u32>).unwrap_err();
    drop(OwnedMutexGuard::try_map(guard, |value| Some(&mut value.0)).unwrap());
    assert!(mutex.try_lock().is_ok());
}

#[test]
fn a_panic_releases_the_lock_and_poisons_nothing() {
    let mutex = Mutex::new(1);
    for step in 0..3 {
        let result = catch_unwind(AssertUnwindSafe(|| {
            let mut guard = ready(mutex.lock());
            *guard += 1;
            match step {
                0 => panic!("on purpose"),
                1 => drop(MutexGuard::map(guard, |_| -> &mut u32 {
                    panic!("on purpose")
                })),
                _ => drop(MutexGuard::try_map(guard, |_| -> Option<&mut u32> {
                    panic!("on purpose")
                })),
            }
        }));
        assert!(result.is_err());
    }
    assert_eq!(*mutex.try_lock().unwrap(), 4);
}

#[test]
fn waiters_lock_in_order() {
    let mutex = Mutex::new(0);
    let held = ready(mutex.lock());
    let wakers: Vec<_> = (0..3).map(|_| Wakes::new()).collect();
    let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(mutex.lock())).collect();
    for (lock, (_, waker)) in waiting.iter_mut().zip(&wakers) {
        assert!(poll_with(lock, waker).is_pending());
    }
    drop(held);
    for (index, lock) in waiting.into_iter().enumerate() {
        let woken: Vec<_> = wakers.iter().map(|(counter, _)| counter.get()).collect();
        assert_eq!(woken.iter().sum::<usize>(), index + 1);
        assert_eq!(woken[index], 1);
        assert!(
            mutex.try_lock().is_err(),
            "the permit is reserved for the waiter"
        );
        *ready(lock) += 1;
    }
    assert_eq!(mutex.into_inner(), 3);
}

#[test]
fn a_wait_dropped_at_any_poll_lets_the_next_waiter_lock() {
    for dropped_at in ["unpolled", "queued", "served", "never"] {
        let mutex = Arc::new(Mutex::new(0));
        let held = ready(mutex.lock());
        let (woken, waker) = Wakes::new();
        let mut first = Some(Box::pin(mutex.clone().lock_owned()));
        let mut last = Box::pin(mutex.lock());
        first = first.filter(|_| dropped_at != "unpolled");
        if let Some(first) = &mut first {
            assert!(poll(first).is_pending());
        }
        assert!(poll_with(&mut last, &waker).is_pending());
        first = first.filter(|_| dropped_at != "queued");
        drop(held);
        first = first.filter(|_| dropped_at != "served");
        if let Some(first) = first {
            *ready(first) += 1;
        }
        assert_eq!(woken.get(), 1, "{dropped_at}");
        drop(ready(last));
        assert!(mutex.try_lock().is_ok());
    }
}

#[test]
fn a_waker_may_panic_or_call_the_mutex() {
    let mutex = Arc::new(Mutex::new(0));
    let held = ready(mutex.lock());
    let mut waiting = Box::pin(mutex.lock());
    let waker = calling({
        let mutex = mutex.clone();
        move || {
            assert!(mutex.try_lock().is_err());
            drop(poll(&mut Box::pin(mutex.lock())));
            panic!("on purpose");
        }
    });
    assert!(poll_with(&mut waiting, &waker).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(held))).is_err());
    drop(ready(waiting));
    assert!(mutex.try_lock().is_ok());
}

#[test]
fn threads_may_block_on_a_mutex() {
    let mutex = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..4)
        .map(|index| {
            let mutex = mutex.clone();
            thread::spawn(move || {
                for _ in 0..100 {
                    if index % 2 == 0 {
                        *mutex.blocking_lock() += 1;
                    } else {
                        *mutex.clone().blocking_lock_owned() += 1;
                    }
                    thread::yield_now();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*mutex.try_lock().unwrap(), 400);
}

#[test]
fn blocking_lock_inside_a_poll_panics() {
    let mutex = Arc::new(Mutex::new(0));
    for owned in [false, true] {
        let result = catch_unwind(AssertUnwindSafe(|| {
            raddle_leaf::coop::budget(|| {
                if owned {
                    drop(mutex.clone().blocking_lock_owned());
                } else {
                    drop(mutex.blocking_lock());
                }
            });
        }));
        assert!(result.is_err());
    }
    assert!(mutex.try_lock().is_ok());
}

#[test]
fn a_loop_over_a_free_mutex_yields() {
    let mutex = Arc::new(Mutex::new(0));
    assert_eq!(yields(async || *mutex.lock().await += 1), 7);
    assert_eq!(yields(async || *mutex.clone().lock_owned().await += 1), 7);
    assert_eq!(*mutex.try_lock().unwrap(), 2000);
}

#[test]
fn a_mutex_and_its_guards_implement_debug() {
    let mutex = Mutex::new(7);
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 7 }");
    let guard = ready(mutex.lock());
    assert_eq!(
        format!("{mutex:?} {guard:?} {guard}"),
        "Mutex { data: <locked> } 7 7"
    );
    let owned = Arc::new(Mutex::new(8)).try_lock_owned().unwrap();
    assert_eq!(format!("{owned:?} {owned}"), "8 8");
}

#[test]
fn a_waiter_woken_without_budget_locks_at_its_next_poll() {
    let mutex = Mutex::new(());
    let held = mutex.try_lock().unwrap();
    raddle_leaf::coop::budget(|| {
        while let Some(unit) = raddle_leaf::coop::try_proceed() {
            unit.made_progress();
        }
        let (first_wakes, first_waker) = Wakes::new();
        let (second_wakes, second_waker) = Wakes::new();
        let mut first = Box::pin(mutex.lock());
        let mut second = Box::pin(mutex.lock());
        assert!(poll_with(&mut first, &first_waker).is_pending());
        assert!(poll_with(&mut second, &second_waker).is_pending());
        drop(held);
        assert_eq!((first_wakes.get(), second_wakes.get()), (1, 0));
        assert!(raddle_leaf::coop::budget(|| poll_with(&mut first, &first_waker)).is_ready());
    });
}

#[test]
fn a_task_without_budget_does_not_lock_a_free_mutex() {
    let mutex = Mutex::new(());
    raddle_leaf::coop::budget(|| {
        while let Some(unit) = raddle_leaf::coop::try_proceed() {
            unit.made_progress();
        }
        let (wakes, waker) = Wakes::new();
        assert!(poll_with(&mut Box::pin(mutex.lock()), &waker).is_pending());
        assert_eq!(wakes.get(), 1, "the future has to be polled again");
        assert!(mutex.try_lock().is_ok());
    });
}
