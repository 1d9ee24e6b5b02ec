//! Platforms where no sample of a thread's stack is taken.

use super::{NoStack, StackFrame, StackTrace};
use crate::slot::ActivitySlot;

/// The stack of a thread, which is unknown on this system.
#[derive(Clone, Debug)]
pub(crate) enum ThreadStack {}

impl ThreadStack {
    pub(crate) fn of_current_thread() -> Option<Self> {
        None
    }
}

/// Takes no samples.
#[derive(Debug)]
pub(crate) struct Sampler;

impl Sampler {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn prepare(&mut self) {}

    pub(crate) fn sample(
        &mut self,
        _: &ActivitySlot,
        _: usize,
        _: &mut dyn FnMut(),
    ) -> Result<StackTrace, NoStack> {
        Err(NoStack::Unsupported)
    }
}

pub(crate) fn unblock_signal() -> bool {
    false
}

pub(crate) fn block_signal() {}

pub(super) fn resolve(_: &[usize]) -> Vec<StackFrame> {
    Vec::new()
}
