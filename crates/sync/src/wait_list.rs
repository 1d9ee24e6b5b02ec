//! The list of waiters, in the order in which they began to wait.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomPinned;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::process;
use std::ptr::{self, NonNull};

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::sync::atomic::{AtomicU32, Ordering};

/// The node is in no list.
const IDLE: u32 = 0;

/// The node is in a list. Set by its future, under the lock of the list; ended by the future with
/// `IDLE`, or with `RELEASED` by the operation that serves it, under that lock too.
const QUEUED: u32 = 1;

/// The node has left its list with a verdict, which its future has not taken yet.
const RELEASED: u32 = 2;

/// A list of waiters. Each waiter has an item `T` for the operation that serves it, and is released
/// with a verdict `V`. The primitive keeps the list under its lock.
///
/// The list allocates nothing: a waiter is a [`Node`] inside the future that waits. The future
/// learns without the lock that it was released, and can then be dropped without the lock.
///
/// Which thread may access a node:
/// 1. while it is `IDLE` or `RELEASED`, only its future;
/// 2. while it is `QUEUED`, the holder of the list's lock. The future can read that it is queued,
///    but only the holder of the lock knows whether it still is;
/// 3. the store of `RELEASED` is the last access of the releasing operation, because the node may
///    be dropped after it;
/// 4. a node is pinned from its first use on, and is not dropped while it is queued.
pub(crate) struct WaitList<T, V: Copy> {
    ends: Option<Ends<T, V>>,
}

struct Ends<T, V: Copy> {
    first: Link<T, V>,
    last: Link<T, V>,
}

type Link<T, V> = NonNull<Node<T, V>>;

/// A waiter.
pub(crate) struct Node<T, V: Copy> {
    state: AtomicU32,
    /// The list that the node was last queued in. Only its future accesses this field.
    list: Cell<*const ()>,
    /// Present while the node is queued.
    links: UnsafeCell<MaybeUninit<Links<T, V>>>,
    /// Present while the node is released.
    verdict: UnsafeCell<MaybeUninit<V>>,
    _pinned: PhantomPinned,
}

struct Links<T, V: Copy> {
    before: Option<Link<T, V>>,
    after: Option<Link<T, V>>,
    item: T,
}

// SAFETY: items and verdicts move between threads by the rules of `WaitList`; only the future
// accesses `list`.
unsafe impl<T: Send, V: Copy + Send> Send for Node<T, V> {}
// SAFETY: a shared node gives access only to its state.
unsafe impl<T: Send, V: Copy + Send> Sync for Node<T, V> {}
// SAFETY: the owner of the list owns the content of its queued nodes.
unsafe impl<T: Send, V: Copy + Send> Send for WaitList<T, V> {}

impl<T, V: Copy> Node<T, V> {
    /// Makes a node that is in no list.
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            state: AtomicU32::new(IDLE),
            list: Cell::new(ptr::null()),
            links: UnsafeCell::new(MaybeUninit::uninit()),
            verdict: UnsafeCell::new(MaybeUninit::uninit()),
            _pinned: PhantomPinned,
        }
    }

    /// Returns whether the node is in no list, and was not released. Only its future calls this.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        // ORDERING: only the calling future makes the node idle or queued.
        self.state.load(Ordering::Relaxed) == IDLE
    }

    /// Returns the verdict if the waiter was released, and makes it idle. Takes no lock.
    #[inline]
    pub(crate) fn take_verdict(self: Pin<&mut Self>) -> Option<V> {
        // ORDERING: Acquire pairs with `WaitList::release`: the future sees the writes before the
        // release, and the accesses of the releasing thread are over.
        if self.state.load(Ordering::Acquire) != RELEASED {
            return None;
        }
        // ORDERING: only the future accesses the node.
        self.state.store(IDLE, Ordering::Relaxed);
        // SAFETY: the verdict was written before the node was released, and by rule 1 no other
        // thread accesses it.
        Some(
            self.verdict
                .with(|verdict| unsafe { (*verdict).assume_init() }),
        )
    }

    /// Returns whether the node is in `list`, to which the caller has exclusive access.
    ///
    /// # Panics
    ///
    /// Panics if the node is in another list.
    #[inline]
    fn is_in(&self, list: &WaitList<T, V>) -> bool {
        // ORDERING: the state was changed under the lock of the list, or by the caller.
        let queued = self.state.load(Ordering::Relaxed) == QUEUED;
        assert!(
            !queued || self.list.get() == ptr::from_ref(list).cast(),
            "the node is in another list"
        );
        queued
    }

    /// Calls `change` with the node's links.
    ///
    /// # Safety
    ///
    /// The node is queued, and the caller has exclusive access to its list.
    #[inline]
    unsafe fn with_links<R>(&self, change: impl FnOnce(&mut Links<T, V>) -> R) -> R {
        self.links.with_mut(|links| {
            // SAFETY: the links are initialised while the node is queued, and by rule 2 the caller
            // may access them.
            change(unsafe { (*links).assume_init_mut() })
        })
    }
}

impl<T, V: Copy> Drop for Node<T, V> {
    #[inline]
    fn drop(&mut self) {
        // ORDERING: as in `is_idle`. A future that was released has taken the verdict, or does not
        // need it.
        if self.state.load(Ordering::Relaxed) == QUEUED {
            // The neighbours would point to freed memory.
            process::abort();
        }
        // In a model this counts as a write, so each access has to be ordered before it.
        self.links.with_mut(|_| ());
    }
}

impl<T, V: Copy> WaitList<T, V> {
    /// Makes an empty list.
    pub(crate) const fn new() -> Self {
        Self { ends: None }
    }

    /// Returns whether the list has no waiter.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_none()
    }

    /// Appends an idle node to the list.
    ///
    /// # Panics
    ///
    /// Panics if the node is not idle.
    #[inline]
    pub(crate) fn push_back(&mut self, node: Pin<&mut Node<T, V>>, item: T) {
        let node = node.into_ref().get_ref();
        assert!(node.is_idle(), "the node is queued already");
        node.list.set(ptr::from_ref(self).cast());
        let before = self.ends.as_ref().map(|ends| ends.last);
        node.links.with_mut(|links| {
            let new = Links {
                before,
                after: None,
                item,
            };
            // SAFETY: rule 1; the node is idle.
            unsafe { (*links).write(new) };
        });
        // ORDERING: only the holder of the lock, which is the caller, reads whether a node is
        // queued.
        node.state.store(QUEUED, Ordering::Relaxed);
        let last = Link::from(node);
        match &mut self.ends {
            None => self.ends = Some(Ends { first: last, last }),
            Some(ends) => {
                // SAFETY: the nodes at the ends are in this list, so they are queued and valid
                // (rule 4).
                unsafe {
                    ends.last
                        .as_ref()
                        .with_links(|links| links.after = Some(last))
                };
                ends.last = last;
            }
        }
    }

    /// Returns the item of a node that has not been released.
    #[inline]
    pub(crate) fn get_mut<'a>(&'a mut self, node: Pin<&'a mut Node<T, V>>) -> Option<&'a mut T> {
        let node = node.into_ref().get_ref();
        if !node.is_in(self) {
            return None;
        }
        node.links.with_mut(|links| {
            // SAFETY: the node is queued in this list, which the caller borrows exclusively for
            // `'a`.
            Some(&mut unsafe { (*links).assume_init_mut() }.item)
        })
    }

    /// Removes a node that has not been released, which makes it idle, and returns its item.
    pub(crate) fn remove(&mut self, node: Pin<&mut Node<T, V>>) -> Option<T> {
        let node = node.into_ref().get_ref();
        if !node.is_in(self) {
            return None;
        }
        // SAFETY: the node is queued in this list.
        let item = unsafe { self.unlink(Link::from(node)) };
        // ORDERING: only the calling future accesses the node from now on.
        node.state.store(IDLE, Ordering::Relaxed);
        Some(item)
    }

    /// Returns the items, the oldest first.
    #[inline]
    pub(crate) fn items(&mut self) -> impl Iterator<Item = &T> {
        let mut next = self.ends.as_ref().map(|ends| ends.first);
        std::iter::from_fn(move || {
            // SAFETY: a node of the list is valid.
            let node = unsafe { next?.as_ref() };
            node.links.with(|links| {
                // SAFETY: the node is queued, and by rule 2 no other thread changes its content
                // while the list is borrowed.
                let links = unsafe { (*links).assume_init_ref() };
                next = links.after;
                Some(&links.item)
            })
        })
    }

    /// Releases the oldest node, and returns its item.
    #[inline]
    pub(crate) fn release_first(&mut self, verdict: V) -> Option<T> {
        let first = self.ends.as_ref()?.first;
        // SAFETY: the node is in this list.
        Some(unsafe { self.release(first, verdict) })
    }

    /// Releases the newest node, and returns its item.
    pub(crate) fn release_last(&mut self, verdict: V) -> Option<T> {
        let last = self.ends.as_ref()?.last;
        // SAFETY: the node is in this list.
        Some(unsafe { self.release(last, verdict) })
    }

    /// Releases a node. Its future may find the verdict and be dropped at once.
    ///
    /// # Safety
    ///
    /// The node is in this list.
    #[inline]
    unsafe fn release(&mut self, node: Link<T, V>, verdict: V) -> T {
        // SAFETY: as the caller promises.
        let item = unsafe { self.unlink(node) };
        // SAFETY: the node is queued until the store below, so it is valid.
        let node = unsafe { node.as_ref() };
        node.verdict.with_mut(|place| {
            // SAFETY: rule 2.
            unsafe { (*place).write(verdict) };
        });
        // ORDERING: Release pairs with `take_verdict`.
        node.state.store(RELEASED, Ordering::Release);
        item
    }

    /// Removes a node from between its neighbours, and takes its item. The caller changes its
    /// state.
    ///
    /// # Safety
    ///
    /// The node is in this list.
    #[inline]
    unsafe fn unlink(&mut self, node: Link<T, V>) -> T {
        // SAFETY: the node is in this list, so it is valid.
        let node = unsafe { node.as_ref() };
        let Links {
            before,
            after,
            item,
        } = node.links.with_mut(|links| {
            // SAFETY: the node is queued, and its links are not read again before new ones are
            // written.
            unsafe { (*links).assume_init_read() }
        });
        match (before, after) {
            (None, None) => self.ends = None,
            (Some(before), Some(after)) => {
                // SAFETY: a neighbour is in this list too.
                unsafe {
                    before
                        .as_ref()
                        .with_links(|links| links.after = Some(after))
                };
                // SAFETY: as above.
                unsafe {
                    after
                        .as_ref()
                        .with_links(|links| links.before = Some(before))
                };
            }
            (Some(before), None) => {
                // SAFETY: as above.
                unsafe { before.as_ref().with_links(|links| links.after = None) };
                self.ends.iter_mut().for_each(|ends| ends.last = before);
            }
            (None, Some(after)) => {
                // SAFETY: as above.
                unsafe { after.as_ref().with_links(|links| links.before = None) };
                self.ends.iter_mut().for_each(|ends| ends.first = after);
            }
        }
        item
    }
}

impl<T, V: Copy> Drop for WaitList<T, V> {
    /// Drops the items of futures that were leaked: all other queued futures borrow the primitive
    /// that is being dropped.
    fn drop(&mut self) {
        while let Some(first) = self.ends.as_ref().map(|ends| ends.first) {
            // SAFETY: the node is in this list; the memory of a forgotten future stays valid,
            // because the future was pinned.
            let _item = unsafe { self.unlink(first) };
            // SAFETY: as above.
            let node = unsafe { first.as_ref() };
            // ORDERING: no other thread reads the state any more.
            node.state.store(IDLE, Ordering::Relaxed);
        }
    }
}

impl<T, V: Copy> fmt::Debug for WaitList<T, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitList")
            .field("is_empty", &self.is_empty())
            .finish_non_exhaustive()
    }
}

impl<T, V: Copy> fmt::Debug for Node<T, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("is_idle", &self.is_idle())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
