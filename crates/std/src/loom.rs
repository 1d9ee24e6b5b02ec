//! The model build: loom's primitives in the shape of [`crate::std`]'s.

pub(crate) mod sync {
    use std::time::Duration;

    pub use loom::sync::{Arc, MutexGuard, RwLockReadGuard, RwLockWriteGuard};

    pub(crate) mod atomic {
        pub use loom::sync::atomic::{
            AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence,
        };
    }

    /// loom's mutex.
    #[derive(Debug, Default)]
    pub struct Mutex<T: ?Sized>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        /// Makes an unlocked mutex.
        pub fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        /// As [`new`](Self::new): the order of locks is not checked in a model,
        /// which finds a deadlock by itself.
        pub fn ranked(_: crate::rank::Rank, value: T) -> Self {
            Self::new(value)
        }

        /// Takes the value out of a mutex that nobody shares any more.
        pub fn into_inner(self) -> T {
            self.0.into_inner().unwrap()
        }
    }

    impl<T: ?Sized> Mutex<T> {
        /// Blocks until the lock is held.
        #[track_caller]
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }

        /// As [`lock`](Self::lock): ranks are not checked.
        #[track_caller]
        pub fn lock_unordered(&self) -> MutexGuard<'_, T> {
            self.lock()
        }

        /// Nothing: ranks are not checked.
        pub fn check_order(&self) {}

        /// Takes the lock if nobody holds it.
        ///
        /// A thread that is about to try waits, in loom, for another that locks
        /// before it does (<https://github.com/tokio-rs/loom/issues/376>). Hence
        /// the switch to that one is offered earlier.
        #[track_caller]
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            crate::model::unbroken(|| self.0.try_lock().ok())
        }

        /// The value, without locking.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap()
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

        /// Blocks until the lock is held by nobody else.
        #[track_caller]
        pub fn write(&self) -> RwLockWriteGuard<'_, T> {
            self.0.write().unwrap()
        }
    }

    /// loom's condition variable.
    #[derive(Debug, Default)]
    pub struct Condvar(loom::sync::Condvar);

    impl Condvar {
        /// Makes a condition variable that nobody waits on.
        pub fn new() -> Self {
            Self(loom::sync::Condvar::new())
        }

        /// Releases the lock, waits for a notification and takes the lock
        /// again.
        #[track_caller]
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).unwrap()
        }

        /// Returns at once, the lock still held, and reports that the time ran
        /// out: loom has no clock.
        pub fn wait_timeout<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            _timeout: Duration,
        ) -> (MutexGuard<'a, T>, bool) {
            (guard, true)
        }

        /// Wakes one waiting thread.
        #[track_caller]
        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        /// Wakes every waiting thread.
        #[track_caller]
        pub fn notify_all(&self) {
            self.0.notify_all();
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

    /// A handle for waking a thread of a model.
    ///
    /// loom's own `park` shares its blocked state with its locks, so that an
    /// unpark would release a thread waiting for a mutex. This is the token of
    /// std's documentation instead: a flag under a lock.
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
        /// Lets the thread's present or next `park` return.
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

    /// Clears the token and returns, as if the time had passed.
    pub fn park_timeout(_timeout: Duration) {
        *current().0.set.lock() = false;
        yield_now();
    }
}

pub(crate) mod hint {
    pub use loom::hint::spin_loop;
}
