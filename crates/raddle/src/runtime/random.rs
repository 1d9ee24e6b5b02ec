//! The random numbers of a runtime.

use raddle_std::sync::atomic::{AtomicU32, Ordering};

/// What the random numbers of a runtime come from; for
/// [`Builder::rng_seed`](crate::runtime::Builder::rng_seed).
///
/// # Examples
///
/// ```
/// use raddle::runtime::{Builder, RngSeed};
///
/// let seed = RngSeed::from_bytes(b"run 17");
/// let runtime = Builder::new_current_thread().rng_seed(seed).build()?;
/// # drop(runtime);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RngSeed(u64);

impl RngSeed {
    /// A seed of any bytes; the same for the same bytes in each process.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::RngSeed;
    ///
    /// let seed = RngSeed::from_bytes(&17_u64.to_le_bytes());
    /// # drop(seed);
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Self {
        // The hash of Fowler, Noll and Vo (FNV-1a).
        let hash = bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
        });
        Self(hash)
    }
}

/// Where the threads of a runtime that has a seed begin.
pub(crate) struct Random {
    seed: u64,
    /// How many calls of `block_on` there were.
    calls: AtomicU32,
}

impl Random {
    pub(crate) fn new(seed: RngSeed) -> Self {
        Self {
            seed: seed.0,
            calls: AtomicU32::new(0),
        }
    }

    /// Begins the numbers of a call of `block_on`.
    pub(crate) fn enter_call(&self) -> Seeded {
        // ORDERING: only counts.
        self.enter(self.calls.fetch_add(1, Ordering::Relaxed).into())
    }

    /// Begins the numbers of a worker.
    pub(crate) fn enter_worker(&self, worker: usize) -> Seeded {
        self.enter(u64::MAX - worker as u64)
    }

    /// Mixes the seed with a number (Steele and Vigna's SplitMix64).
    fn enter(&self, number: u64) -> Seeded {
        let mut mixed = self.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Seeded(replace_state((mixed >> 32) as u32 | 1))
    }
}

/// Restores the numbers that the thread had before.
pub(crate) struct Seeded(u32);

impl Drop for Seeded {
    fn drop(&mut self) {
        replace_state(self.0);
    }
}

#[cfg(feature = "macros")]
fn replace_state(state: u32) -> u32 {
    crate::macros::support::replace_random(state)
}

/// Without `select!` nothing is random.
#[cfg(not(feature = "macros"))]
fn replace_state(_: u32) -> u32 {
    0
}
