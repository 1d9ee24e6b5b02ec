//! Waiting for the end of a process.

use std::io;
use std::process::ExitStatus;
use std::task::{Context, Poll, ready};

use super::ending::Ending;
use super::orphans;
use crate::runtime::Handle;

/// A process whose exit status is taken, by somebody, sooner or later.
#[derive(Debug)]
pub(super) struct Process {
    /// None once it was found to have ended, or was handed on.
    running: Option<std::process::Child>,
    status: Option<ExitStatus>,
    /// Made when it is first waited for.
    ending: Option<Ending>,
    /// Where it is seen to when it is dropped while it runs. None for one that
    /// has been dropped.
    runtime: Option<Handle>,
}

impl Process {
    pub(super) fn new(running: std::process::Child, runtime: Handle) -> Self {
        orphans::reap();
        Self {
            running: Some(running),
            status: None,
            ending: None,
            runtime: Some(runtime),
        }
    }

    /// The process, while it is not known to have ended.
    pub(super) fn running(&mut self) -> Option<&mut std::process::Child> {
        self.running.as_mut()
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.running.as_ref().map(std::process::Child::id)
    }

    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if let Some(running) = &mut self.running
            && let Some(status) = running.try_wait()?
        {
            self.status = Some(status);
            self.running = None;
            self.ending = None;
        }
        Ok(self.status)
    }

    pub(super) fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        // Listen first: an end that is missed by the look is heard of.
        if self.ending.is_none()
            && let Some(running) = &self.running
        {
            self.ending = Some(Ending::of(running)?);
        }
        loop {
            if let Some(status) = self.try_wait()? {
                return Poll::Ready(Ok(status));
            }
            let Some(ending) = &mut self.ending else {
                unreachable!("it runs, so a listener was made above");
            };
            ready!(ending.poll(cx))?;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !matches!(self.try_wait(), Ok(None)) {
            return;
        }
        let Some(running) = self.running.take() else {
            return;
        };
        match self.runtime.take() {
            Some(runtime) => {
                let mut orphan = Process {
                    running: Some(running),
                    status: None,
                    ending: None,
                    runtime: None,
                };
                // If the runtime has shut down or does so, the future is
                // dropped, and comes by here again.
                drop(runtime.spawn(async move {
                    let _ = std::future::poll_fn(|cx| orphan.poll_wait(cx)).await;
                }));
            }
            None => orphans::add(running),
        }
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
