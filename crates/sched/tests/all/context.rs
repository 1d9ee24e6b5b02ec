//! The current scheduler of a thread.

use std::cell::RefCell;

use crate::common::{OnDrop, POLICIES, config_of, current_thread, message_of, pool_of};
use raddle_sched::{Handle, Policy, Pool, Step, is_inside, is_on_pinned_worker, spawn, take_id};

/// The number of workers of the current scheduler, by which a test recognizes it.
fn current_workers() -> Option<usize> {
    Handle::try_current().map(|handle| handle.workers())
}

#[test]
fn current_and_spawn_outside_a_scheduler_panic_and_name_the_remedy() {
    assert!(Handle::try_current().is_none());
    for message in [
        message_of(|| drop(Handle::current())),
        message_of(|| drop(spawn(async {}))),
    ] {
        assert_eq!(message, raddle_leaf::misuse::NO_RUNTIME);
    }
}

#[test]
fn an_inner_enter_restores_the_outer_scheduler() {
    for policy in POLICIES {
        let (one, two) = (pool_of(policy, 1), pool_of(policy, 2));
        let outer = one.handle().enter();
        assert_eq!(current_workers(), Some(1));
        {
            let _inner = two.handle().enter();
            assert_eq!(current_workers(), Some(2));
            assert_eq!(Handle::current().workers(), 2);
        }
        assert_eq!(current_workers(), Some(1));
        drop(outer);
        assert_eq!(current_workers(), None);
    }
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn guards_may_be_dropped_in_any_order_or_forgotten() {
    for policy in POLICIES {
        std::thread::spawn(move || {
            let (one, two) = (pool_of(policy, 1), pool_of(policy, 2));
            let first = one.handle().enter();
            let second = two.handle().enter();
            drop(first);
            assert_eq!(current_workers(), Some(2));
            drop(second);
            assert_eq!(current_workers(), None);
            std::mem::forget(two.handle().enter());
            drop((one, two));
            assert_eq!(current_workers(), Some(2));
            // The scheduler was dropped, so a spawn is cancelled.
            let task = spawn(async {});
            assert!(task.is_finished());
        })
        .join()
        .unwrap();
    }
}

#[test]
fn a_scheduler_is_current_in_tasks_and_in_block_on() {
    for policy in POLICIES {
        let pool = pool_of(policy, 3);
        pool.handle().block_on(async {
            assert_eq!(current_workers(), Some(3));
            let inside = spawn(async { current_workers() }).await.unwrap();
            assert_eq!(inside, Some(3));
        });
        assert_eq!(current_workers(), None);
        let scheduler = current_thread();
        scheduler.block_on(async { assert_eq!(current_workers(), Some(1)) });
        assert_eq!(current_workers(), None);
    }
}

#[test]
fn is_inside_is_true_where_block_on_panics() {
    for policy in POLICIES {
        assert!(!is_inside());
        let pool = pool_of(policy, 1);
        {
            let _guard = pool.handle().enter();
            assert!(!is_inside());
        }
        pool.handle().block_on(async {
            assert!(is_inside());
            assert!(spawn(async { is_inside() }).await.unwrap());
        });
        assert!(!is_inside());
    }
}

/// The thread-local variables of the scheduler may be gone when the thread ends.
#[test]
fn destructors_of_thread_locals_may_use_a_scheduler() {
    for policy in POLICIES {
        type LastWords = OnDrop<Box<dyn FnMut()>>;
        thread_local! {
            static LAST: RefCell<Option<LastWords>> = const { RefCell::new(None) };
        }
        let pool = pool_of(policy, 1);
        let handle = pool.handle().clone();
        std::thread::spawn(move || {
            let scheduler = current_thread();
            let mut scheduler = Some(scheduler);
            let task = handle.spawn(std::future::pending::<()>());
            LAST.with(|last| {
                // This variable is initialized before the crate's own, so it is dropped after it.
                *last.borrow_mut() = Some(OnDrop(Box::new(move || {
                    let _ = Handle::try_current();
                    drop(handle.enter());
                    drop(handle.spawn(async {}));
                    task.abort();
                    drop(scheduler.take());
                })));
            });
            assert!(Handle::try_current().is_none());
            let guard = pool.handle().enter();
            drop(guard);
            drop(pool);
        })
        .join()
        .unwrap();
    }
}

#[test]
fn workers_are_numbered_from_zero() {
    for policy in POLICIES {
        let (handle, mut workers) = Pool::stepped(config_of(policy, 3), None);
        let _current = handle.enter();
        for (number, worker) in workers.iter_mut().enumerate() {
            let here = handle.clone();
            let task = match policy {
                Policy::Sharded => handle.spawn_on(number, || async move { here.current_worker() }),
                _ => handle.spawn(async move { here.current_worker() }),
            };
            assert_eq!(worker.step(), Step::Ran);
            assert_eq!(handle.block_on(task).unwrap(), Some(number));
        }
        assert_eq!(handle.current_worker(), None);
    }
    let scheduler = current_thread();
    let here = scheduler.handle().clone();
    let task = scheduler
        .handle()
        .spawn(async move { here.current_worker() });
    assert_eq!(scheduler.block_on(task).unwrap(), Some(0));
}

#[test]
fn only_workers_of_a_sharded_scheduler_are_pinned() {
    assert!(!is_on_pinned_worker());
    for policy in POLICIES {
        let pool = pool_of(policy, 1);
        let task = pool.handle().spawn(async { is_on_pinned_worker() });
        let is_pinned = pool.handle().block_on(task).unwrap();
        assert_eq!(is_pinned, policy == Policy::Sharded);
        let _current = pool.handle().enter();
        assert!(!is_on_pinned_worker(), "this thread is no worker");
    }
}

#[test]
fn an_id_is_shown_as_its_number() {
    let (one, two) = (take_id(), take_id());
    let numbers = [one, two].map(|id| id.to_string().parse::<u64>().unwrap());
    assert_ne!(numbers[0], numbers[1]);
    assert_eq!(format!("{one:?}"), format!("Id({})", numbers[0]));
}

#[test]
fn handles_of_one_scheduler_have_its_id() {
    for policy in POLICIES {
        let (one, two, three) = (pool_of(policy, 1), pool_of(policy, 1), current_thread());
        assert_eq!(one.handle().id(), one.handle().clone().id());
        assert_ne!(one.handle().id(), two.handle().id());
        assert_ne!(two.handle().id(), three.handle().id());
        let inside = three.block_on(async { Handle::current().id() });
        assert_eq!(inside, three.handle().id());
    }
}
