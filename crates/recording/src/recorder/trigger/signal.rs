//! SIGUSR2.

use std::io;

use raddle_primitives::thread::{self, JoinHandle};
use signal_hook::consts::SIGUSR2;
use signal_hook::iterator::{Handle, Signals};

/// Calls a function for each SIGUSR2, on a thread of its own, until it is dropped.
pub(super) struct Listener {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    pub(super) fn start(notify: impl Fn() + Send + 'static) -> io::Result<Option<Self>> {
        let mut signals = Signals::new([SIGUSR2])?;
        let handle = signals.handle();
        let wait = move || {
            unblock();
            signals.forever().for_each(|_| notify());
        };
        let thread = thread::Builder::new()
            .name("raddle-signal".to_owned())
            .spawn(wait)?;
        Ok(Some(Self {
            handle,
            thread: Some(thread),
        }))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _joined = thread.join();
        }
    }
}

/// Lets the calling thread receive the signal: a program may block all signals before it starts
/// threads, which inherit that.
fn unblock() {
    // SAFETY: a `sigset_t` is plain data, and the call below initializes it.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is a local variable.
    unsafe { libc::sigemptyset(&mut set) };
    // SAFETY: `set` is initialized, and the signal exists.
    unsafe { libc::sigaddset(&mut set, SIGUSR2) };
    // SAFETY: `set` is initialized, and the call changes only the mask of this thread.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut()) };
}
