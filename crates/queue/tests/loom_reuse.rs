//! Models of the slots of a ring: none is written before it has been read.
//!
//! A slot is an atomic word, in which a model sees no race, and loom does not
//! let a load return a store of the future. So these items stand for their
//! slot: a cell is written when the item goes in, just before the word, and
//! read when it comes out, just after, and a model sees a race in that.
#![cfg(raddle_loom)]

use std::ptr::NonNull;

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::{Arc, Condvar, Mutex};
use raddle_primitives::thread;
use raddle_queue::{Owner, Pointer, Stealer, local};

/// The cells of some slots.
#[derive(Debug)]
struct Slots([UnsafeCell<u32>; 4]);

// SAFETY: the queue orders the accesses; the model checks that it does.
unsafe impl Send for Slots {}
// SAFETY: as above.
unsafe impl Sync for Slots {}

impl Slots {
    fn new() -> Arc<Self> {
        Arc::new(Self([const { 0 }; 4].map(UnsafeCell::new)))
    }

    /// An item that goes into slot `index`. The slots must outlive it.
    fn item(&self, index: usize) -> Item {
        Item(NonNull::from(&self.0[index]))
    }
}

/// An item on its way through a slot.
#[derive(Debug)]
struct Item(NonNull<UnsafeCell<u32>>);

// SAFETY: as for the slots.
unsafe impl Send for Item {}

// SAFETY: a cast there and back; the cell is the model's.
unsafe impl Pointer for Item {
    fn into_ptr(self) -> NonNull<()> {
        // SAFETY: the slots outlive their items; the model checks the access.
        unsafe { self.0.as_ref().with_mut(|cell| *cell += 1) };
        self.0.cast()
    }

    unsafe fn from_ptr(ptr: NonNull<()>) -> Self {
        let cell = ptr.cast::<UnsafeCell<u32>>();
        // SAFETY: as above.
        unsafe { cell.as_ref().with(|cell| assert!(*cell > 0)) };
        Self(cell)
    }
}

/// Steals once into a queue that it returns: the items that were moved there are not looked at
/// before all threads are joined.
fn steal_half<const N: usize>(stealer: &Stealer<Item, N>) -> Owner<Item, N> {
    let (own, _) = local::new();
    let _ = stealer.steal_into(&own, |n| n.div_ceil(2));
    own
}

/// The owner of a full queue pushes to the slots that a stealer may be reading.
fn push_to_stolen_slots<const N: usize>() {
    let slots = Slots::new();
    let (owner, stealer) = local::new::<Item, N>();
    for index in 0..N {
        owner.try_push(slots.item(index)).unwrap();
    }
    let items: Vec<_> = (0..N / 2).map(|index| slots.item(index)).collect();
    let pusher = thread::spawn(move || {
        for item in items {
            // There is room if the stealer has finished; the order is kept.
            if owner.try_push(item).is_err() {
                break;
            }
        }
        owner
    });
    let own = steal_half(&stealer);
    drop(pusher.join().unwrap());
    drop(own);
}

/// crossbeam 855. Complete.
#[test]
fn the_owner_pushes_to_a_slot_that_was_stolen() {
    model::check(push_to_stolen_slots::<2>);
}

/// As above, with one of the slots moved to the stealer's queue. Complete.
#[test]
fn the_owner_pushes_to_slots_that_were_moved() {
    model::check(push_to_stolen_slots::<4>);
}

/// A steal into `b` writes slots that a stealer of `b` may be reading.
/// Complete.
#[test]
fn a_steal_writes_to_a_slot_that_was_stolen() {
    model::check(|| {
        let slots = Slots::new();
        let other = Slots::new();
        let (a, from_a) = local::new::<Item, 4>();
        let (b, from_b) = local::new::<Item, 4>();
        for index in 0..4 {
            b.try_push(slots.item(index)).unwrap();
        }
        // The second of these is the one that is moved, to the slot of the
        // first that was stolen.
        for item in [other.item(0), slots.item(0), other.item(1)] {
            a.try_push(item).unwrap();
        }
        let stealing = thread::spawn(move || {
            // `b` has room if its stealer has finished.
            let _ = from_a.steal_into(&b, |n| n.div_ceil(2));
            b
        });
        let own = steal_half(&from_b);
        drop(stealing.join().unwrap());
        drop((own, a));
    });
}

/// The owner pushes to the slot that one stealer has read, on the strength of
/// what another says, which is at work after it or has been. Bounded at three
/// preemptions.
#[test]
fn a_stealer_publishes_the_reads_of_earlier_stealers() {
    Model::new().preemptions(3).check(|| {
        let slots = Slots::new();
        let (owner, stealer) = local::new::<Item, 2>();
        for index in 0..2 {
            owner.try_push(slots.item(index)).unwrap();
        }
        let item = slots.item(0);
        let other = {
            let stealer = stealer.clone();
            thread::spawn(move || steal_half(&stealer))
        };
        let pusher = thread::spawn(move || {
            let _ = owner.try_push(item);
            owner
        });
        let own = steal_half(&stealer);
        drop(other.join().unwrap());
        drop(pusher.join().unwrap());
        drop(own);
    });
}

/// A gate that is opened once and that threads wait at.
#[derive(Default)]
struct Gate(Mutex<bool>, Condvar);

impl Gate {
    fn open(&self) {
        *self.0.lock() = true;
        self.1.notify_all();
    }

    fn wait(&self) {
        let mut open = self.0.lock();
        while !*open {
            open = self.1.wait(open);
        }
    }
}

/// The owner goes through nearly all indices, of which a model has sixteen, while a stealer is held
/// between its load of the head and its mark. The index that it marks first then seems to lie
/// behind its claim, and the mark that it moves to the claim alone keeps the owner from its slot.
/// Bounded at two preemptions.
#[test]
fn a_claim_is_marked_at_its_start_after_the_indices_wrapped() {
    const PUSHES: usize = 18;
    Model::new().preemptions(2).branches(10_000).check(|| {
        let slots = Slots::new();
        let (owner, stealer) = local::new::<Item, 4>();
        owner.try_push(slots.item(0)).unwrap();
        let (begins, claims) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
        let stealing = {
            let (begins, claims) = (begins.clone(), claims.clone());
            thread::spawn(move || {
                let (own, _) = local::new();
                begins.open();
                let calls = std::cell::Cell::new(0);
                let _ = stealer.steal_into(&own, |_| {
                    calls.set(calls.get() + 1);
                    if calls.get() == 2 {
                        claims.open();
                    }
                    1
                });
                claims.open();
                own
            })
        };
        begins.wait();
        model::stop_exploring();
        // Three items are left, of the slots 3, 0 and 1. It comes less far if the stealer was
        // not held.
        for index in 1..PUSHES {
            if index >= 3 {
                let _ = owner.pop();
            }
            if owner.try_push(slots.item(index % 4)).is_err() {
                break;
            }
        }
        model::explore();
        claims.wait();
        for index in PUSHES..PUSHES + 2 {
            if owner.try_push(slots.item(index % 4)).is_err() {
                break;
            }
        }
        drop(stealing.join().unwrap());
        drop(owner);
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_slot_written_while_it_is_read_is_caught() {
    model::check(|| {
        let slots = Slots::new();
        let (owner, stealer) = local::new::<Item, 2>();
        owner.try_push(slots.item(0)).unwrap();
        // A stealer that comes after the second push is ordered by this.
        let turn = Arc::new(Mutex::new(()));
        let theirs = turn.clone();
        let stealing = thread::spawn(move || {
            drop(theirs.lock());
            drop(steal_half(&stealer));
        });
        // The item goes into slot 1, but says 0, which is stolen.
        owner.try_push(slots.item(0)).unwrap();
        drop(turn.lock());
        stealing.join().unwrap();
    });
}
