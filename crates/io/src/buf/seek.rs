//! The state of a seek of a buffered stream.

use std::io::SeekFrom;

/// A seek of a buffered stream, whose inner stream has to be moved too.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum SeekState {
    /// No seek was started.
    #[default]
    Idle,
    /// The seek was started on the buffered stream, but not yet on the inner one.
    Start(SeekFrom),
    /// The seek was started on the inner stream. If it needs a second step, this is the offset of
    /// that step.
    Underway(Option<i64>),
}
