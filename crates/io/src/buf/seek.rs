//! The progress of a seek of a buffered stream.

use std::io::SeekFrom;

/// A seek of a buffered stream, whose inner stream has to be moved too.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum SeekState {
    /// No seek was started.
    #[default]
    Idle,
    /// Started here, and not yet on the inner stream.
    Start(SeekFrom),
    /// Started on the inner stream. Where one step does not reach, what
    /// follows is this offset from there.
    Underway(Option<i64>),
}
