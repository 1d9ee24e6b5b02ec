//! The reference model of a task and of its joiners.

use super::callbacks::Hazard;

/// How a task has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    Output,
    Cancelled,
    /// The text of the panic's payload.
    Panic(&'static str),
}

/// The known state of the task.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// Whether a runnable exists.
    pub(super) due: bool,
    pub(super) aborted: bool,
    pub(super) end: Option<End>,
    /// The joiner whose waker the completion wakes.
    pub(super) joining: Option<usize>,
    pub(super) taken: bool,
    pub(super) wakes: [usize; JOINERS],
    pub(super) polls: usize,
    pub(super) panics_reported: usize,
}

pub(super) const JOINERS: usize = 5;
pub(super) const HAZARDS: [Hazard; JOINERS] = [
    Hazard::None,
    Hazard::None,
    Hazard::Clone,
    Hazard::Wake,
    Hazard::Drop,
];
