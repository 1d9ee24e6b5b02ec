//! The settings of a recorder.

/// The settings of a recorder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecorderOptions {
    /// The number of records that each thread keeps, rounded up to a power of two. Older ones are
    /// overwritten. A record has 16 bytes. Default: 16,384 (256 KiB).
    pub records_per_thread: usize,
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
            max_threads: 1_024,
            max_strings: 65_536,
            kernel_delays: true,
        }
    }
}
