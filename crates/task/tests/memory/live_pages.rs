//! The pages of a live list are freed, wherever their tasks complete.

use crate::common::Executor;
use crate::{HELD, ONE_TEST_AT_A_TIME};
use raddle_task::{LiveList, Outcome, Runnable, memory};

/// The number of tasks that fill ten pages.
const TASKS: usize = 310;
/// The number of rounds. If each of them leaked its ten pages, 200 KB would be held.
const ROUNDS: usize = 50;
/// The bytes by which two rounds may differ: a page, and the test's own memory.
const SLACK: isize = 2048;

fn adopted(executor: &Executor, live: &LiveList) -> Vec<Runnable> {
    let task = |_| {
        let (task, handle) = executor.task(async {});
        live.adopt(&task);
        drop(handle);
        task
    };
    (0..TASKS).map(task).collect()
}

/// Runs `round` `ROUNDS` times, and checks that no memory is left. The first runs fill the lists of
/// free cells.
fn leaves_nothing(mut round: impl FnMut()) {
    round();
    round();
    let before = HELD.get();
    (0..ROUNDS).for_each(|_| round());
    let grown = HELD.get() - before;
    assert!(grown < SLACK, "{grown} bytes more are held");
}

/// This is one test, so that its parts share the memory that the thread keeps.
#[test]
fn pages_are_freed_when_their_tasks_have_left() {
    let _alone = ONE_TEST_AT_A_TIME.lock();
    // This thread keeps the memory of the tasks, so that the counts are those of the pages.
    let _keeper = memory::keep();
    a_list_that_grows_reuses_slots_that_were_left_elsewhere();
    a_reclaimed_list_frees_pages_that_were_left_elsewhere();
    tasks_that_complete_on_the_list_s_thread_free_their_pages();
    the_last_task_to_leave_frees_the_page_of_a_dropped_list();
    a_dropped_list_frees_its_empty_pages();
    an_empty_page_is_freed_unless_it_is_the_only_one_with_free_slots();
}

fn a_list_that_grows_reuses_slots_that_were_left_elsewhere() {
    let executor = Executor::new();
    let live = LiveList::new();
    leaves_nothing(|| {
        for task in adopted(&executor, &live) {
            assert!(matches!(task.run(), Outcome::CompleteElsewhere));
        }
    });
}

fn a_reclaimed_list_frees_pages_that_were_left_elsewhere() {
    let executor = Executor::new();
    let live = LiveList::new();
    let before = HELD.get();
    for task in adopted(&executor, &live) {
        assert!(matches!(task.run(), Outcome::CompleteElsewhere));
    }
    // Each call visits a few pages.
    (0..TASKS).for_each(|_| live.reclaim());
    let grown = HELD.get() - before;
    assert!(grown < SLACK, "{grown} bytes more are held");
}

fn tasks_that_complete_on_the_list_s_thread_free_their_pages() {
    let executor = Executor::new();
    let live = LiveList::new();
    leaves_nothing(|| {
        for task in adopted(&executor, &live) {
            assert!(matches!(task.run_in(&live), Outcome::Complete));
        }
    });
}

fn the_last_task_to_leave_frees_the_page_of_a_dropped_list() {
    let executor = Executor::new();
    leaves_nothing(|| {
        let live = LiveList::new();
        let tasks = adopted(&executor, &live);
        drop(live);
        for task in tasks {
            assert!(matches!(task.run(), Outcome::CompleteElsewhere));
        }
    });
}

fn a_dropped_list_frees_its_empty_pages() {
    let executor = Executor::new();
    leaves_nothing(|| {
        let live = LiveList::new();
        for task in adopted(&executor, &live) {
            assert!(matches!(task.run_in(&live), Outcome::Complete));
        }
    });
}

/// Pages become empty in the order in which they were made, or in the reverse order, and have free
/// slots before.
fn an_empty_page_is_freed_unless_it_is_the_only_one_with_free_slots() {
    const SLOTS: usize = usize::BITS as usize / 2 - 1;
    let executor = Executor::new();
    let mut tasks: Vec<Option<Runnable>> = Vec::with_capacity(TASKS);
    for is_reversed in [false, true] {
        let live = LiveList::new();
        let run = |task: &mut Option<Runnable>| match task.take() {
            Some(task) => assert!(matches!(task.run_in(&live), Outcome::Complete)),
            None => panic!("it has run"),
        };
        tasks.clear();
        let without = HELD.get();
        tasks.extend(adopted(&executor, &live).into_iter().map(Some));
        tasks.iter_mut().for_each(run);
        let page = HELD.get() - without;
        assert!(
            page > (SLOTS * size_of::<usize>()) as isize,
            "one page is kept"
        );

        tasks.clear();
        tasks.extend(adopted(&executor, &live).into_iter().map(Some));
        let mut pages: Vec<_> = tasks.chunks_mut(SLOTS).collect();
        if is_reversed {
            pages.reverse();
        }
        pages.iter_mut().for_each(|page| run(&mut page[0]));
        let held = HELD.get();
        let count = pages.len();
        for (number, emptied) in pages.iter_mut().enumerate() {
            emptied[1..].iter_mut().for_each(run);
            let freed = held - HELD.get();
            let expected = (number + 1).min(count - 1) as isize * page;
            assert!(
                (freed - expected).abs() < page / 2,
                "{freed} bytes, not {expected}"
            );
        }
    }
}
