//! Models of waking: no wake is lost, each run sees what was written before the wakes that led to
//! it, and one run is over before the next begins.

use crate::common::{Flag, RunMode, Task, join, run};
use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;

fn wake(flag: Flag) {
    flag.set().wake();
}

fn wake_by_ref(flag: Flag) {
    flag.set().wake_by_ref();
}

/// Each waker is woken on its own thread (one on the main thread), which runs the task there. A
/// thread that wakes the task while another runs it, or is about to, leaves the run to that thread.
fn wake_on_threads(wakes: &[fn(Flag)]) {
    wake_task_on_threads(Task::new(wakes.len(), RunMode::Inline), wakes);
}

fn wake_task_on_threads(task: Task, wakes: &[fn(Flag)]) {
    let (tally, handle, mut flags) = task.start();
    let last = flags.pop().unwrap();
    let threads: Vec<_> = flags
        .into_iter()
        .zip(wakes.to_vec())
        .map(|(flag, wake)| thread::spawn(move || wake(flag)))
        .collect();
    wakes[wakes.len() - 1](last);
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(join(handle).unwrap(), 7);
    tally.check();
}

/// All interleavings are explored.
#[test]
fn two_wakes_by_value() {
    model::check(|| wake_on_threads(&[wake, wake]));
}

/// All interleavings are explored.
#[test]
fn two_wakes_by_reference() {
    model::check(|| wake_on_threads(&[wake_by_ref, wake_by_ref]));
}

/// All interleavings are explored.
#[test]
fn a_wake_by_value_and_one_by_reference() {
    model::check(|| wake_on_threads(&[wake, wake_by_ref]));
}

/// The second and third wake find the task notified, running or idle, and their flags must still be
/// seen (tokio 7622). Bounded.
#[test]
fn three_wakes() {
    Model::new()
        .preemptions(3)
        .check(|| wake_on_threads(&[wake_by_ref, wake, wake_by_ref]));
}

/// A task that wakes itself while others wake it: its own wake leaves no trace in the state word,
/// theirs must still be seen. All interleavings are explored.
#[test]
fn a_wake_of_itself_and_two_others() {
    model::check(|| {
        let task = Task::new(2, RunMode::Inline).self_waking();
        wake_task_on_threads(task, &[wake_by_ref, wake]);
    });
}

/// The task goes through a queue to another thread, which may have run and freed it before
/// `schedule` has returned on the waker's thread. All interleavings are explored.
fn wake_through_queue(wake: fn(Flag)) {
    let queue = Arc::new(Mutex::new(Vec::new()));
    let (tally, handle, mut flags) = Task::new(1, RunMode::Queued(queue.clone())).start();
    drop(handle);
    let flag = flags.pop().unwrap();
    let waker = thread::spawn(move || wake(flag));
    let mut task = queue.lock().pop();
    if task.is_none() {
        waker.join().unwrap();
        task = queue.lock().pop();
    } else {
        run(task.take().unwrap());
        waker.join().unwrap();
    }
    if let Some(task) = task {
        run(task);
    }
    drop(flags);
    tally.check();
}

/// All interleavings are explored.
#[test]
fn a_task_is_freed_while_its_waker_schedules_by_value() {
    model::check(|| wake_through_queue(wake));
}

/// All interleavings are explored.
#[test]
fn a_task_is_freed_while_its_waker_schedules_by_reference() {
    model::check(|| wake_through_queue(wake_by_ref));
}

#[test]
#[should_panic(expected = "a wake was lost")]
fn canary_a_flag_set_after_its_wake_is_caught() {
    model::check(|| {
        wake_on_threads(&[wake, |flag| {
            flag.waker.wake_by_ref();
            flag.set();
        }]);
    });
}
