//! The ordinary build: std's primitives.

pub(crate) mod sync {
    use std::fmt;
    use std::ops::{Deref, DerefMut};
    use std::sync::PoisonError;
    use std::time::Duration;

    use crate::named::{Tag, count_event};
    use crate::rank::{Held, LockRank, Rank};

    #[cfg(raddle_count)]
    pub use crate::counting::Arc;
    #[cfg(not(raddle_count))]
    pub use std::sync::Arc;
    pub use std::sync::{RwLockReadGuard, RwLockWriteGuard};

    pub(crate) mod atomic {
        #[cfg(raddle_count)]
        pub use crate::counting::{
            AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence,
        };
        #[cfg(not(target_has_atomic = "64"))]
        pub use crate::locked_u64::AtomicU64;
        #[cfg(all(not(raddle_count), target_has_atomic = "64"))]
        pub use std::sync::atomic::AtomicU64;
        #[cfg(not(raddle_count))]
        pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, fence};
    }

    /// std's mutex without poisoning: a panic while it is held leaves it usable.
    ///
    /// Raddle runs no user code under a lock, so a guard that is dropped by a panic has not left
    /// its value half changed.
    ///
    /// ```
    /// use raddle_primitives::sync::{Mutex, Rank};
    ///
    /// let totals = Mutex::ranked(Rank::leaf("totals"), vec![1, 2]);
    /// totals.lock().push(3);
    /// // A caller that owns something which a panic must not drop checks the order afterwards.
    /// totals.lock_unordered().push(4);
    /// totals.check_order();
    /// assert_eq!(totals.into_inner(), [1, 2, 3, 4]);
    /// ```
    #[derive(Default)]
    pub struct Mutex<T: ?Sized> {
        pub(crate) tag: Tag,
        rank: LockRank,
        inner: std::sync::Mutex<T>,
    }

    /// Access to the locked value until the guard is dropped.
    pub struct MutexGuard<'a, T: ?Sized> {
        inner: std::sync::MutexGuard<'a, T>,
        held: Held,
    }

    impl<T> Mutex<T> {
        /// Makes an unlocked mutex that has no place in the order of locks.
        #[track_caller]
        pub const fn new(value: T) -> Self {
            Self {
                tag: Tag::here(),
                rank: LockRank::none(),
                inner: std::sync::Mutex::new(value),
            }
        }

        /// Makes an unlocked mutex that is taken in the order of ranks: see
        /// [`Rank`].
        pub const fn ranked(rank: Rank, value: T) -> Self {
            Self {
                tag: Tag::ranked(rank),
                rank: LockRank::new(rank),
                inner: std::sync::Mutex::new(value),
            }
        }

        /// Takes the value out of a mutex that is no longer shared.
        pub fn into_inner(self) -> T {
            let inner = self.inner.into_inner();
            inner.unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl<T: ?Sized> Mutex<T> {
        /// Blocks until the lock is held.
        #[inline]
        #[track_caller]
        pub fn lock(&self) -> MutexGuard<'_, T> {
            let held = self.rank.enter();
            self.tag.lock();
            MutexGuard {
                inner: self.inner.lock().unwrap_or_else(PoisonError::into_inner),
                held,
            }
        }

        /// Like [`lock`](Self::lock), but does not check the order of ranks, and so does not panic.
        /// It is for callers that own something that a panic would drop in the wrong place, and
        /// that [check](Self::check_order) the order afterwards.
        #[inline]
        pub fn lock_unordered(&self) -> MutexGuard<'_, T> {
            self.tag.lock();
            MutexGuard {
                inner: self.inner.lock().unwrap_or_else(PoisonError::into_inner),
                held: self.rank.enter_unordered(),
            }
        }

        /// Checks that the order of ranks allows the thread to take the lock now.
        ///
        /// # Panics
        ///
        /// Panics if it does not, in a build with debug assertions.
        #[inline]
        #[track_caller]
        pub fn check_order(&self) {
            drop(self.rank.enter());
        }

        /// Takes the lock if no thread holds it.
        #[inline]
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            let inner = match self.inner.try_lock() {
                Ok(guard) => guard,
                Err(std::sync::TryLockError::Poisoned(error)) => error.into_inner(),
                Err(std::sync::TryLockError::WouldBlock) => {
                    self.tag.fail_to_lock();
                    return None;
                }
            };
            self.tag.lock();
            Some(MutexGuard {
                inner,
                held: self.rank.enter_unordered(),
            })
        }

        /// Returns the value without locking: the borrow proves that no other thread has it.
        pub fn get_mut(&mut self) -> &mut T {
            let inner = self.inner.get_mut();
            inner.unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.inner.fmt(f)
        }
    }

    impl<T: ?Sized> Deref for MutexGuard<'_, T> {
        type Target = T;

        #[inline]
        fn deref(&self) -> &T {
            &self.inner
        }
    }

    impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
        #[inline]
        fn deref_mut(&mut self) -> &mut T {
            &mut self.inner
        }
    }

    impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.inner.fmt(f)
        }
    }

    /// std's lock for many readers or one writer, without poisoning. A caller that runs user code
    /// under it documents which state a panic leaves.
    #[derive(Default)]
    pub struct RwLock<T: ?Sized> {
        pub(crate) tag: Tag,
        inner: std::sync::RwLock<T>,
    }

    impl<T> RwLock<T> {
        /// Makes an unlocked lock.
        #[track_caller]
        pub const fn new(value: T) -> Self {
            Self {
                tag: Tag::here(),
                inner: std::sync::RwLock::new(value),
            }
        }
    }

    impl<T: ?Sized> RwLock<T> {
        /// Blocks until the lock is held together with other readers.
        #[inline]
        pub fn read(&self) -> RwLockReadGuard<'_, T> {
            self.tag.lock();
            self.inner.read().unwrap_or_else(PoisonError::into_inner)
        }

        /// Blocks until no other thread holds the lock.
        #[inline]
        pub fn write(&self) -> RwLockWriteGuard<'_, T> {
            self.tag.lock();
            self.inner.write().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.inner.fmt(f)
        }
    }

    /// The event that counts waits for a condition variable, with or without a timeout.
    const WAIT: &str = "wait for a condition variable";

    /// std's condition variable, for [`Mutex`].
    #[derive(Debug, Default)]
    pub struct Condvar(std::sync::Condvar);

    impl Condvar {
        /// Makes a condition variable without waiting threads.
        pub const fn new() -> Self {
            Self(std::sync::Condvar::new())
        }

        /// Releases the lock, waits for a notification (or a spurious wake-up) and takes the lock
        /// again.
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            count_event(WAIT);
            let MutexGuard { inner, held } = guard;
            // A waiting thread takes no other lock.
            let inner = self.0.wait(inner).unwrap_or_else(PoisonError::into_inner);
            MutexGuard { inner, held }
        }

        /// Like [`wait`](Self::wait), but for no longer than `timeout`; the boolean says whether
        /// the time ran out.
        pub fn wait_timeout<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            timeout: Duration,
        ) -> (MutexGuard<'a, T>, bool) {
            count_event(WAIT);
            let MutexGuard { inner, held } = guard;
            let (inner, result) = self
                .0
                .wait_timeout(inner, timeout)
                .unwrap_or_else(PoisonError::into_inner);
            (MutexGuard { inner, held }, result.timed_out())
        }

        /// Wakes one waiting thread.
        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        /// Wakes every waiting thread.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}

pub(crate) mod cell {
    /// A cell whose content is reached through a raw pointer.
    ///
    /// ```
    /// use raddle_primitives::cell::UnsafeCell;
    ///
    /// let cell = UnsafeCell::new(6);
    /// // SAFETY: only this thread has the cell, and no other reference to its content exists.
    /// cell.with_mut(|content| unsafe { *content *= 7 });
    /// // SAFETY: as above.
    /// assert_eq!(cell.with(|content| unsafe { *content }), 42);
    /// assert_eq!(cell.into_inner(), 42);
    /// ```
    #[derive(Debug, Default)]
    #[repr(transparent)]
    pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// Makes a cell.
        pub const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        /// Takes the content out.
        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    impl<T: ?Sized> UnsafeCell<T> {
        /// Gives `f` a pointer for reading. The pointer must not be used to write. A model does not
        /// see accesses after `f` has returned.
        #[inline(always)]
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        /// Gives `f` a pointer for reading and writing. A model does not see accesses after `f` has
        /// returned.
        #[inline(always)]
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

pub(crate) mod thread {
    pub use std::thread::{
        Builder, JoinHandle, Thread, ThreadId, current, park, park_timeout, spawn, yield_now,
    };

    /// The id of the calling thread.
    pub fn current_id() -> ThreadId {
        current().id()
    }
}

pub(crate) mod hint {
    pub use crossbeam_utils::Backoff;
    pub use std::hint::spin_loop;
}
