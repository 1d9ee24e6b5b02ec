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
    /// Made along with it. None if that failed, or once the process has ended.
    ending: Option<Ending>,
    /// Where it is seen to when it is dropped while it runs. None for one that
    /// has been dropped.
    runtime: Option<Handle>,
}

impl Process {
    pub(super) fn new(running: std::process::Child, runtime: Handle) -> Self {
        orphans::reap();
        // Now, since spawning has just given descriptors back. If all ways
        // fail, the wait tries again, and reports that.
        let ending = Ending::of(&running).ok();
        Self {
            running: Some(running),
            status: None,
            ending,
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
        loop {
            // Listen first: an end that the look misses is noticed.
            if self.ending.is_none()
                && let Some(running) = &self.running
            {
                self.ending = Some(Ending::of(running)?);
            }
            if let Some(status) = self.try_wait()? {
                return Poll::Ready(Ok(status));
            }
            if let Some(ending) = &mut self.ending
                && let Err(_) = ready!(ending.poll(cx))
            {
                // The runtime that it was made in has shut down. If this is
                // another one, it takes over; if not, it says so.
                self.ending = None;
            }
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
                    ending: self.ending.take(),
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
