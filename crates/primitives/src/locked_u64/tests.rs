use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::AtomicU64;

/// Runs the same operation on std's atomic and on the one with a lock, and compares the results.
macro_rules! same {
    ($start:expr, |$word:ident| $operation:expr) => {{
        let ours = {
            #[allow(unused_mut)]
            let mut $word = AtomicU64::new($start);
            let returned = $operation;
            (returned, $word.into_inner())
        };
        let std = {
            #[allow(unused_mut)]
            let mut $word = std::sync::atomic::AtomicU64::new($start);
            let returned = $operation;
            (returned, $word.into_inner())
        };
        assert_eq!(ours, std, "{}", stringify!($operation));
    }};
}

#[test]
#[cfg(target_has_atomic = "64")]
fn each_operation_has_the_result_of_std() {
    for start in [0, 5, u64::MAX] {
        same!(start, |word| word.load(SeqCst));
        same!(start, |word| word.store(3, SeqCst));
        same!(start, |word| word.swap(3, SeqCst));
        same!(start, |word| word.compare_exchange(5, 6, SeqCst, Relaxed));
        same!(start, |word| word.fetch_add(2, Relaxed));
        same!(start, |word| word.fetch_sub(6, Relaxed));
        same!(start, |word| word.fetch_and(4, Relaxed));
        same!(start, |word| word.fetch_or(8, Relaxed));
        same!(start, |word| word.fetch_max(7, Relaxed));
        same!(start, |word| word.fetch_min(4, Relaxed));
        same!(start, |word| word
            .fetch_update(SeqCst, Relaxed, |n| n.checked_add(1)));
        same!(start, |word| *word.get_mut() ^= 1);
    }
}

#[test]
fn a_weak_exchange_does_not_fail_spuriously() {
    let word = AtomicU64::new(1);
    assert_eq!(word.compare_exchange_weak(1, 2, SeqCst, Relaxed), Ok(1));
    assert_eq!(word.compare_exchange_weak(1, 3, SeqCst, Relaxed), Err(2));
    assert_eq!(format!("{word:?}"), "2");
}

#[test]
fn no_update_of_many_threads_is_lost() {
    let word = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1_000 {
                    word.fetch_add(1 << 31, Relaxed);
                }
            });
        }
    });
    assert_eq!(word.load(Relaxed), 4_000 << 31);
}
