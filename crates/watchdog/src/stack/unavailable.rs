//! Platforms where no sample of a thread's stack is taken.

use std::time::Duration;

use super::{StackFrame, StackTrace};

/// The stack of a thread, which is unknown on this system.
#[derive(Debug)]
pub(crate) enum ThreadStack {}

impl ThreadStack {
    pub(crate) fn of_current_thread() -> Option<Self> {
        None
    }
}

/// Takes no samples.
#[derive(Debug)]
pub(crate) struct Sampler;

/// A sample that was requested, which never happens on this system.
#[derive(Debug)]
pub(crate) enum Pending {}

impl Sampler {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn prepare(&mut self) {}

    pub(crate) fn request(&self, stack: &ThreadStack) -> Option<Pending> {
        match *stack {}
    }

    pub(crate) fn wait(&mut self, pending: Pending, _: Duration) -> Option<StackTrace> {
        match pending {}
    }
}

pub(super) fn resolve(_: &[usize]) -> Vec<StackFrame> {
    Vec::new()
}
