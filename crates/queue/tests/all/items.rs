//! Items of any type pass through the queues unchanged.

use std::fmt::Debug;
use std::num::NonZeroU8;
use std::ptr::NonNull;

use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use raddle_queue::{Injection, Overflow, Owner, Slot, Stealer, local};

/// Passes items through each way out of a queue.
fn check<T: Clone + Debug + PartialEq + Send>(items: [T; 5]) {
    let is = |item: T, index: usize| assert_eq!(item, items[index]);
    let common = Injection::new();
    let (owner, stealer): (Owner<T, 4>, Stealer<T, 4>) = local::starting_at(u32::MAX - 1);
    for item in &items {
        owner.push(item.clone(), &common);
    }
    is(owner.pop().unwrap(), 2);
    is(stealer.steal().unwrap(), 3);
    let stolen = common.pop_into(3, &owner).unwrap();
    is(stolen.first, 0);
    assert_eq!((stolen.moved, owner.len()), (2, 2));
    is(
        owner
            .try_push(items[0].clone())
            .map(|()| owner.pop().unwrap())
            .unwrap(),
        1,
    );

    let other = Owner::default();
    owner.try_push(items[1].clone()).unwrap();
    let stolen = stealer.steal_into(&other, |_| 2).unwrap();
    is(stolen.first, 4);
    // SAFETY: no thread steals from it.
    is(unsafe { other.pop_exclusive() }.unwrap(), 0);
    // The item that remains is dropped with the owner.
    assert_eq!((owner.len(), other.len()), (1, 0));
}

#[test]
fn words() {
    check([0, 1, 2, usize::MAX, 4]);
    check([0, 1, 2, u32::MAX, 4]);
    check([0.5, 1.0, f64::INFINITY, -0.0, 4.0]);
    check([true, false, true, false, true]);
    check(['a', 'b', '\u{10ffff}', 'd', '\0']);
    check([
        None,
        NonZeroU8::new(1),
        NonZeroU8::new(2),
        None,
        NonZeroU8::new(3),
    ]);
    check(["a", "b", "", "d", "e"].map(Some));
}

#[test]
fn pointers() {
    static STATICS: [u32; 5] = [0, 1, 2, 3, 4];
    check([0, 1, 2, 3, 4].map(Box::new));
    check([0, 1, 2, 3, 4].map(|n| &STATICS[n]));
    check([1; 5].map(Arc::new));
    check(
        [2; 5]
            .map(|n| -> Arc<dyn Fn() -> i32 + Send + Sync> { Arc::new(move || n) })
            .map(ByCall),
    );
    check([fn_a as fn() -> u32, fn_b, fn_a, fn_b, fn_a]);
}

fn fn_a() -> u32 {
    0
}

fn fn_b() -> u32 {
    1
}

/// A closure behind two words.
#[derive(Clone)]
struct ByCall(Arc<dyn Fn() -> i32 + Send + Sync>);

impl PartialEq for ByCall {
    fn eq(&self, other: &Self) -> bool {
        self.0() == other.0()
    }
}

impl Debug for ByCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0())
    }
}

#[test]
fn several_words() {
    check([(0, 1), (2, 3), (u64::MAX, 4), (5, 6), (7, 8)]);
    check(["a", "b", "c", "d", ""].map(String::from));
    check([[1_u64; 5], [2; 5], [3; 5], [4; 5], [5; 5]]);
    check([vec![], vec![1], vec![2, 3], vec![4], vec![]]);
}

#[test]
fn nothing() {
    check([(); 5]);
    let owner = Owner::new();
    for _ in 0..local::CAPACITY {
        owner.try_push(()).unwrap();
    }
    assert!(owner.try_push(()).is_err());
    assert_eq!(std::iter::from_fn(|| owner.pop()).count(), local::CAPACITY);
}

/// Miri reports a read of bytes that were not written.
#[test]
fn padding_inside_an_item() {
    check([(1_u8, 2_u64), (3, 4), (5, 6), (7, 8), (9, 10)]);
    check([
        (1_u8, 2_u16, 3_u8),
        (4, 5, 6),
        (7, 8, 9),
        (10, 11, 12),
        (13, 14, 15),
    ]);
    check([Some(1_u32), None, Some(2), None, None]);
    check([Ok(1_u8), Err([2_u64; 3]), Ok(3), Err([4; 3]), Ok(5)]);
}

#[test]
fn an_alignment_that_is_larger_than_a_cache_line() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(1024))]
    struct Aligned(u8);

    check([0, 1, 2, 3, 4].map(Aligned));
}

/// A megabyte for each item: neither a queue nor the batch of an overflow fits on the stack.
#[test]
#[cfg_attr(miri, ignore = "copies megabytes")]
fn a_queue_that_is_larger_than_the_stack() {
    type Large = [u8; 1 << 16];

    #[derive(Debug)]
    struct Count(std::cell::Cell<usize>);
    impl Overflow<Large> for Count {
        fn push_batch(&self, items: impl Iterator<Item = Large>) {
            self.0.set(items.map(|item| usize::from(item[9])).sum());
        }
    }

    let (owner, stealer) = (Owner::<Large>::new(), Owner::<Large>::new().stealer());
    let other = Owner::new();
    assert!(stealer.is_empty());
    let count = Count(std::cell::Cell::new(0));
    for _ in 0..=local::CAPACITY {
        owner.push([1; 1 << 16], &count);
    }
    assert_eq!(count.0.get(), local::CAPACITY / 2 + 1);
    let stolen = owner.stealer().steal_into(&other, |n| n / 2).unwrap();
    assert_eq!(
        (stolen.first[8], stolen.moved),
        (1, local::CAPACITY / 4 - 1)
    );
}

#[test]
fn an_item_may_borrow() {
    let texts = ["a".to_owned(), "b".to_owned()];
    let owner = Owner::new();
    for text in &texts {
        owner.try_push(text.as_str()).unwrap();
    }
    let stealer = owner.stealer();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| stealer.steal());
        assert_eq!(first.join().unwrap(), Some("a"));
    });
    assert_eq!(owner.pop(), Some("b"));
}

/// A word is not written through an integer or an atomic that would lose its provenance.
#[test]
fn pointers_keep_their_provenance() {
    let mut place = 7;
    let owner = Owner::new();
    owner.try_push(NonNull::from(&mut place)).unwrap();
    let stolen = owner.stealer().steal().unwrap();
    // SAFETY: the place lives, and nothing else refers to it.
    unsafe { *stolen.as_ptr() += 1 };
    assert_eq!(place, 8);
}

/// Types of one pointer, for a slot.
#[test]
fn a_slot_holds_what_converts_to_a_pointer() {
    static STATIC: u32 = 3;
    let shared = Arc::new(2);
    let slot = Slot::new();
    assert!(slot.put(shared.clone()).is_none());
    assert!(Arc::ptr_eq(&slot.take().unwrap(), &shared));
    assert_eq!(Arc::strong_count(&shared), 1);
    let slot = Slot::new();
    slot.put(&STATIC);
    assert!(std::ptr::eq(slot.take().unwrap(), &raw const STATIC));
    // A type without a size has no allocation to point to.
    let slot = Slot::new();
    slot.put(Box::new(()));
    assert!(slot.take().is_some());
}

/// Numbers that take several words arrive whole on other threads.
#[test]
fn items_of_several_words_are_not_torn() {
    const ITEMS: u64 = if cfg!(miri) { 200 } else { 20_000 };
    let (owner, stealer) = local::new::<[u64; 5], 16>();
    let sum = |item: [u64; 5]| {
        assert_eq!(item, [item[0]; 5]);
        item[0]
    };
    let thieves = [false, true].map(|takes_one| {
        let stealer = stealer.clone();
        thread::spawn(move || {
            let (own, _) = local::new::<[u64; 5], 16>();
            let mut stolen = 0;
            loop {
                let first = match takes_one {
                    true => stealer.steal(),
                    false => stealer.steal_into(&own, |n| n.div_ceil(2)).map(|s| s.first),
                };
                let items = first.into_iter().chain(std::iter::from_fn(|| own.pop()));
                for item in items {
                    if item == [u64::MAX; 5] {
                        return stolen;
                    }
                    stolen += sum(item);
                }
                thread::yield_now();
            }
        })
    });
    let mut total = 0;
    for n in 1..=ITEMS {
        let mut item = [n; 5];
        while let Err(back) = owner.try_push(item) {
            item = back;
            thread::yield_now();
        }
        if n % 3 == 0 {
            total += owner.pop().map_or(0, sum);
        }
    }
    total += std::iter::from_fn(|| owner.pop()).map(sum).sum::<u64>();
    // Each thread ends at one of these.
    let mut ends = 2;
    while ends > 0 {
        ends -= usize::from(owner.try_push([u64::MAX; 5]).is_ok());
    }
    total += thieves
        .map(|thief| thief.join().unwrap())
        .iter()
        .sum::<u64>();
    assert_eq!(total, ITEMS * (ITEMS + 1) / 2);
}
