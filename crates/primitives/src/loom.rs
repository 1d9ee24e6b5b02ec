//! The model build: loom's primitives in the shape of [`crate::std`]'s.

mod condvar;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod stacks;

pub(crate) mod sync {
    use std::fmt;
    use std::ops::{Deref, DerefMut};

    pub use super::condvar::Condvar;
    pub use loom::sync::{Arc, RwLockReadGuard, RwLockWriteGuard};

    pub(crate) mod atomic {
        pub use loom::sync::atomic::{
            AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence,
        };
    }

    /// loom's mutex.
    #[derive(Debug, Default)]
    pub struct Mutex<T: ?Sized>(loom::sync::Mutex<T>);

    /// Access to the locked value until the guard is dropped.
    pub struct MutexGuard<'a, T: ?Sized> {
        mutex: &'a Mutex<T>,
        inner: loom::sync::MutexGuard<'a, T>,
    }

    impl<T> Mutex<T> {
        /// Makes an unlocked mutex.
        pub fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        /// Like [`new`](Self::new): a model does not check ranks, since it finds deadlocks by
        /// itself.
        pub fn ranked(_: crate::rank::Rank, value: T) -> Self {
            Self::new(value)
        }

        /// Takes the value out of a mutex that is no longer shared.
        pub fn into_inner(self) -> T {
            self.0.into_inner().unwrap()
        }
    }

    impl<T: ?Sized> Mutex<T> {
        /// Blocks until the lock is held.
        #[track_caller]
        pub fn lock(&self) -> MutexGuard<'_, T> {
            MutexGuard {
                mutex: self,
                inner: self.0.lock().unwrap(),
            }
        }

        /// Like [`lock`](Self::lock): ranks are not checked.
        #[track_caller]
        pub fn lock_unordered(&self) -> MutexGuard<'_, T> {
            self.lock()
        }

        /// Does nothing: ranks are not checked.
        pub fn check_order(&self) {}

        /// Takes the lock if no thread holds it.
        ///
        /// In loom, a thread that is about to try a lock waits for a thread that locks it first
        /// (<https://github.com/tokio-rs/loom/issues/376>). This function therefore lets loom
        /// switch to that thread earlier.
        #[track_caller]
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            let inner = crate::model::without_switch(|| self.0.try_lock().ok())?;
            Some(MutexGuard { mutex: self, inner })
        }

        /// Returns the value without locking.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap()
        }
    }

    impl<'a, T: ?Sized> MutexGuard<'a, T> {
        /// Releases the lock for a thread that will take it again.
        pub(super) fn release(self) -> &'a Mutex<T> {
            self.mutex
        }
    }

    impl<T: ?Sized> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.inner
        }
    }

    impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.inner
        }
    }

    impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (**self).fmt(f)
        }
    }

    /// loom's lock for many readers or one writer.
    #[derive(Debug, Default)]
    pub struct RwLock<T>(loom::sync::RwLock<T>);

    impl<T> RwLock<T> {
        /// Makes an unlocked lock.
        pub fn new(value: T) -> Self {
            Self(loom::sync::RwLock::new(value))
        }

        /// Blocks until the lock is held together with other readers.
        #[track_caller]
        pub fn read(&self) -> RwLockReadGuard<'_, T> {
            self.0.read().unwrap()
        }

        /// Blocks until no other thread holds the lock.
        #[track_caller]
        pub fn write(&self) -> RwLockWriteGuard<'_, T> {
            self.0.write().unwrap()
        }
    }
}

pub(crate) mod cell {
    /// loom's cell, with pointers in place of its guards.
    #[derive(Debug, Default)]
    pub struct UnsafeCell<T: ?Sized>(loom::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// Makes a cell.
        pub fn new(value: T) -> Self {
            Self(loom::cell::UnsafeCell::new(value))
        }

        /// Takes the content out.
        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    impl<T: ?Sized> UnsafeCell<T> {
        /// Gives `f` a pointer for reading; a concurrent write is reported.
        #[track_caller]
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            self.0.with(f)
        }

        /// Gives `f` a pointer for writing; any concurrent access is reported.
        #[track_caller]
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            self.0.with_mut(f)
        }
    }
}

pub(crate) mod thread {
    use std::time::Duration;

    use crate::sync::{Arc, Condvar, Mutex};

    pub use loom::thread::{Builder, JoinHandle, ThreadId, spawn, yield_now};

    /// The id of the calling thread.
    pub fn current_id() -> ThreadId {
        loom::thread::current().id()
    }

    /// A handle for waking a thread of a model. loom's own `park` shares its blocked state with its
    /// locks, so an unpark would release a thread that waits for a mutex. This type instead
    /// implements the token of std's documentation: a flag under a lock.
    #[derive(Clone, Debug)]
    pub struct Thread(Arc<Token>);

    #[derive(Debug)]
    struct Token {
        set: Mutex<bool>,
        condvar: Condvar,
    }

    loom::thread_local! {
        static CURRENT: Thread = Thread(Arc::new(Token {
            set: Mutex::new(false),
            condvar: Condvar::new(),
        }));
    }

    impl Thread {
        /// Makes the thread's current or next `park` return.
        pub fn unpark(&self) {
            *self.0.set.lock() = true;
            self.0.condvar.notify_one();
        }
    }

    /// The handle of the calling thread.
    pub fn current() -> Thread {
        CURRENT.with(Thread::clone)
    }

    /// Blocks until the token is set, and clears it.
    pub fn park() {
        let thread = current();
        let mut set = thread.0.set.lock();
        while !*set {
            set = thread.0.condvar.wait(set);
        }
        *set = false;
    }

    /// Blocks until the token is set or the time is over, and clears the token.
    ///
    /// loom has no clock: the time may be over at any moment after another thread has made a step.
    pub fn park_timeout(_timeout: Duration) {
        let thread = current();
        let mut set = thread.0.set.lock();
        if !*set {
            drop(set);
            yield_now();
            set = thread.0.set.lock();
        }
        *set = false;
    }
}

pub(crate) mod hint {
    pub use loom::hint::spin_loop;

    /// Crossbeam's `Backoff` for a model, in which a thread that waits must let the others run.
    #[derive(Debug, Default)]
    pub struct Backoff(());

    impl Backoff {
        /// Makes one.
        pub fn new() -> Self {
            Self::default()
        }

        /// Lets the other threads of the model run.
        pub fn snooze(&self) {
            loom::thread::yield_now();
        }
    }
}
