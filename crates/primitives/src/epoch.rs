//! A point in time that nanoseconds are counted from.

use std::time::Instant;

/// Whether the platform has no clock, where std's clock panics.
const NO_CLOCK: bool = cfg!(all(target_family = "wasm", target_os = "unknown"));

/// A point in time that nanoseconds are counted from. On a platform without a clock, which is
/// WebAssembly outside WASI, no time passes.
#[derive(Clone, Copy, Debug)]
pub struct Epoch(Option<Instant>);

impl Epoch {
    /// Starts to count now.
    pub fn now() -> Self {
        Self((!NO_CLOCK).then(Instant::now))
    }

    /// Returns the nanoseconds since the epoch: at most 584 years.
    #[inline]
    pub fn nanos(self) -> u64 {
        self.0.map_or(0, |epoch| epoch.elapsed().as_nanos() as u64)
    }
}

impl From<Instant> for Epoch {
    fn from(epoch: Instant) -> Self {
        Self(Some(epoch))
    }
}
