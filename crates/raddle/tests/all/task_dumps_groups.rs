//! Dumps of many tasks that wait for the same thing.

use std::sync::Arc;

use raddle::runtime::dump::{Dump, ResourceKind, Role};
use raddle::runtime::{Builder, Handle, Runtime};
use raddle::sync::{Barrier, Mutex, Notify};
use raddle::task::yield_now;

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().enable_task_dumps().build().unwrap()
}

/// Takes a dump once all tasks have been polled.
async fn dump() -> Dump {
    // More often than the scheduler polls the future of `block_on` between so many tasks.
    let tasks = Handle::current().metrics().num_alive_tasks();
    for _ in 0..100 + tasks / 10 {
        yield_now().await;
    }
    Handle::current().dump().unwrap()
}

#[test]
fn a_dump_of_tasks_that_wait_at_one_line_has_a_few_lines() {
    const TASKS: usize = 100_000;
    runtime().block_on(async {
        let lock = Arc::new(Mutex::new(()));
        let guard = lock.lock().await;
        for _ in 0..TASKS {
            let lock = lock.clone();
            raddle::spawn(async move { drop(lock.lock().await) });
        }
        let dump = dump().await;
        let text = dump.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text:.1000}");
        let ids: Vec<_> = dump.tasks().iter().map(|task| task.id()).collect();
        assert_eq!(ids.len(), TASKS);
        assert!(lines[1].starts_with("100000 tasks, spawned at "), "{text}");
        let named = format!("s: task {}, task {}, task {}", ids[0], ids[1], ids[2]);
        assert!(
            lines[1].contains(&named) && lines[1].ends_with(" and 99996 others"),
            "{text}"
        );
        assert!(lines[2].starts_with("  wait for Mutex::lock at "), "{text}");
        assert!(lines[2].contains(", lock 0x"), "{text}");
        drop(guard);
    });
}

#[test]
fn tasks_with_other_waits_or_states_are_other_groups() {
    runtime().block_on(async {
        let lock = Arc::new(Mutex::new(()));
        let guard = lock.clone().lock_owned().await;
        for number in 0..12 {
            let lock = lock.clone();
            raddle::spawn(async move {
                match number % 3 {
                    0 => drop(lock.lock().await),
                    1 => drop(lock.lock().await),
                    _ => std::future::pending().await,
                }
            });
        }
        let dump = dump().await;
        let groups = dump.groups();
        assert_eq!(groups.len(), 3);
        for group in &groups {
            assert_eq!(group.tasks().len(), 4);
            let keys = group.tasks().iter().map(|task| task.group_key());
            assert!(keys.eq([group.key(); 4]));
        }
        assert_ne!(groups[0].key(), groups[1].key());
        // A few tasks have a line each.
        assert_eq!(dump.to_string().matches("\ntask ").count(), 12);
        drop(guard);
    });
}

#[test]
fn a_group_with_several_locks_says_so() {
    runtime().block_on(async {
        let locks: Vec<_> = (0..10).map(|_| Arc::new(Mutex::new(()))).collect();
        let mut guards = Vec::new();
        for lock in &locks {
            guards.push(lock.clone().lock_owned().await);
            let lock = lock.clone();
            raddle::spawn(async move { drop(lock.lock().await) });
        }
        let dump = dump().await;
        let [group] = &dump.groups()[..] else {
            panic!("{dump}");
        };
        assert!(!group.waits()[0].1);
        assert!(dump.to_string().contains(", such as lock 0x"), "{dump}");
        assert_eq!(dump.resources().len(), 10);
    });
}

#[test]
fn a_resource_names_its_holder_and_its_waiters() {
    runtime().block_on(async {
        let lock = Arc::new(Mutex::new(()));
        let both = Arc::new(Barrier::new(2));
        let holder = raddle::spawn({
            let (lock, both) = (lock.clone(), both.clone());
            async move {
                let _guard = lock.lock().await;
                both.wait().await;
                std::future::pending::<()>().await;
            }
        });
        both.wait().await;
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let lock = lock.clone();
                raddle::spawn(async move { drop(lock.lock().await) })
            })
            .collect();
        let dump = dump().await;
        let resources = dump.resources();
        let [resource] = &resources[..] else {
            panic!("{resources:?}");
        };
        assert_eq!(resource.kind(), ResourceKind::Lock);
        let id = |task: raddle::task::Id| std::num::NonZeroU64::from(task).get();
        let [user] = resource.users() else {
            panic!("{resource:?}");
        };
        assert_eq!(
            (user.task(), user.role()),
            (Some(id(holder.id())), Role::Holder)
        );
        assert!(
            user.location()
                .unwrap()
                .file()
                .ends_with("task_dumps_groups.rs")
        );
        let queue: Vec<_> = resource
            .waiters()
            .iter()
            .map(|waiter| waiter.task())
            .collect();
        let expected: Vec<_> = waiters.iter().map(|task| id(task.id())).collect();
        assert_eq!(queue, expected);
        assert!(resource.waiters()[0].time() >= resource.waiters()[2].time());
        holder.abort();
    });
}

#[test]
fn a_lock_whose_holder_is_known_comes_before_a_notification_with_more_waiters() {
    runtime().block_on(async {
        let notify = Arc::new(Notify::new());
        for _ in 0..3 {
            let notify = notify.clone();
            raddle::spawn(async move { notify.notified().await });
        }
        let lock = Arc::new(Mutex::new(()));
        let guard = lock.lock().await;
        let waits = lock.clone();
        raddle::spawn(async move { drop(waits.lock().await) });
        let dump = dump().await;
        let kinds: Vec<_> = dump.resources().iter().map(|it| it.kind()).collect();
        assert_eq!(kinds, [ResourceKind::Lock, ResourceKind::Notification]);
        drop(guard);
    });
}
