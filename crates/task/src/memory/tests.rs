use std::collections::HashSet;
use std::sync::mpsc::channel;
use std::thread;

use raddle_primitives::sync::{Mutex, MutexGuard};

use super::*;

/// Held by each test that uses the depot or keeps the blocks of a batch. A keeper that ends
/// releases the depot, so such a test runs on a thread that ends before the lock is released.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone<'a>() -> MutexGuard<'a, ()> {
    ONE_AT_A_TIME.lock()
}

/// Runs a test on a thread that is a keeper.
fn on_keeper<T: Send>(test: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let _keeper = keep();
            test()
        });
        thread.join().unwrap()
    })
}

fn layout_of(bytes: usize) -> (Layout, Option<Size>) {
    let layout = Layout::from_size_align(bytes, 8).unwrap();
    (layout, Size::of(layout))
}

fn allocate_many((layout, size): (Layout, Option<Size>), count: usize) -> Vec<usize> {
    let blocks: Vec<_> = (0..count).map(|_| allocate(layout, size)).collect();
    for block in &blocks {
        // SAFETY: the test owns the block, which is `layout` large.
        unsafe { block.as_ptr().write_bytes(0xA5, layout.size()) };
    }
    blocks
        .into_iter()
        .map(|block| block.as_ptr() as usize)
        .collect()
}

fn free_all((layout, size): (Layout, Option<Size>), blocks: &[usize]) {
    for &block in blocks {
        let block = NonNull::new(block as *mut u8).unwrap();
        // SAFETY: the blocks come from `allocate_many` with the same arguments.
        unsafe { free(block, layout, size) };
    }
}

/// Allocates and frees blocks of a size.
fn burst(bytes: usize, count: usize) {
    let kind = layout_of(bytes);
    let blocks = allocate_many(kind, count);
    free_all(kind, &blocks);
}

fn kept_here() -> usize {
    CACHE.with(Cache::bytes)
}

fn kept_in_depot() -> usize {
    let shelves = DEPOT.0.lock();
    let sizes = shelves.batches.iter().enumerate();
    let bytes = sizes.map(|(number, batches)| batches.len() * Size(number).batch_bytes());
    let bytes = bytes.sum();
    assert_eq!(bytes, shelves.bytes);
    bytes
}

/// Calls `release_unused` until there is nothing to release. Returns how often it had to wait.
fn release_until_none() -> usize {
    std::iter::from_fn(release_unused)
        .map(thread::sleep)
        .count()
}

#[test]
fn a_freed_block_is_reused_for_the_next_of_its_size() {
    let test = || {
        let kind = layout_of(456);
        let first = allocate_many(kind, 1);
        free_all(kind, &first);
        let second = allocate_many(kind, 1);
        assert_eq!(first, second);
        free_all(kind, &second);
    };
    test();
    let _alone = alone();
    on_keeper(test);
}

#[test]
fn blocks_in_use_are_distinct() {
    let test = || {
        let kind = layout_of(440);
        let batch = kind.1.unwrap().batch();
        let mut blocks = allocate_many(kind, 5 * batch);
        free_all(kind, &blocks[batch / 2..3 * batch]);
        blocks.drain(batch / 2..3 * batch);
        blocks.extend(allocate_many(kind, 4 * batch));
        let distinct: HashSet<_> = blocks.iter().collect();
        assert_eq!(distinct.len(), blocks.len());
        free_all(kind, &blocks);
    };
    test();
    let _alone = alone();
    on_keeper(test);
}

/// A thread becomes a keeper, and stops to be one, while it has blocks.
#[test]
fn a_batch_has_all_its_blocks_whenever_its_thread_became_a_keeper() {
    let _alone = alone();
    let kind = layout_of(104);
    let size = kind.1.unwrap();
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            for freed in [1, 5, 18, 19, 20, 64] {
                let blocks = allocate_many(kind, freed + 5 * size.batch());
                let (first, rest) = blocks.split_at(freed);
                free_all(kind, first);
                let keeper = keep();
                free_all(kind, rest);
                let mut again = allocate_many(kind, 6 * size.batch());
                again.sort_unstable();
                again.dedup();
                assert_eq!(again.len(), 6 * size.batch());
                drop(keeper);
                free_all(kind, &again);
            }
        });
        thread.join().unwrap();
    });
}

#[test]
fn batches_move_between_threads() {
    let _alone = alone();
    let kind = layout_of(424);
    let batch = kind.1.unwrap().batch();
    let (freed, when_freed) = channel();
    let (taken, when_taken) = channel();
    thread::scope(|scope| {
        let gives = scope.spawn(move || {
            let _keeper = keep();
            let blocks = allocate_many(kind, 4 * batch);
            free_all(kind, &blocks);
            freed.send(blocks).unwrap();
            // The end of this thread releases the depot.
            when_taken.recv().unwrap();
        });
        let theirs: HashSet<_> = when_freed.recv().unwrap().into_iter().collect();
        // This thread is no keeper, like one that spawns from outside. The other one keeps two
        // batches.
        let ours = allocate_many(kind, 2 * batch);
        assert!(ours.iter().all(|block| theirs.contains(block)));
        free_all(kind, &ours);
        taken.send(()).unwrap();
        gives.join().unwrap();
    });
}

#[test]
fn the_depot_does_not_grow_without_bound() {
    let _alone = alone();
    on_keeper(|| {
        for bytes in (104..408).step_by(16) {
            burst(bytes, DEPOT_BYTES / bytes + 8 * MAX_BATCH);
            assert!(kept_in_depot() <= DEPOT_BYTES);
        }
        assert!(kept_in_depot() > DEPOT_BYTES - MAX_BATCH_BYTES);
    });
    assert_eq!(kept_in_depot(), 0, "the keeper has ended");
}

#[test]
fn a_size_that_is_not_used_makes_room_in_the_depot() {
    let _alone = alone();
    on_keeper(|| {
        burst(104, DEPOT_BYTES / 104 + 8 * MAX_BATCH);
        let count = DEPOT_BYTES / 168 / 2;
        let kind = layout_of(168);
        let blocks = allocate_many(kind, count);
        free_all(kind, &blocks);
        let batches = |bytes| {
            let size = layout_of(bytes).1.unwrap();
            DEPOT.0.lock().batches[size.0].len() * size.batch_bytes()
        };
        // The thread keeps two batches itself.
        assert!(batches(168) + 3 * MAX_BATCH_BYTES > count * 168);
        assert!(batches(104) > DEPOT_BYTES / 2 - MAX_BATCH_BYTES);
    });
}

#[test]
fn a_thread_that_is_no_keeper_keeps_little() {
    let _alone = alone();
    for bytes in (104..408).step_by(16) {
        burst(bytes, 10 * MAX_BATCH);
    }
    assert_eq!(kept_in_depot(), 0);
    assert!(kept_here() <= SIZES * (VISITOR_BYTES + 504));
    assert_eq!(release_unused(), None);
    assert!(kept_here() <= WORKING_SET);
    release();
    assert_eq!(kept_here(), 0);
}

#[test]
fn a_keeper_releases_what_it_has_not_used_for_a_while() {
    let _alone = alone();
    on_keeper(|| {
        for bytes in [104, 168, 200, 232] {
            burst(bytes, 10 * MAX_BATCH);
        }
        assert!(kept_here() > WORKING_SET && kept_in_depot() > 0);
        let wait = release_unused().expect("the burst may come again");
        assert!(wait <= KEEP_UNUSED);
        assert!(kept_here() > WORKING_SET && kept_in_depot() > 0);
        release_until_none();
        assert_eq!((kept_here(), kept_in_depot()), (0, 0));
    });
}

#[test]
fn a_keeper_keeps_a_working_set() {
    let _alone = alone();
    on_keeper(|| {
        burst(104, 2 * MAX_BATCH);
        let kept = kept_here();
        assert!(kept > 0);
        assert_eq!(release_unused(), None);
        assert_eq!(kept_here(), kept);
    });
}

#[test]
fn memory_that_is_used_is_not_released() {
    let _alone = alone();
    on_keeper(|| {
        burst(104, 10 * MAX_BATCH);
        let start = Instant::now();
        while start.elapsed() < 2 * KEEP_UNUSED {
            // Between two batches, so that each round exchanges one.
            burst(104, 4 * MAX_BATCH);
            assert!(release_unused().is_some());
            assert!(kept_in_depot() > 0);
        }
    });
}

/// Of several keepers that wait, one has to wake for the depot.
#[test]
fn only_the_last_keeper_to_use_the_depot_waits_for_it() {
    let _alone = alone();
    let (freed, when_freed) = channel();
    let (checked, when_checked) = channel();
    thread::scope(|scope| {
        let first = scope.spawn(move || {
            let _keeper = keep();
            burst(104, 10 * MAX_BATCH);
            assert!(release_unused().is_some());
            freed.send(()).unwrap();
            when_checked.recv().unwrap();
            assert_eq!(release_unused(), None);
        });
        let second = scope.spawn(move || {
            let _keeper = keep();
            when_freed.recv().unwrap();
            burst(104, 10 * MAX_BATCH);
            checked.send(()).unwrap();
            first.join().unwrap();
        });
        second.join().unwrap();
    });
}

#[test]
fn a_keeper_that_is_one_no_more_keeps_a_working_set() {
    let _alone = alone();
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let (outer, inner) = (keep(), keep());
            for bytes in [104, 168, 200, 232] {
                burst(bytes, 2 * MAX_BATCH);
            }
            drop(inner);
            assert!(kept_here() > WORKING_SET, "it is still a keeper");
            drop(outer);
            assert!(kept_here() <= WORKING_SET);
        });
        thread.join().unwrap();
    });
}

#[test]
fn sizes_waste_less_than_sixteen_bytes() {
    for bytes in 1..=SIZES * 16 {
        let (layout, size) = layout_of(bytes);
        match size {
            Some(size) => assert!((0..16).contains(&(size.layout().size() - layout.size()))),
            None => assert!(bytes > (SIZES - 1) * 16 + 8),
        }
    }
}

/// A lock for each batch: at most one for 32 tasks (`docs/scaling.md`).
#[test]
fn a_batch_has_32_to_64_blocks() {
    for size in (0..SIZES).map(Size) {
        assert!((32..=64).contains(&size.batch()), "{size:?}");
        assert!(2 * size.batch_bytes() <= WORKING_SET);
    }
}

#[test]
fn large_and_aligned_cells_are_not_kept() {
    let large = Layout::from_size_align(SIZES * 16, 8).unwrap();
    let aligned = Layout::from_size_align(128, 128).unwrap();
    for layout in [large, aligned] {
        assert!(Size::of(layout).is_none());
        let memory = allocate(layout, None);
        assert_eq!(memory.as_ptr() as usize % layout.align(), 0);
        // SAFETY: the block was just allocated with this layout.
        unsafe { free(memory, layout, None) };
    }
}
