//! The settings of a recorder.

/// The settings of a recorder.
///
/// # Examples
///
/// ```
/// use raddle_recorder::Options;
///
/// let mut options = Options::default();
/// options.records_per_thread = 65_536;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The number of latest records that each thread keeps, rounded up to a power of two. A record
    /// has 16 bytes. Default: 16,384, which are 256 KiB.
    pub records_per_thread: usize,
    /// The number of threads that can record at a time. Further threads record nothing. The memory
    /// of a thread that has ended is used again for the next. Default: 1,024.
    pub max_threads: usize,
    /// The number of names and locations that are kept. Further ones are recorded as unknown.
    /// Default: 65,536.
    pub max_strings: usize,
    /// Whether [`record_kernel_delays`](crate::Recorder::record_kernel_delays) does anything.
    /// Default: true.
    pub kernel_delays: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            records_per_thread: 16_384,
            max_threads: 1_024,
            max_strings: 65_536,
            kernel_delays: true,
        }
    }
}
