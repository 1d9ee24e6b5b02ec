//! Whose memory a completed task's is: no one's, whatever the worker does that ran it first.
#![cfg(not(raddle_loom))]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use common::{Gate, config, config_of};
use raddle_primitives::sync::Mutex;
use raddle_sched::{Config, Handle, Policy, Pool, Step, Worker};

/// Bytes that are allocated now.
static HELD: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: it is the system's allocator; the count allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller's; `alloc` is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The tests count for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

const TASKS: usize = 500;
const SIZE: usize = 4096;
/// What may stay: slots of the live lists, blocks of small allocations.
const SLACK: usize = TASKS * SIZE / 20;

/// Spawns tasks that hold `SIZE` bytes each, and has a worker poll each once.
fn begin_all<const SIZE: usize>(handle: &Handle, worker: &mut Worker, tasks: usize) -> Vec<Waker> {
    let wakers = Arc::new(Mutex::new(Vec::with_capacity(tasks)));
    for _ in 0..tasks {
        let wakers = wakers.clone();
        let mut content = [0_u8; SIZE];
        drop(handle.spawn(poll_fn(move |cx| {
            content[0] += 1;
            if content[0] == 2 {
                return Poll::Ready(());
            }
            wakers.lock().push(cx.waker().clone());
            Poll::Pending
        })));
    }
    while worker.step() == Step::Ran {}
    let wakers = std::mem::take(&mut *wakers.lock());
    assert_eq!(wakers.len(), tasks);
    wakers
}

/// Wakes tasks, and has a worker run them to their end.
fn end_all(wakers: Vec<Waker>, worker: &mut Worker) {
    wakers.into_iter().for_each(Waker::wake);
    while worker.step() == Step::Ran {}
}

/// A worker runs each task once, and another to its end. The first stays parked.
#[test]
fn tasks_that_complete_on_another_worker_are_freed_at_once() {
    let _alone = ALONE.lock();
    for policy in [Policy::WorkStealing, Policy::Shared] {
        let (handle, mut workers) = Pool::stepped(config_of(policy, 2), None);
        let _current = handle.enter();
        let before = HELD.load(Ordering::SeqCst);
        let wakers = begin_all::<SIZE>(&handle, &mut workers[0], TASKS);
        assert!(workers[0].begin_park().is_some());
        end_all(wakers, &mut workers[1]);
        let elsewhere = handle.metrics().worker(1).completed_elsewhere;
        assert_eq!(elsewhere, TASKS as u64);
        let held = HELD.load(Ordering::SeqCst).saturating_sub(before);
        assert!(held < SLACK, "{held} bytes under {policy:?}");
    }
}

/// As above, while the first worker is in a poll that does not return.
#[test]
fn tasks_of_a_stuck_worker_are_freed_at_once() {
    let _alone = ALONE.lock();
    let (handle, mut workers) = Pool::stepped(config(2), None);
    let _current = handle.enter();
    let before = HELD.load(Ordering::SeqCst);
    let wakers = begin_all::<SIZE>(&handle, &mut workers[0], TASKS);
    let (entered, gate) = (Gate::default(), Gate::default());
    let (in_poll, waiting) = (entered.clone(), gate.clone());
    drop(handle.spawn(async move {
        in_poll.open();
        waiting.wait();
    }));
    let (stuck, rest) = workers.split_at_mut(1);
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(stuck[0].step(), Step::Ran));
        entered.wait();
        end_all(wakers, &mut rest[0]);
        let alive = handle.metrics().alive_tasks();
        let held = HELD.load(Ordering::SeqCst).saturating_sub(before);
        // Before the assertions, one of which would wait for the thread.
        gate.open();
        assert_eq!(alive, 1);
        assert!(held < SLACK, "{held} bytes");
    });
}

/// What is held when tasks of a worker have completed elsewhere, and the worker has gone on.
fn held_after(goes_on: impl Fn(&mut Worker)) -> usize {
    let (handle, mut workers) = Pool::stepped(config(2), None);
    let _current = handle.enter();
    let before = HELD.load(Ordering::SeqCst);
    let wakers = begin_all::<1>(&handle, &mut workers[0], 50_000);
    end_all(wakers, &mut workers[1]);
    assert_eq!(workers[0].step(), Step::Idle);
    goes_on(&mut workers[0]);
    HELD.load(Ordering::SeqCst).saturating_sub(before)
}

/// The list of the worker shrinks then.
fn the_list_of_a_worker_shrinks(goes_on: impl Fn(&mut Worker)) {
    let _alone = ALONE.lock();
    // Blocks of cells are kept for the next tasks: as many after the first time as later.
    let _ = held_after(|_| ());
    let held = held_after(goes_on);
    assert!(held < 200_000, "{held} bytes");
}

#[test]
fn the_list_of_a_worker_shrinks_when_it_parks() {
    the_list_of_a_worker_shrinks(|worker| worker.park(Some(Duration::from_millis(1))));
}

#[test]
fn the_list_of_a_worker_shrinks_when_it_parks_without_blocking() {
    the_list_of_a_worker_shrinks(|worker| assert!(worker.begin_park().is_some()));
}

#[test]
fn the_list_of_a_worker_shrinks_when_it_looks_at_the_driver() {
    the_list_of_a_worker_shrinks(|worker| {
        for _ in 0..Config::default().event_interval {
            assert_eq!(worker.step(), Step::Idle);
        }
    });
}
