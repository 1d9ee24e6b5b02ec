//! The list that tells a set of join handles which of them to poll.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

use raddle_task::ReadyList;

fn list_of(keys: &[usize]) -> Arc<ReadyList> {
    let list = Arc::new(ReadyList::default());
    for &key in keys {
        list.waker(key).wake();
    }
    list
}

fn pop_or_wait(list: &ReadyList, waker: &Waker) -> Option<usize> {
    list.pop_or_wait(&Context::from_waker(waker))
}

#[test]
fn the_length_is_that_of_the_listed_keys() {
    let list = list_of(&[]);
    assert!(list.is_empty());
    assert_eq!(list.len(), 0);
    let list = list_of(&[5, 7]);
    assert!(!list.is_empty());
    assert_eq!(list.len(), 2);
    assert_eq!(list.pop(), Some(5));
    assert_eq!(list.len(), 1);
    list.clear();
    assert!(list.is_empty());
    assert_eq!(list.pop(), None);
}

#[test]
fn each_of_several_keys_is_taken_with_the_same_waker() {
    let list = list_of(&[1, 2, 3]);
    let taken: Vec<_> = (0..4).map(|_| pop_or_wait(&list, Waker::noop())).collect();
    assert_eq!(taken, [Some(1), Some(2), Some(3), None]);
}

/// Reads the list whenever it is woken or dropped: a lock held then is a deadlock.
struct ListReader {
    list: Arc<ReadyList>,
    reads: Arc<AtomicUsize>,
}

impl ListReader {
    fn read_list(&self) {
        self.reads.fetch_add(1 + self.list.len(), Ordering::Relaxed);
    }
}

impl Wake for ListReader {
    fn wake(self: Arc<Self>) {
        self.read_list();
    }
}

impl Drop for ListReader {
    fn drop(&mut self) {
        self.read_list();
    }
}

#[test]
fn a_waker_is_woken_and_dropped_without_the_lock() {
    let list = list_of(&[]);
    let reads = Arc::new(AtomicUsize::new(0));
    let waker = || {
        Waker::from(Arc::new(ListReader {
            list: list.clone(),
            reads: reads.clone(),
        }))
    };
    assert_eq!(pop_or_wait(&list, &waker()), None);
    // The second replaces the first, which is dropped.
    assert_eq!(pop_or_wait(&list, &waker()), None);
    assert_eq!(reads.load(Ordering::Relaxed), 1);
    // Woken with one key listed, and dropped.
    list.waker(1).wake();
    assert_eq!(reads.load(Ordering::Relaxed), 5);
}
