//! Batches of wakers, some of which panic.
#![allow(clippy::disallowed_types, reason = "never modelled")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Wake, Waker};

use raddle_primitives::WakerBatch;

/// Counts its wakes. Panics at each wake if `panics` is set.
struct Counted {
    woken: AtomicUsize,
    panics: bool,
}

/// A payload whose drop panics.
struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("a payload's drop (expected by this test)");
    }
}

impl Wake for Counted {
    fn wake(self: Arc<Self>) {
        self.woken.fetch_add(1, SeqCst);
        if self.panics {
            resume_unwind(Box::new(PanicsOnDrop));
        }
    }
}

/// A full batch in which every third waker panics, and its two wakers: a working and a panicking
/// one.
fn batch() -> (WakerBatch, [Arc<Counted>; 2]) {
    let counted = [false, true].map(|panics| {
        Arc::new(Counted {
            woken: AtomicUsize::new(0),
            panics,
        })
    });
    let mut batch = WakerBatch::new();
    while !batch.is_full() {
        let kind = usize::from(batch.len() % 3 == 0);
        batch.push(Waker::from(Arc::clone(&counted[kind])));
    }
    (batch, counted)
}

fn woken(counted: &[Arc<Counted>; 2]) -> [usize; 2] {
    counted.each_ref().map(|kind| kind.woken.load(SeqCst))
}

#[test]
fn a_contained_panic_does_not_prevent_the_other_wakes() {
    let (mut batch, counted) = batch();
    batch.wake_all_contained();
    assert_eq!(woken(&counted), [21, 11]);
    assert!(batch.is_empty());
    // The batch may be filled again.
    batch.push(Waker::noop().clone());
    batch.wake_all_contained();
}

#[test]
fn the_first_panic_propagates_and_the_drop_wakes_the_rest() {
    let (mut batch, counted) = batch();
    let panic = catch_unwind(AssertUnwindSafe(|| batch.wake_all())).unwrap_err();
    assert!(panic.is::<PanicsOnDrop>());
    std::mem::forget(panic);
    assert_eq!(woken(&counted), [0, 1]);
    drop(batch);
    assert_eq!(woken(&counted), [21, 11]);
}
