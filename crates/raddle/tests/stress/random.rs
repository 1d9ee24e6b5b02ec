//! Random choices of a round, determined by its seed.

use std::time::Duration;

use raddle::runtime::{Builder, Policy, Runtime};

/// SplitMix64.
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// A new generator for another thread or task.
    pub(crate) fn split(&mut self) -> Self {
        Self(self.next())
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// A number from `from` to `to`, both included.
    pub(crate) fn within(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to - from + 1)
    }

    /// True once in `times` calls, on average.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn micros(&mut self, limit: usize) -> Duration {
        Duration::from_micros(self.below(limit) as u64)
    }

    /// A builder of a random runtime with sockets and timers.
    pub(crate) fn builder(&mut self) -> Builder {
        let mut builder = match self.below(8) {
            0 => Builder::new_current_thread(),
            _ => self.multi_thread(),
        };
        builder.enable_all();
        builder
    }

    /// A builder of a random multi-thread runtime.
    pub(crate) fn multi_thread(&mut self) -> Builder {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(self.within(1, 4)).enable_all();
        builder.scheduler(match self.below(5) {
            0 => Policy::Shared,
            1 => Policy::Sharded,
            _ => Policy::WorkStealing,
        });
        if self.once_in(3) {
            builder.event_interval(self.within(1, 8) as u32);
        }
        if self.once_in(3) {
            builder.global_queue_interval(self.within(1, 8) as u32);
        }
        if self.once_in(4) {
            builder.on_thread_park(std::thread::yield_now);
        }
        builder
    }

    pub(crate) fn runtime(&mut self) -> Runtime {
        self.builder().build().unwrap()
    }
}
