//! The memory that the tasks of a runtime leave behind. The tests count the bytes of the process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering::SeqCst};

use crate::alone;
use crate::common::{builders, current_thread, eventually, multi_thread};
use raddle::runtime::Runtime;
use raddle::task::{JoinHandle, JoinSet, LocalSet, spawn_local};

/// The bytes that the process holds: allocated and not freed.
static HELD: AtomicIsize = AtomicIsize::new(0);

struct Counting;

// SAFETY: all calls go to the system's allocator, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as isize, SeqCst);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as isize, SeqCst);
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of tasks of a size that exist at the same time.
const TASKS: usize = 500;
/// A number that is not kept anywhere.
const FEW: usize = 2;
/// What a runtime, or a test, may leave behind: buffers of channels and of the standard library.
const SMALL: isize = 64 << 10;

fn held() -> isize {
    HELD.load(SeqCst)
}

/// Runs a test with a few tasks and then with many, and checks what the second run leaves behind.
fn leaves_little(test: impl Fn(usize)) {
    let _alone = alone();
    test(FEW);
    let before = held();
    test(TASKS);
    let left = held() - before;
    assert!(left < SMALL, "{left} bytes");
}

async fn of_size<const SIZE: usize>() {
    let content = std::hint::black_box([0_u8; SIZE]);
    raddle::task::yield_now().await;
    std::hint::black_box(content);
}

/// Calls `spawn` with a future of the size of this number.
macro_rules! spawn_size {
    ($number:expr, $spawn:expr) => {
        spawn_size!(@ $number, $spawn, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)
    };
    (@ $number:expr, $spawn:expr, $($case:literal)*) => {
        match $number {
            $($case => ($spawn)(of_size::<{ 16 + 16 * $case }>()),)*
            _ => unreachable!("there are 20 sizes"),
        }
    };
}

async fn join_all(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        task.await.unwrap();
    }
}

/// All tasks of a burst exist at the same time, and each of them is joined.
async fn burst_from_here(size: usize, tasks: usize) {
    let tasks = (0..tasks).map(|_| spawn_size!(size, raddle::spawn));
    join_all(tasks.collect()).await;
}

async fn bursts_from_here(tasks: usize) {
    for size in 0..20 {
        burst_from_here(size, tasks).await;
    }
}

fn burst_everywhere(runtime: &Runtime, tasks: usize) {
    // Spawned and joined on the thread of `block_on`.
    runtime.block_on(bursts_from_here(tasks));
    // Spawned and joined in a task.
    let in_task = runtime.spawn(bursts_from_here(tasks));
    runtime.block_on(in_task).unwrap();
    // Spawned outside, and detached.
    for size in 0..20 {
        for _ in 0..tasks {
            drop(spawn_size!(size, |future| runtime.spawn(future)));
        }
    }
    runtime.block_on(async {
        let mut set = JoinSet::new();
        for size in 0..20 {
            for _ in 0..tasks {
                spawn_size!(size, |future| set.spawn(future));
            }
        }
        while set.join_next().await.is_some() {}
        // The detached ones too.
        while runtime.metrics().num_alive_tasks() > 0 {
            raddle::task::yield_now().await;
        }
    });
}

/// Bug: own. Each of 32 sizes had a megabyte in the depot for the rest of the process.
#[test]
fn a_dropped_runtime_leaves_no_memory_of_its_tasks() {
    for number in 0..builders().len() {
        leaves_little(|tasks| {
            let runtime = builders()[number].build().unwrap();
            burst_everywhere(&runtime, tasks);
            drop(runtime);
        });
    }
}

/// Bug: own, as above.
#[test]
fn a_runtime_that_shut_down_in_the_background_leaves_no_memory_of_its_tasks() {
    let _alone = alone();
    let test = |tasks| {
        let runtime = multi_thread().build().unwrap();
        burst_everywhere(&runtime, tasks);
        runtime.shutdown_background();
    };
    test(FEW);
    let before = held();
    test(TASKS);
    eventually("the threads have ended", || held() - before < SMALL);
}

/// Bug: own. The memory of a burst was kept for the rest of the process.
#[test]
fn the_idle_workers_of_a_runtime_release_the_memory_of_a_burst() {
    let _alone = alone();
    for mut builder in builders().into_iter().take(3) {
        let runtime = builder.build().unwrap();
        burst_everywhere(&runtime, FEW);
        let before = held();
        burst_everywhere(&runtime, TASKS);
        let threads = isize::try_from(runtime.metrics().num_workers() + 1).unwrap();
        // Each worker, and this thread, may keep a working set of 32 KiB.
        eventually("the memory is released", || {
            held() - before < SMALL + threads * (32 << 10)
        });
    }
}

/// The thread of `block_on` is the only worker.
#[test]
fn an_idle_current_thread_runtime_releases_the_memory_of_a_burst() {
    leaves_little(|tasks| {
        let runtime = current_thread().build().unwrap();
        let before = held();
        runtime.block_on(async {
            bursts_from_here(tasks).await;
            // Another thread wakes this one when the memory is released, or after a minute.
            let (sender, receiver) = raddle::sync::oneshot::channel();
            std::thread::spawn(move || {
                eventually("the memory is released", || held() - before < 3 * SMALL);
                sender.send(()).unwrap();
            });
            receiver.await.unwrap();
        });
    });
}

/// The memory that a current-thread runtime keeps between two calls of `block_on` is bounded.
#[test]
fn a_current_thread_runtime_that_no_thread_drives_keeps_about_a_megabyte() {
    let _alone = alone();
    let runtime = current_thread().build().unwrap();
    burst_everywhere(&runtime, FEW);
    let before = held();
    burst_everywhere(&runtime, TASKS);
    let left = held() - before;
    // The queue keeps its room for the tasks of a burst.
    assert!(left < 3 << 19, "{left} bytes");
}

#[test]
fn a_dropped_local_set_leaves_no_memory_of_its_tasks() {
    leaves_little(|tasks| {
        let runtime = current_thread().build().unwrap();
        let set = LocalSet::new();
        set.block_on(&runtime, async {
            for size in 0..20 {
                let tasks = (0..tasks).map(|_| spawn_size!(size, spawn_local));
                join_all(tasks.collect()).await;
            }
        });
    });
}

/// Bug: own. Handles that were dropped after the runtime filled the depot.
#[test]
fn handles_that_outlive_their_runtime_leave_no_memory() {
    leaves_little(|tasks| {
        let runtime = multi_thread().build().unwrap();
        let tasks: Vec<_> = (0..20 * tasks)
            .map(|n| spawn_size!(n % 20, |future| runtime.spawn(future)))
            .collect();
        drop(runtime);
        drop(tasks);
    });
}

/// Bug: own. A set kept the memory of its largest number of members until it was dropped.
#[test]
fn an_empty_join_set_keeps_little_memory() {
    let _alone = alone();
    for mut builder in builders() {
        let runtime = builder.build().unwrap();
        let (mut joined, mut detached) = (JoinSet::new(), JoinSet::new());
        runtime.block_on(async {
            (0..20_000).for_each(|_| drop(joined.spawn(async {})));
            while joined.join_next().await.is_some() {}
            (0..20_000).for_each(|_| drop(detached.spawn(async {})));
            detached.detach_all();
        });
        drop(runtime);
        let before = held();
        drop((joined, detached));
        let kept = before - held();
        // A set keeps the memory for 1,024 members, and their keys.
        assert!(kept < 3 * SMALL, "{kept} bytes");
    }
}
