//! The memory of a completed task is freed at once, whatever its first worker does.
//!
//! These tests need a process of their own: they count the allocations of all its threads, and the
//! depot of cells is common to them.
#![cfg(not(raddle_loom))]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};
use std::thread;

use common::{Gate, config, config_of};
use raddle_primitives::sync::Mutex;
use raddle_sched::{Handle, Policy, Pool, Step, Worker};

/// The number of bytes that are allocated now.
static HELD: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: all calls go to the system's allocator, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::SeqCst);
        // SAFETY: the caller upholds the contract of `dealloc`; `alloc` used the same allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Only one test may run at a time: each counts the allocations of the whole process.
static ONE_TEST_AT_A_TIME: Mutex<()> = Mutex::new(());

const TASKS: usize = 500;
const SIZE: usize = 4096;
/// What may remain allocated: slots of the live lists, and blocks of small allocations.
const SLACK: usize = TASKS * SIZE / 20;

/// Spawns tasks that hold `SIZE` bytes each, and lets a worker poll each of them once.
fn poll_all_once<const SIZE: usize>(
    handle: &Handle,
    worker: &mut Worker,
    tasks: usize,
) -> Vec<Waker> {
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

/// Wakes the tasks, and lets a worker run them to completion.
fn complete_all(wakers: Vec<Waker>, worker: &mut Worker) {
    wakers.into_iter().for_each(Waker::wake);
    while worker.step() == Step::Ran {}
}

/// One worker polls each task once, and another completes it. The first stays parked.
#[test]
fn tasks_that_complete_on_another_worker_are_freed_at_once() {
    let _alone = ONE_TEST_AT_A_TIME.lock();
    for policy in [Policy::WorkStealing, Policy::Shared] {
        let (handle, mut workers) = Pool::stepped(config_of(policy, 2), None);
        let _current = handle.enter();
        let before = HELD.load(Ordering::SeqCst);
        let wakers = poll_all_once::<SIZE>(&handle, &mut workers[0], TASKS);
        assert!(workers[0].begin_park().is_some());
        complete_all(wakers, &mut workers[1]);
        let elsewhere = handle.metrics().worker(1).completed_elsewhere;
        assert_eq!(elsewhere, TASKS as u64);
        let held = HELD.load(Ordering::SeqCst).saturating_sub(before);
        assert!(held < SLACK, "{held} bytes under {policy:?}");
    }
}

/// As above, while a poll on the first worker does not return.
#[test]
fn tasks_of_a_stuck_worker_are_freed_at_once() {
    let _alone = ONE_TEST_AT_A_TIME.lock();
    let (handle, mut workers) = Pool::stepped(config(2), None);
    let _current = handle.enter();
    let before = HELD.load(Ordering::SeqCst);
    let wakers = poll_all_once::<SIZE>(&handle, &mut workers[0], TASKS);
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
        complete_all(wakers, &mut rest[0]);
        let alive = handle.metrics().alive_tasks();
        let held = HELD.load(Ordering::SeqCst).saturating_sub(before);
        // Open the gate before the assertions: if one fails, the scope waits for the thread.
        gate.open();
        assert_eq!(alive, 1);
        assert!(held < SLACK, "{held} bytes");
    });
}

/// Returns the bytes that are allocated after the tasks of a worker have completed on another and
/// `then` has run on the first worker.
fn held_after(then: impl Fn(&mut Worker)) -> usize {
    let (handle, mut workers) = Pool::stepped(config(2), None);
    let _current = handle.enter();
    let before = HELD.load(Ordering::SeqCst);
    let wakers = poll_all_once::<1>(&handle, &mut workers[0], 50_000);
    complete_all(wakers, &mut workers[1]);
    assert_eq!(workers[0].step(), Step::Idle);
    then(&mut workers[0]);
    HELD.load(Ordering::SeqCst).saturating_sub(before)
}

/// Checks that the live list of the worker shrinks in `then`.
fn the_list_of_a_worker_shrinks(then: impl Fn(&mut Worker)) {
    let _alone = ONE_TEST_AT_A_TIME.lock();
    // Blocks of cells are kept for later tasks. The first run allocates as many as the second
    // keeps.
    let _ = held_after(|_| ());
    let held = held_after(then);
    assert!(held < 200_000, "{held} bytes");
}

#[test]
fn the_list_of_a_worker_shrinks_when_it_parks() {
    the_list_of_a_worker_shrinks(|worker| assert!(worker.begin_park().is_some()));
}

#[test]
fn the_list_of_a_worker_shrinks_when_it_looks_at_the_driver() {
    the_list_of_a_worker_shrinks(|worker| {
        // The default `event_interval` of a worker that is stepped.
        for _ in 0..61 {
            assert_eq!(worker.step(), Step::Idle);
        }
    });
}
