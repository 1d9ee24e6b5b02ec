//! The memory of tasks that have completed.

use crate::common::Executor;
use crate::{HELD, ONE_TEST_AT_A_TIME};

/// What `rounds` of `count` tasks at once, each with `SIZE` bytes, leave behind.
fn held_after<const SIZE: usize>(rounds: usize, count: usize) -> isize {
    let executor = Executor::new();
    let run = || {
        let handles: Vec<_> = (0..count)
            .map(|_| {
                let bytes = [7_u8; SIZE];
                executor.spawn(async move {
                    std::future::ready(()).await;
                    bytes[0]
                })
            })
            .collect();
        executor.run();
        drop(handles);
        executor.check();
    };
    // The executor's own queue has its size then.
    run();
    let before = HELD.get();
    (0..rounds).for_each(|_| run());
    HELD.get() - before
}

#[test]
fn a_large_task_frees_its_memory() {
    let _alone = ONE_TEST_AT_A_TIME.lock();
    assert_eq!(held_after::<4096>(4, 50), 0);
}

#[test]
fn small_tasks_use_memory_again() {
    let _alone = ONE_TEST_AT_A_TIME.lock();
    // A size that no other test uses: the depot of a size is common to all threads.
    assert_eq!(held_after::<160>(4, 1_000), 0);
}

#[test]
fn a_burst_of_small_tasks_returns_most_of_its_memory() {
    let _alone = ONE_TEST_AT_A_TIME.lock();
    let before = HELD.get();
    held_after::<64>(1, 40_000);
    // The depot keeps a megabyte of one size, the thread two batches.
    let held = HELD.get() - before;
    assert!(held < 3 << 19, "{held} bytes");
}

#[test]
fn a_burst_returns_its_memory_also_with_spawns_between_its_ends() {
    let _alone = ONE_TEST_AT_A_TIME.lock();
    let executor = Executor::new();
    let spawn = || executor.spawn(async { std::hint::black_box([7_u8; 240])[0] });
    let before = HELD.get();
    let mut handles: Vec<_> = (0..40_000).map(|_| spawn()).collect();
    executor.run();
    handles.truncate(39_900);
    handles.push(spawn());
    executor.run();
    drop(handles);
    let held = HELD.get() - before;
    assert!(held < 3 << 20, "{held} bytes");
}

#[cfg(target_os = "linux")]
mod at_the_end_of_a_thread {
    use std::cell::RefCell;
    use std::sync::mpsc::{Sender, channel};
    use std::thread;

    use raddle_task::Runnable;

    use crate::{HELD, ONE_TEST_AT_A_TIME};

    thread_local! {
        static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
    }

    /// A task that is dropped with its thread, and how much memory that frees.
    struct Kept {
        task: Option<Runnable>,
        freed: Sender<isize>,
    }

    impl Drop for Kept {
        fn drop(&mut self) {
            let before = HELD.get();
            drop(self.task.take());
            self.freed.send(before - HELD.get()).unwrap();
        }
    }

    /// The memory that the thread has kept for the next task is gone by then: on Linux a thread's
    /// locals are dropped in the reverse order of their first use.
    #[test]
    fn a_task_that_is_dropped_at_the_end_of_its_thread_is_freed() {
        let _alone = ONE_TEST_AT_A_TIME.lock();
        let (freed, when_freed) = channel();
        thread::spawn(move || {
            KEPT.with(|_| {});
            let (task, handle) = raddle_task::spawn(async {}, |task: Runnable| drop(task));
            drop(handle);
            let task = Some(task);
            KEPT.set(Some(Kept { task, freed }));
        })
        .join()
        .unwrap();
        assert!(when_freed.recv().unwrap() > 0);
    }
}
