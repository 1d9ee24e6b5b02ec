//! Tests of the documented behaviour of a reader-writer lock.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use raddle_primitives::thread;
use raddle_sync::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};
use raddle_testing::{Wakes, calling, ready};
use static_assertions::{assert_impl_all, assert_not_impl_any};

use crate::common::{poll, poll_with, yields};

/// A type that is `Send` but not `Sync`.
type Sent = Cell<u32>;
/// A type that is neither `Send` nor `Sync`.
type Bound = Rc<u32>;

assert_impl_all!(RwLock<u32>: Send, Sync, Unpin);
assert_impl_all!(RwLock<Sent>: Send);
assert_not_impl_any!(RwLock<Sent>: Sync);
assert_not_impl_any!(RwLock<Bound>: Send, Sync);
assert_impl_all!(RwLockReadGuard<'static, u32>: Send, Sync, Unpin);
assert_not_impl_any!(RwLockReadGuard<'static, Sent>: Send, Sync);
assert_impl_all!(RwLockWriteGuard<'static, u32>: Send, Sync, Unpin);
assert_not_impl_any!(RwLockWriteGuard<'static, Sent>: Send, Sync);
assert_impl_all!(RwLockMappedWriteGuard<'static, u32>: Send, Sync);
assert_not_impl_any!(RwLockMappedWriteGuard<'static, Sent>: Send, Sync);
assert_not_impl_any!(RwLockMappedWriteGuard<'static, Bound>: Send, Sync);
assert_impl_all!(OwnedRwLockReadGuard<u32, u32>: Send, Sync);
assert_not_impl_any!(OwnedRwLockReadGuard<Sent, u32>: Send, Sync);
assert_not_impl_any!(OwnedRwLockReadGuard<u32, Sent>: Send, Sync);
assert_impl_all!(OwnedRwLockWriteGuard<u32>: Send, Sync);
assert_not_impl_any!(OwnedRwLockWriteGuard<Sent>: Send, Sync);
assert_impl_all!(OwnedRwLockMappedWriteGuard<u32, u32>: Send, Sync);
assert_not_impl_any!(OwnedRwLockMappedWriteGuard<Sent, u32>: Send, Sync);
assert_not_impl_any!(OwnedRwLockMappedWriteGuard<u32, Sent>: Sync);
assert_not_impl_any!(OwnedRwLockMappedWriteGuard<u32, Bound>: Send, Sync);

static STATIC: RwLock<u32> = RwLock::const_new(7);
static TWO: RwLock<u32> = RwLock::const_with_max_readers(7, 2);

#[test]
fn a_static_lock_can_be_locked() {
    let readers = (STATIC.try_read().unwrap(), TWO.try_read().unwrap());
    assert_eq!((*readers.0, *readers.1), (7, 7));
    assert!(STATIC.try_write().is_err());
}

#[test]
fn many_readers_or_one_writer_hold_the_lock() {
    let lock = RwLock::new(1);
    let one = ready(lock.read());
    let two = lock.try_read().unwrap();
    assert_eq!(*one + *two, 2);
    assert!(lock.try_write().is_err());
    drop((one, two));
    let mut writer = ready(lock.write());
    *writer += 1;
    assert!(lock.try_read().is_err());
    assert!(lock.try_write().is_err());
    drop(writer);
    assert_eq!(*lock.try_read().unwrap(), 2);
    *lock.try_write().unwrap() += 1;
    let mut lock = lock;
    *lock.get_mut() += 1;
    assert_eq!(lock.into_inner(), 4);
    assert_eq!(RwLock::<u32>::default().into_inner(), 0);
    assert_eq!(RwLock::from(3).into_inner(), 3);
}

#[test]
fn no_more_readers_than_the_maximum_hold_the_lock() {
    let lock = RwLock::with_max_readers(1, 2);
    let one = lock.try_read().unwrap();
    let two = lock.try_read().unwrap();
    assert!(lock.try_read().is_err());
    drop(one);
    drop(lock.try_read().unwrap());
    drop(two);
    assert!(lock.try_write().is_ok());
}

#[test]
fn a_maximum_of_readers_out_of_range_is_refused() {
    for readers in [0, (u32::MAX >> 3) + 1, u32::MAX] {
        assert!(catch_unwind(|| RwLock::with_max_readers(0, readers)).is_err());
        assert!(catch_unwind(|| RwLock::const_with_max_readers(0, readers)).is_err());
    }
    RwLock::with_max_readers(0, u32::MAX >> 3);
}

#[test]
fn a_downgraded_writer_releases_all_that_it_holds() {
    let lock = Arc::new(RwLock::with_max_readers(1, 3));
    let admits_three = || {
        let readers = [(); 3].map(|()| lock.try_read().unwrap());
        assert!(lock.try_read().is_err());
        drop(readers);
    };
    let write = || lock.try_write().unwrap();
    let write_owned = || lock.clone().try_write_owned().unwrap();
    drop(write().downgrade());
    admits_three();
    drop(RwLockWriteGuard::downgrade_map(write(), |value| value));
    admits_three();
    drop(RwLockWriteGuard::try_downgrade_map(write(), |value| {
        Some(value)
    }));
    admits_three();
    drop(write_owned().downgrade());
    admits_three();
    drop(OwnedRwLockWriteGuard::downgrade_map(
        write_owned(),
        |value| value,
    ));
    admits_three();
    drop(OwnedRwLockWriteGuard::try_downgrade_map(
        write_owned(),
        |value| Some(value),
    ));
    admits_three();
}

#[test]
fn no_reader_overtakes_a_waiting_writer() {
    let lock = RwLock::new(0);
    let reader = ready(lock.read());
    let (woken, waker) = Wakes::new();
    let mut writer = Box::pin(lock.write());
    assert!(poll_with(&mut writer, &waker).is_pending());
    let mut late = Box::pin(lock.read());
    assert!(poll(&mut late).is_pending());
    assert!(lock.try_read().is_err());
    drop(reader);
    assert_eq!(woken.get(), 1);
    assert!(poll(&mut late).is_pending());
    *ready(writer) += 1;
    assert_eq!(*ready(late), 1);
}

#[test]
fn waiting_readers_are_admitted_together() {
    let lock = RwLock::new(0);
    let writer = ready(lock.write());
    let wakers: Vec<_> = (0..3).map(|_| Wakes::new()).collect();
    let mut readers: Vec<_> = (0..3).map(|_| Box::pin(lock.read())).collect();
    for (reader, (_, waker)) in readers.iter_mut().zip(&wakers) {
        assert!(poll_with(reader, waker).is_pending());
    }
    drop(writer);
    assert!(wakers.iter().all(|(counter, _)| counter.get() == 1));
    let guards: Vec<_> = readers.into_iter().map(ready).collect();
    assert!(lock.try_write().is_err());
    drop(guards);
    assert!(lock.try_write().is_ok());
}

#[test]
fn a_downgrade_lets_no_writer_in_between() {
    let lock = Arc::new(RwLock::new((1, 2)));
    for owned in [false, true] {
        let (woken, waker) = Wakes::new();
        let mut reader = Box::pin(lock.read());
        let mut writer = Box::pin(lock.write());
        let check = |reader: &mut _, writer: &mut _| {
            assert!(poll_with(reader, &waker).is_pending());
            assert!(poll(writer).is_pending());
        };
        if owned {
            let mut guard = lock.clone().try_write_owned().unwrap();
            check(&mut reader, &mut writer);
            guard.0 += 1;
            let guard = guard.downgrade();
            assert_eq!(woken.get(), 1);
            assert_eq!(guard.0, ready(reader).0);
            assert!(poll(&mut writer).is_pending());
            drop(guard);
        } else {
            let mut guard = lock.try_write().unwrap();
            check(&mut reader, &mut writer);
            guard.0 += 1;
            let guard = guard.downgrade();
            assert_eq!(woken.get(), 1);
            assert_eq!(guard.0, ready(reader).0);
            assert!(poll(&mut writer).is_pending());
            drop(guard);
        }
        drop(ready(writer));
    }
    assert_eq!(lock.try_write().unwrap().0, 3);
}

#[test]
fn a_mapped_writer_can_be_downgraded() {
    let lock = Arc::new(RwLock::new((1, 2)));
    let writer = lock.try_write().unwrap();
    let writer = RwLockWriteGuard::try_downgrade_map(writer, |_| None::<&u32>).unwrap_err();
    assert!(lock.try_read().is_err());
    let one = RwLockWriteGuard::try_downgrade_map(writer, |value| Some(&value.0)).unwrap();
    assert_eq!((*one, *lock.try_read().unwrap()), (1, (1, 2)));
    drop(one);
    let two = RwLockWriteGuard::downgrade_map(lock.try_write().unwrap(), |value| &value.1);
    assert_eq!((*two, *lock.try_read().unwrap()), (2, (1, 2)));
    drop(two);

    let writer = lock.clone().try_write_owned().unwrap();
    let writer = OwnedRwLockWriteGuard::try_downgrade_map(writer, |_| None::<&u32>).unwrap_err();
    assert!(lock.try_read().is_err());
    let one = OwnedRwLockWriteGuard::try_downgrade_map(writer, |value| Some(&value.0)).unwrap();
    assert_eq!((*one, *lock.try_read().unwrap()), (1, (1, 2)));
    drop(one);
    let writer = lock.clone().try_write_owned().unwrap();
    let two = OwnedRwLockWriteGuard::downgrade_map(writer, |value| &value.1);
    assert_eq!((*two, *lock.try_read().unwrap()), (2, (1, 2)));
    drop(two);
    assert!(lock.try_write().is_ok());
}

#[test]
fn guards_can_be_mapped() {
    let lock = RwLock::new((1, (2, 3)));
    let guard = RwLockReadGuard::map(ready(lock.read()), |value| &value.1);
    let guard = RwLockReadGuard::try_map(guard, |_| None::<&u32>).unwrap_err();
    let guard = RwLockReadGuard::try_map(guard, |value| Some(&value.0)).unwrap();
    assert_eq!(format!("{guard} {guard:?}"), "2 2");
    assert!(lock.try_write().is_err());
    drop(guard);

    let guard = RwLockWriteGuard::map(ready(lock.write()), |value| &mut value.1);
    let mut guard = RwLockMappedWriteGuard::map(guard, |value| &mut value.0);
    *guard += 10;
    let guard = RwLockMappedWriteGuard::try_map(guard, |_| None::<&mut u32>).unwrap_err();
    let guard = RwLockMappedWriteGuard::try_map(guard, |value| Some(value)).unwrap();
    assert_eq!(format!("{guard} {guard:?}"), "12 12");
    assert!(lock.try_read().is_err());
    drop(guard);

    let guard = RwLockWriteGuard::try_map(ready(lock.write()), |_| None::<&mut u32>).unwrap_err();
    drop(RwLockWriteGuard::try_map(guard, |value| Some(&mut value.0)).unwrap());
    let mut guard = RwLockWriteGuard::into_mapped(ready(lock.write()));
    guard.0 = 5;
    drop(guard);
    assert_eq!(*lock.try_read().unwrap(), (5, (12, 3)));
}

#[test]
fn owned_guards_can_be_mapped_and_keep_the_lock_alive() {
    let lock = Arc::new(RwLock::new((1, (2, 3))));
    let guard = OwnedRwLockReadGuard::map(ready(lock.clone().read_owned()), |value| &value.1);
    let guard = OwnedRwLockReadGuard::try_map(guard, |_| None::<&u32>).unwrap_err();
    let guard = OwnedRwLockReadGuard::try_map(guard, |value| Some(&value.0)).unwrap();
    assert_eq!(format!("{guard} {guard:?}"), "2 2");
    assert!(Arc::ptr_eq(OwnedRwLockReadGuard::rwlock(&guard), &lock));
    assert!(lock.clone().try_write_owned().is_err());
    drop(guard);

    let guard = ready(lock.clone().write_owned());
    assert!(Arc::ptr_eq(OwnedRwLockWriteGuard::rwlock(&guard), &lock));
    let guard = OwnedRwLockWriteGuard::try_map(guard, |_| None::<&mut u32>).unwrap_err();
    drop(OwnedRwLockWriteGuard::try_map(guard, |value| Some(&mut value.0)).unwrap());
    let guard = OwnedRwLockWriteGuard::map(lock.clone().try_write_owned().unwrap(), |value| {
        &mut value.1
    });
    let mut guard = OwnedRwLockMappedWriteGuard::map(guard, |value| &mut value.0);
    *guard += 10;
    let guard = OwnedRwLockMappedWriteGuard::try_map(guard, |_| None::<&mut u32>).unwrap_err();
    let guard = OwnedRwLockMappedWriteGuard::try_map(guard, |value| Some(value)).unwrap();
    assert_eq!(format!("{guard} {guard:?}"), "12 12");
    assert!(Arc::ptr_eq(
        OwnedRwLockMappedWriteGuard::rwlock(&guard),
        &lock
    ));
    assert!(lock.clone().try_read_owned().is_err());
    drop(guard);

    let mut guard = OwnedRwLockWriteGuard::into_mapped(lock.clone().try_write_owned().unwrap());
    let weak = Arc::downgrade(&lock);
    drop(lock);
    guard.0 = 5;
    let lock = weak.upgrade().unwrap();
    drop(guard);
    assert_eq!(*lock.try_read_owned().unwrap(), (5, (12, 3)));
    assert!(weak.upgrade().is_none());
}

#[test]
fn unsized_values_can_be_locked() {
    let lock: Arc<RwLock<[u32]>> = Arc::new(RwLock::new([1, 2, 3]));
    ready(lock.write())[1] = 5;
    ready(lock.clone().write_owned())[2] = 6;
    assert_eq!(*ready(lock.read()), [1, 5, 6]);
    assert_eq!(ready(lock.clone().read_owned())[0], 1);
}

#[test]
fn a_panic_releases_the_lock_and_poisons_nothing() {
    let lock = Arc::new(RwLock::new(1));
    for step in 0..4 {
        let result = catch_unwind(AssertUnwindSafe(|| match step {
            0 => {
                *ready(lock.write()) += 1;
                let _reader = ready(lock.read());
                panic!("on purpose")
            }
            1 => drop(RwLockWriteGuard::map(
                ready(lock.write()),
                |_| -> &mut u32 { panic!("on purpose") },
            )),
            2 => drop(RwLockWriteGuard::downgrade_map(
                ready(lock.write()),
                |_| -> &u32 { panic!("on purpose") },
            )),
            _ => drop(OwnedRwLockReadGuard::map(
                ready(lock.clone().read_owned()),
                |_| -> &u32 { panic!("on purpose") },
            )),
        }));
        assert!(result.is_err());
        assert!(lock.try_write().is_ok(), "step {step}");
    }
    assert_eq!(*lock.try_read().unwrap(), 2);
}

#[test]
fn a_wait_dropped_at_any_poll_lets_the_next_waiter_lock() {
    for dropped_at in ["unpolled", "queued", "first in line", "served", "never"] {
        let lock = Arc::new(RwLock::new(0));
        let one = ready(lock.read());
        let other = ready(lock.read());
        let (woken, waker) = Wakes::new();
        let mut writer = Some(Box::pin(lock.clone().write_owned()));
        let mut reader = Box::pin(lock.read());
        writer = writer.filter(|_| dropped_at != "unpolled");
        let waits = writer.is_some();
        if let Some(writer) = &mut writer {
            assert!(poll(writer).is_pending());
        }
        assert_eq!(poll_with(&mut reader, &waker).is_pending(), waits);
        writer = writer.filter(|_| dropped_at != "queued");
        drop(one);
        writer = writer.filter(|_| dropped_at != "first in line");
        drop(other);
        writer = writer.filter(|_| dropped_at != "served");
        if let Some(writer) = writer {
            *ready(writer) += 1;
        }
        if waits {
            assert_eq!(woken.get(), 1, "{dropped_at}");
            drop(ready(reader));
        }
        assert!(lock.try_write().is_ok());
    }
}

#[test]
fn a_waker_may_panic_or_call_the_lock() {
    let lock = Arc::new(RwLock::new(0));
    let writer = ready(lock.write());
    let mut reader = Box::pin(lock.read());
    let waker = calling({
        let lock = lock.clone();
        move || {
            assert!(lock.try_read().is_ok());
            assert!(lock.try_write().is_err());
            drop(poll(&mut Box::pin(lock.write())));
            panic!("on purpose");
        }
    });
    assert!(poll_with(&mut reader, &waker).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(writer.downgrade()))).is_err());
    drop(ready(reader));
    assert!(lock.try_write().is_ok());
}

#[test]
fn threads_may_block_on_a_lock() {
    let lock = Arc::new(RwLock::new(0));
    let threads: Vec<_> = (0..4)
        .map(|index| {
            let lock = lock.clone();
            thread::spawn(move || {
                let mut last = 0;
                for _ in 0..100 {
                    if index % 2 == 0 {
                        *lock.blocking_write() += 1;
                    } else {
                        let seen = *lock.blocking_read();
                        assert!(seen >= last);
                        last = seen;
                    }
                    thread::yield_now();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*lock.try_read().unwrap(), 200);
}

#[test]
fn blocking_read_and_write_inside_a_poll_panic() {
    let lock = RwLock::new(0);
    for write in [false, true] {
        let result = catch_unwind(AssertUnwindSafe(|| {
            raddle_leaf::coop::budget(|| {
                if write {
                    drop(lock.blocking_write());
                } else {
                    drop(lock.blocking_read());
                }
            });
        }));
        assert!(result.is_err());
    }
    assert!(lock.try_write().is_ok());
}

#[test]
fn a_loop_over_a_free_lock_yields() {
    let lock = Arc::new(RwLock::new(0));
    assert_eq!(yields(async || drop(lock.read().await)), 7);
    assert_eq!(yields(async || *lock.write().await += 1), 7);
    assert_eq!(yields(async || drop(lock.clone().read_owned().await)), 7);
    assert_eq!(yields(async || *lock.clone().write_owned().await += 1), 7);
    assert_eq!(*lock.try_read().unwrap(), 2000);
}

#[test]
fn a_lock_and_its_guards_implement_debug() {
    let lock = Arc::new(RwLock::new(7));
    assert_eq!(format!("{lock:?}"), "RwLock { data: 7 }");
    let guard = ready(lock.write());
    assert_eq!(
        format!("{lock:?} {guard:?} {guard}"),
        "RwLock { data: <locked> } 7 7"
    );
    drop(guard);
    let guard = ready(lock.clone().write_owned());
    assert_eq!(format!("{guard:?} {guard}"), "7 7");
}
