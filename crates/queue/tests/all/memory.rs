//! Which memory the queues allocate and keep, and which code runs under the lock of the injection
//! queue.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::NonNull;

use raddle_queue::{Injection, Owner, local};

thread_local! {
    /// The bytes that this thread has allocated and not freed.
    static HELD: Cell<isize> = const { Cell::new(0) };
    /// How many times this thread has allocated or reallocated.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: isize, allocations: usize) {
    HELD.set(HELD.get() + bytes);
    ALLOCATIONS.set(ALLOCATIONS.get() + allocations);
}

struct Counting;

// SAFETY: all calls go to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize, 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize), 0);
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) };
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize, 1);
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// The allocator of all tests of this binary; it counts for each thread alone.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Twice as many items as an empty queue keeps room for.
const BURST: u64 = 1 << 15;

#[test]
fn the_memory_of_a_burst_is_returned_when_the_queue_is_empty() {
    let before = HELD.get();
    let queue = Injection::new();
    for item in 0..BURST {
        queue.push(item).unwrap();
    }
    assert!(HELD.get() - before >= 1 << 18);
    while queue.pop().is_some() {}
    assert!(HELD.get() - before <= 1 << 17);
}

#[test]
fn a_small_queue_keeps_its_memory_when_it_is_empty() {
    let queue = Injection::new();
    queue.push_batch(0..100).unwrap();
    assert_eq!(queue.pop_batch(100).count(), 100);
    let before = ALLOCATIONS.get();
    for item in 0..100 {
        queue.push(item).unwrap();
    }
    assert_eq!(ALLOCATIONS.get(), before);
}

#[test]
fn popping_items_allocates_nothing_before_the_queue_is_empty() {
    let queue = Injection::new();
    queue.push_batch(0..BURST).unwrap();
    let before = ALLOCATIONS.get();
    for _ in 0..BURST - 1 {
        queue.pop().unwrap();
    }
    assert_eq!(ALLOCATIONS.get(), before);
}

#[test]
fn an_accepted_push_is_counted_under_the_lock() {
    let queue = Injection::new();
    let pushed = Cell::new(0);
    queue
        .push_with(1, || {
            pushed.set(pushed.get() + 1);
            // An empty batch takes no lock, so this does not deadlock.
            assert_eq!(queue.pop_batch(0).count(), 0);
        })
        .unwrap();
    assert_eq!((pushed.get(), queue.len()), (1, 1));
    queue.close();
    assert_eq!(queue.push_with(2, || pushed.set(9)), Err(2));
    assert_eq!(pushed.get(), 1);
}

#[test]
fn items_moved_to_a_local_queue_are_not_counted() {
    let mut items = [0_u32; 6];
    let queue = Injection::new();
    queue
        .push_batch(items.iter_mut().map(NonNull::from))
        .unwrap();
    let (owner, _) = local::new::<_, 4>();
    assert_eq!(queue.pop_into(3, &owner).unwrap().moved, 2);
    assert_eq!((queue.len(), owner.len()), (3, 2));
    assert_eq!(queue.pop_into(9, &owner).unwrap().moved, 2);
    assert_eq!((queue.len(), owner.len()), (0, 4));
}

#[test]
fn items_in_a_local_queue_are_not_allocated() {
    let (owner, into) = (Owner::new(), Owner::new());
    let stealer = owner.stealer();
    let before = ALLOCATIONS.get();
    for n in 0..100_u64 {
        owner.try_push([n; 5]).unwrap();
    }
    assert_eq!(stealer.steal(), Some([0; 5]));
    assert_eq!(stealer.steal_into(&into, |_| 50).unwrap().first, [1; 5]);
    assert_eq!((owner.pop(), into.pop()), (Some([51; 5]), Some([2; 5])));
    assert_eq!(ALLOCATIONS.get(), before);
}
