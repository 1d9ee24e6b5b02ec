//! Random numbers that each thread has for itself, optionally from a seed.
//!
//! They make choices that only affect fairness, such as the first branch of a `select!`.
//!
//! ```
//! use raddle_primitives::random::{self, Random, RngSeed};
//!
//! let numbers = || {
//!     let random = Random::new(RngSeed::from_bytes(b"run 17"));
//!     let _seeded = random.enter_call();
//!     [(); 8].map(|()| random::below(100))
//! };
//! assert_eq!(numbers(), numbers());
//! assert!(numbers().iter().all(|number| *number < 100));
//! ```

use std::cell::Cell;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use crate::sync::atomic::{AtomicU32, Ordering};

crate::thread_local! {
    /// The state of this thread's random numbers. Zero before the first number.
    static STATE: Cell<u32> = Cell::new(0);
}

/// Returns a random number below `count` (Marsaglia's xorshift).
pub fn below(count: usize) -> usize {
    STATE.with(|cell| {
        let mut random = cell.get();
        if random == 0 {
            // The keys of the hasher are random. A state of zero would stay zero.
            random = RandomState::new().build_hasher().finish() as u32 | 1;
        }
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        cell.set(random);
        // Use the high bits of the product, which needs no division.
        ((u64::from(random) * count as u64) >> 32) as usize
    })
}

/// The seed of a runtime's random numbers: the same numbers from the same seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RngSeed(u64);

impl RngSeed {
    /// A seed of any bytes; the same for the same bytes in each process.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        // The hash of Fowler, Noll and Vo (FNV-1a).
        let hash = bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
        });
        Self(hash)
    }
}

/// Gives each thread of a runtime with a seed its own seed.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    /// The number of calls of `block_on`.
    calls: AtomicU32,
    /// The number of handoffs.
    handoffs: AtomicU32,
}

impl Random {
    /// Makes a source of numbers that come from `seed`.
    pub fn new(seed: RngSeed) -> Self {
        Self {
            seed: seed.0,
            calls: AtomicU32::new(0),
            handoffs: AtomicU32::new(0),
        }
    }

    /// Begins the numbers for a call of `block_on`.
    pub fn enter_call(&self) -> Seeded {
        // ORDERING: only counts.
        self.enter(self.calls.fetch_add(1, Ordering::Relaxed).into())
    }

    /// Begins the numbers for a worker.
    pub fn enter_worker(&self, worker: usize) -> Seeded {
        self.enter(u64::MAX - worker as u64)
    }

    /// Begins the numbers for a thread that takes a worker over. They differ for each handoff:
    /// otherwise a worker that changes threads often would make the same choices again and again.
    pub fn enter_handoff(&self) -> Seeded {
        // ORDERING: only counts.
        let number = self.handoffs.fetch_add(1, Ordering::Relaxed);
        // The numbers of calls are below these, and those of workers above.
        self.enter(u64::from(number) + (1 << 32))
    }

    /// Mixes the seed with a number (Steele and Vigna's SplitMix64).
    fn enter(&self, number: u64) -> Seeded {
        let mut mixed = self.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Seeded(replace_state((mixed >> 32) as u32 | 1))
    }
}

/// Restores the thread's former numbers.
#[derive(Debug)]
#[must_use = "the numbers are seeded only while the guard lives"]
pub struct Seeded(u32);

impl Drop for Seeded {
    fn drop(&mut self) {
        replace_state(self.0);
    }
}

fn replace_state(state: u32) -> u32 {
    STATE.try_with(|cell| cell.replace(state)).unwrap_or(0)
}
