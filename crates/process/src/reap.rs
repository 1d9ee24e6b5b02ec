//! Waiting for the end of a process.

use std::io;
use std::process::ExitStatus;
use std::task::{Context, Poll, ready};

#[cfg(unix)]
use raddle_reactor::Handle;

use super::exit_notifier::ExitNotifier;
#[cfg(unix)]
use super::orphans;

/// A process whose exit status is always taken eventually: by a wait, or, after this is dropped, as
/// that of an orphan.
#[derive(Debug)]
pub(super) struct Process {
    /// `None` after the child was found to have ended.
    running: Option<std::process::Child>,
    status: Option<ExitStatus>,
    /// Made together with the process. `None` if that failed, or once the process has ended.
    notifier: Option<ExitNotifier>,
}

impl Process {
    pub(super) fn new(running: std::process::Child) -> Self {
        // Make it now, so that a wait needs nothing more. If that fails, the wait tries again and
        // reports the error.
        let notifier = ExitNotifier::of(&running).ok();
        Self {
            running: Some(running),
            status: None,
            notifier,
        }
    }

    /// Returns the process, unless it is known to have ended.
    pub(super) fn running(&mut self) -> Option<&mut std::process::Child> {
        self.running.as_mut()
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.running.as_ref().map(std::process::Child::id)
    }

    #[cfg(windows)]
    pub(super) fn raw_handle(&self) -> Option<std::os::windows::io::RawHandle> {
        use std::os::windows::io::AsRawHandle;
        self.running.as_ref().map(AsRawHandle::as_raw_handle)
    }

    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if let Some(running) = &mut self.running {
            if let Some(status) = running.try_wait()? {
                self.status = Some(status);
                self.running = None;
                self.notifier = None;
            }
        }
        Ok(self.status)
    }

    pub(super) fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        loop {
            #[cfg(unix)]
            if let Some(elsewhere) = self.notifier.take_if(|it| !it.is_usable_here()) {
                drop(elsewhere);
            }
            // Listen first: then an end that the check misses is still noticed.
            if self.notifier.is_none() {
                if let Some(running) = &self.running {
                    #[cfg(unix)]
                    Handle::check_current()?;
                    self.notifier = Some(ExitNotifier::of(running)?);
                }
            }
            if let Some(status) = self.try_wait()? {
                return Poll::Ready(Ok(status));
            }
            if let Some(notifier) = &mut self.notifier {
                if ready!(notifier.poll(cx)).is_err() {
                    // The runtime in which the notifier was made has shut down. If another runtime
                    // is current, the next round makes a notifier there; if not, it fails.
                    self.notifier = None;
                }
            }
        }
    }
}

/// Windows frees a process when its handles are closed.
#[cfg(unix)]
impl Drop for Process {
    fn drop(&mut self) {
        if !matches!(self.try_wait(), Ok(None)) {
            return;
        }
        if let Some(running) = self.running.take() {
            let notifier = self.notifier.take();
            orphans::add(running, notifier.as_ref().and_then(ExitNotifier::reactor));
        }
    }
}

#[cfg(all(test, unix, not(raddle_loom)))]
mod tests;
