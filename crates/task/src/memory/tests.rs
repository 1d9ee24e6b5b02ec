use std::collections::HashSet;
use std::thread;

use super::*;

/// A size that no other test of the process uses, so that the depot's batches of this size belong
/// to this test.
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

#[test]
fn a_freed_block_is_reused_for_the_next_of_its_size() {
    let kind = layout_of(456);
    let first = allocate_many(kind, 1);
    free_all(kind, &first);
    let second = allocate_many(kind, 1);
    assert_eq!(first, second);
    free_all(kind, &second);
}

#[test]
fn blocks_in_use_are_distinct() {
    let kind = layout_of(440);
    let mut blocks = allocate_many(kind, 5 * BATCH);
    free_all(kind, &blocks[BATCH / 2..3 * BATCH]);
    blocks.drain(BATCH / 2..3 * BATCH);
    blocks.extend(allocate_many(kind, 4 * BATCH));
    let distinct: HashSet<_> = blocks.iter().collect();
    assert_eq!(distinct.len(), blocks.len());
    free_all(kind, &blocks);
}

#[test]
fn batches_move_between_threads() {
    let kind = layout_of(424);
    let blocks = thread::spawn(move || {
        let blocks = allocate_many(kind, 4 * BATCH);
        free_all(kind, &blocks);
        blocks
    });
    // The exit of the thread has also given the spare to the depot.
    let theirs: HashSet<_> = blocks.join().unwrap().into_iter().collect();
    let ours = allocate_many(kind, 3 * BATCH);
    assert!(ours.iter().all(|block| theirs.contains(block)));
    free_all(kind, &ours);
}

#[test]
fn the_depot_does_not_grow_without_bound() {
    let kind = layout_of(408);
    let size = kind.1.unwrap();
    let blocks = allocate_many(kind, (size.depot_batches() + 8) * BATCH);
    free_all(kind, &blocks);
    assert_eq!(DEPOT.0[size.0].lock().len(), size.depot_batches());
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
