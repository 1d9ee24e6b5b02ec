//! The settings of a recorder.

use std::time::Duration;

/// The settings of a recorder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecorderOptions {
    /// The number of records that each thread keeps, rounded up to a power of two. Older ones are
    /// overwritten. A record has 16 bytes. Default: 16,384 (256 KiB).
    pub records_per_thread: usize,
    /// The time from which a poll, a scheduling delay, the wait of a blocking job, a poll of the
    /// driver that does not wait, a delay by the kernel, or a span counts as slow. Default: 10 ms.
    pub slow: Duration,
    /// The number of records of slow and rare events that each thread keeps in addition, in a ring
    /// that it gets with the first of them. Rare are the starts and stops of a runtime and of spare
    /// workers, handoffs, and marks. A slow poll takes up to 9 records, the others up to 5. A
    /// thread with one slow poll in a second thus keeps those of the last 15 minutes. Default:
    /// 8,192 (128 KiB).
    pub rare_records_per_thread: usize,
    /// The number of tasks, counting from the latest spawn, that have a place of 32 bytes for where
    /// they were spawned. Older ones that still live are kept in a map. Default: 16,384 (512 KiB).
    pub task_places: usize,
    /// The maximum number of threads that record at a time. Further threads record nothing. The
    /// memory of a thread that has exited is reused. Default: 1,024.
    pub max_threads: usize,
    /// The maximum number of names and locations. Further ones are recorded as unknown. Default:
    /// 65,536.
    pub max_strings: usize,
    /// Whether [`record_kernel_delays`](crate::recorder::Recorder::record_kernel_delays) records delays; if
    /// not, it does nothing. Default: true.
    pub kernel_delays: bool,
}

impl Default for RecorderOptions {
    fn default() -> Self {
        Self {
            records_per_thread: 16_384,
            slow: Duration::from_millis(10),
            rare_records_per_thread: 8_192,
            task_places: 16_384,
            max_threads: 1_024,
            max_strings: 65_536,
            kernel_delays: true,
        }
    }
}
