//! Models of the list that tells a set of join handles which of them to poll: a key is taken, or
//! the waiter is woken for it.

use std::sync::Arc;
use std::task::{Context, Waker};

use crate::common::{RunMode, Task, Woken, poll, run};
use raddle_primitives::model::{self, Model, Race};
use raddle_primitives::thread;
use raddle_task::ReadyList;

/// Pushes a key on a thread of its own.
fn push(list: &Arc<ReadyList>, key: usize) -> thread::JoinHandle<()> {
    let member = list.waker(key);
    thread::spawn(move || member.wake())
}

fn pop_or_wait(list: &ReadyList, waker: &Waker) -> Option<usize> {
    list.pop_or_wait(&Context::from_waker(waker))
}

/// All interleavings are explored.
#[test]
fn a_key_is_taken_or_the_waiter_woken() {
    model::check(|| {
        let list = Arc::new(ReadyList::default());
        let (woken, waker) = Woken::new();
        let pushing = push(&list, 1);
        let taken = pop_or_wait(&list, &waker);
        pushing.join().unwrap();
        assert!(taken == Some(1) || woken.get(), "the key waits for ever");
        assert_eq!(taken.or_else(|| list.pop()), Some(1));
        assert_eq!(list.pop(), None);
    });
}

/// The waiter waits already, with the same waker or with another. All interleavings are explored.
#[test]
fn a_key_against_a_waiter_that_polls_again() {
    for changes in [false, true] {
        model::check(move || {
            let list = Arc::new(ReadyList::default());
            let (former, waker) = Woken::new();
            assert_eq!(pop_or_wait(&list, &waker), None);
            let pushing = push(&list, 1);
            let (woken, waker) = match changes {
                true => Woken::new(),
                false => (former, waker),
            };
            let taken = pop_or_wait(&list, &waker);
            pushing.join().unwrap();
            assert!(taken == Some(1) || woken.get(), "the key waits for ever");
        });
    }
}

/// Two members are woken at once: each key is taken or the waiter woken. Bounded at three
/// preemptions.
#[test]
fn two_keys_against_a_waiter() {
    Model::new().preemptions(3).check(|| {
        let list = Arc::new(ReadyList::default());
        let (woken, waker) = Woken::new();
        let pushing = [push(&list, 1), push(&list, 2)];
        let mut taken = Vec::new();
        while let Some(key) = pop_or_wait(&list, &waker) {
            taken.push(key);
        }
        for thread in pushing {
            thread.join().unwrap();
        }
        assert!(taken.len() == 2 || woken.get(), "a key waits for ever");
        taken.extend(std::iter::from_fn(|| list.pop()));
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
    });
}

/// The handle of a task whose key is listed is ready, and a task that completes lists its key. All
/// interleavings are explored.
#[test]
fn a_completed_task_lists_its_key() {
    model::check(|| {
        let Task {
            tally,
            first,
            mut handle,
            ..
        } = Task::new(0, RunMode::Inline);
        let list = Arc::new(ReadyList::default());
        let member = list.waker(1);
        assert!(poll(&mut handle, &member).is_pending());
        let running = thread::spawn(move || run(first));
        let (woken, waker) = Woken::new();
        let taken = pop_or_wait(&list, &waker);
        if taken.is_none() {
            running.join().unwrap();
            assert!(woken.get(), "the key waits for ever");
            assert_eq!(list.pop(), Some(1));
            assert!(poll(&mut handle, &member).is_ready());
        } else {
            assert!(poll(&mut handle, &member).is_ready());
            running.join().unwrap();
        }
        drop(handle);
        tally.check();
    });
}

/// What follows the wake of a member is not seen by the task that takes its key.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_a_wake_is_not_seen_by_the_taker_of_the_key() {
    model::check(|| {
        let list = Arc::new(ReadyList::default());
        let race = Race::new();
        let (member, theirs) = (list.waker(1), race.clone());
        let waking = thread::spawn(move || {
            member.wake();
            theirs.second();
        });
        if list.pop().is_some() {
            race.first();
        }
        waking.join().unwrap();
    });
}
