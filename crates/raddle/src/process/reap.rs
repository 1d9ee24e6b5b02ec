//! Waiting for the end of a process.

use std::io;
use std::process::ExitStatus;
use std::task::{Context, Poll, ready};

use super::orphans;
use crate::runtime::Handle;
use crate::signal::unix::{Signal, SignalKind, signal};

/// A process whose exit status is taken, by somebody, sooner or later.
#[derive(Debug)]
pub(super) struct Process {
    /// None once it was found to have ended, or was handed on.
    running: Option<std::process::Child>,
    status: Option<ExitStatus>,
    /// Made when it is first waited for.
    signal: Option<Signal>,
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
            signal: None,
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
            self.signal = None;
        }
        Ok(self.status)
    }

    pub(super) fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        loop {
            // Listen first: an end that is missed by the look is heard of.
            if self.signal.is_none() && self.running.is_some() {
                self.signal = Some(signal(SignalKind::child())?);
            }
            if let Some(status) = self.try_wait()? {
                return Poll::Ready(Ok(status));
            }
            let Some(signal) = &mut self.signal else {
                unreachable!("it runs, so a listener was made above");
            };
            if ready!(signal.poll_recv(cx)).is_none() {
                return Poll::Ready(Err(io::Error::other(
                    "the runtime has shut down; wait for the process while it runs",
                )));
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
                    signal: None,
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
