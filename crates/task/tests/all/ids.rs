//! Ids: unique, and that of the task that runs.

use std::collections::HashSet;
use std::future::pending;
use std::num::NonZeroU64;
use std::panic::Location;
use std::thread;

use crate::common::{Executor, join};
use raddle_primitives::sync::Mutex;
use raddle_task::{Id, Runnable, Schedule};

#[test]
fn ids_are_unique_between_threads() {
    let ids = Mutex::new(HashSet::new());
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let executor = Executor::new();
                for _ in 0..2_000 {
                    let handle = executor.spawn(async {});
                    assert!(ids.lock().insert(handle.id()));
                    executor.run();
                }
            });
        }
    });
    assert_eq!(ids.lock().len(), 6_000);
}

#[test]
fn the_upcoming_id_is_the_next_tasks() {
    // Also past the end of a thread's block of ids.
    let executor = Executor::new();
    for _ in 0..5_000 {
        let id = raddle_task::upcoming_id();
        assert_eq!(raddle_task::upcoming_id(), id);
        assert_eq!(executor.spawn(async {}).id(), id);
        let taken = raddle_task::take_id();
        assert_ne!(taken, id);
        assert_ne!(executor.spawn(async {}).id(), taken);
    }
    executor.run();
}

#[test]
fn only_a_task_sees_its_own_id() {
    let executor = Executor::new();
    assert_eq!(raddle_task::try_id(), None);
    let handle = executor.spawn(async { (raddle_task::id(), raddle_task::try_id()) });
    let id = handle.id();
    executor.run();
    assert_eq!(join(handle).unwrap(), (id, Some(id)));
    assert_eq!(raddle_task::try_id(), None);
}

#[test]
fn a_task_run_in_another_has_its_own_id() {
    let executor = Executor::new();
    let (inner, inner_handle) = executor.task(async { raddle_task::id() });
    let handle = executor.spawn(async move {
        drop(inner.run());
        raddle_task::id()
    });
    let (id, inner_id) = (handle.id(), inner_handle.id());
    executor.run();
    assert_eq!(join(handle).unwrap(), id);
    assert_eq!(join(inner_handle).unwrap(), inner_id);
    executor.check();
}

/// Notes the task that it is dropped in.
#[derive(Default)]
struct AtDrop(std::sync::Arc<Mutex<Option<Id>>>);

impl Drop for AtDrop {
    fn drop(&mut self) {
        *self.0.lock() = raddle_task::try_id();
    }
}

#[test]
fn a_cancelled_future_is_dropped_under_its_id() {
    let executor = Executor::new();
    let at_drop = AtDrop::default();
    let seen = at_drop.0.clone();
    let handle = executor.spawn(async move {
        pending::<()>().await;
        drop(at_drop);
    });
    executor.run();
    handle.abort();
    executor.run();
    assert_eq!(*seen.lock(), Some(handle.id()));
}

#[test]
fn an_output_is_dropped_under_the_id_of_its_task() {
    let executor = Executor::new();
    for detached in [true, false] {
        let at_drop = AtDrop::default();
        let seen = at_drop.0.clone();
        let handle = executor.spawn(async move { at_drop });
        let id = handle.id();
        if detached {
            drop(handle);
            executor.run();
        } else {
            executor.run();
            drop(handle);
        }
        assert_eq!(*seen.lock(), Some(id));
    }
    executor.check();
}

#[test]
fn a_task_has_a_location_if_its_scheduler_records_locations() {
    #[derive(Clone)]
    struct Here(&'static Location<'static>);
    impl Schedule for Here {
        fn schedule(&self, task: Runnable) {
            drop(task);
        }
        fn spawned_at(&self) -> Option<&'static Location<'static>> {
            Some(self.0)
        }
    }
    let here = Location::caller();
    let (task, _handle) = raddle_task::spawn(pending::<()>(), Here(here));
    assert_eq!(task.spawned_at(), Some(here));
    let (task, _handle) = raddle_task::spawn(pending::<()>(), |task: Runnable| drop(task));
    assert_eq!(task.spawned_at(), None);
}

#[test]
fn a_task_has_the_name_of_its_future() {
    let discard = |task: Runnable| drop(task);
    let (task, _handle) = raddle_task::spawn(pending::<()>(), discard);
    assert!(task.future_name().contains("Pending<()>"));
    let (task, _handle) = raddle_task::spawn(async {}, discard);
    let function = "ids::a_task_has_the_name_of_its_future::{{closure}}";
    assert!(task.future_name().ends_with(function));
}

#[test]
#[should_panic(expected = "no task runs on this thread; call try_id if there may be none")]
fn an_id_outside_a_task_panics() {
    raddle_task::id();
}

#[test]
fn a_thread_takes_ids_in_blocks() {
    let ids: Vec<u64> = (0..1_000)
        .map(|_| NonZeroU64::from(raddle_task::take_id()).get())
        .collect();
    let jumps = ids.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    assert!(jumps <= 1, "{jumps} blocks for {} ids", ids.len());
}

#[test]
fn an_id_is_shown_as_its_number() {
    let id = raddle_task::take_id();
    assert_eq!(id.to_string(), NonZeroU64::from(id).to_string());
}
