//! Whether other threads may take from the slot and the queue of the only worker of a pool.
//!
//! The worker takes without a read-modify-write as long as no other thread takes: a locked
//! instruction per poll is 5 to 20 % of the time of short polls. A spare worker takes only while
//! the worker is in a poll that does not return, so the monitor pays for the agreement:
//!
//! | the worker, when a poll ends | the monitor, before it starts a spare worker |
//! |---|---|
//! | 1. counts the poll as ended | 1. changes the state to `REQUESTED` |
//! | 2. light barrier | 2. heavy barrier |
//! | 3. reads the state; takes exclusively until the next poll ends if it is `EXCLUSIVE` | 3. reads the counts; goes on if the worker is in a poll |
//!
//! The heavy barrier makes a full fence of each light one. If the monitor sees that a poll has
//! begun and not that it has ended, the worker has done all that it did before the poll, and sees
//! the changed state when the poll ends. From then on it takes as if it had other workers beside
//! it, until no spare worker is active and the monitor changes the state back.
//!
//! The heavy barrier is `membarrier` of Linux. Elsewhere, and in a sandbox that refuses the call,
//! the queue is always shared. RCU in user space uses the system call in the same way
//! (<https://liburcu.org>).

use raddle_primitives::named;
use raddle_primitives::sync::atomic::{AtomicU32, Ordering};

/// Only the worker takes.
const EXCLUSIVE: u32 = 0;
/// Only the worker takes, but as if others did.
const REQUESTED: u32 = 1;
/// Others take.
const SHARED: u32 = 2;

/// The state of one worker, which the monitor changes.
pub(crate) struct Sharing(AtomicU32);

impl Sharing {
    pub(crate) fn exclusive() -> Self {
        Self(named("sharing of the queue", AtomicU32::new(EXCLUSIVE)))
    }

    /// Returns whether the worker takes exclusively until its next poll ends. The caller has
    /// counted the poll as ended.
    #[inline]
    pub(crate) fn end_poll(&self) -> bool {
        barrier::light();
        // ORDERING: Acquire pairs with `end`: the worker sees what spare workers have taken.
        self.0.load(Ordering::Acquire) == EXCLUSIVE
    }

    /// Lets others take. Returns false if they must not, because the worker is in no poll, which
    /// `is_in_poll` returns.
    pub(crate) fn request(&self, is_in_poll: impl FnOnce() -> bool) -> bool {
        // ORDERING: only the monitor changes the state.
        if self.0.load(Ordering::Relaxed) == SHARED {
            return true;
        }
        // ORDERING: the barrier orders it.
        self.0.store(REQUESTED, Ordering::Relaxed);
        let is_granted = barrier::heavy() && is_in_poll();
        if is_granted {
            // ORDERING: both states mean the same to the worker.
            self.0.store(SHARED, Ordering::Relaxed);
        }
        is_granted
    }

    /// Ends the sharing. No other thread takes any more, and the caller has seen what they took.
    pub(crate) fn end(&self) {
        // ORDERING: only the monitor changes the state.
        if self.0.load(Ordering::Relaxed) != EXCLUSIVE {
            // ORDERING: Release pairs with `end_poll`.
            self.0.store(EXCLUSIVE, Ordering::Release);
        }
    }
}

/// A fence that is nearly free for one of two threads.
pub(crate) mod barrier {
    #[allow(unused_imports, reason = "a model needs a part of it")]
    pub(crate) use system::{heavy, is_supported, light};

    #[cfg(raddle_loom)]
    mod system {
        use raddle_primitives::sync::atomic::{Ordering, fence};

        pub(crate) fn is_supported() -> bool {
            true
        }

        pub(crate) fn light() {
            // ORDERING: stands for half of an asymmetric fence, see above.
            fence(Ordering::SeqCst);
        }

        pub(crate) fn heavy() -> bool {
            // ORDERING: as above.
            fence(Ordering::SeqCst);
            true
        }
    }

    #[cfg(all(target_os = "linux", not(raddle_loom), not(miri)))]
    mod system {
        use std::ffi::c_int;
        use std::sync::OnceLock;

        use raddle_primitives::sync::atomic::{Ordering, compiler_fence};

        // linux/membarrier.h
        const PRIVATE_EXPEDITED: c_int = 1 << 3;
        const REGISTER_PRIVATE_EXPEDITED: c_int = 1 << 4;

        /// Registers the process for the heavy barrier. Returns whether the system has it.
        pub(crate) fn is_supported() -> bool {
            static IS_REGISTERED: OnceLock<bool> = OnceLock::new();

            *IS_REGISTERED.get_or_init(|| membarrier(REGISTER_PRIVATE_EXPEDITED))
        }

        /// Orders the memory accesses of this thread around it, as seen by a thread that calls
        /// [`heavy`].
        #[inline]
        pub(crate) fn light() {
            // ORDERING: keeps the compiler from reordering; the system call of `heavy` keeps the
            // processor from it.
            compiler_fence(Ordering::SeqCst);
        }

        /// A full fence on each thread of the process. Returns false if the system refuses it.
        pub(crate) fn heavy() -> bool {
            // The child of a fork may have to register again.
            membarrier(PRIVATE_EXPEDITED)
                || membarrier(REGISTER_PRIVATE_EXPEDITED) && membarrier(PRIVATE_EXPEDITED)
        }

        fn membarrier(command: c_int) -> bool {
            // SAFETY: the call has two integers as its arguments, and accesses no memory.
            unsafe { libc::syscall(libc::SYS_membarrier, command, 0) == 0 }
        }
    }

    #[cfg(all(any(not(target_os = "linux"), miri), not(raddle_loom)))]
    mod system {
        pub(crate) fn is_supported() -> bool {
            false
        }

        pub(crate) fn light() {}

        pub(crate) fn heavy() -> bool {
            false
        }
    }
}
