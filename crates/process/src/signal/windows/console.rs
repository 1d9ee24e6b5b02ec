//! Delivery from the console handler to the listeners.

use std::io;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use raddle_primitives::sync::{Mutex, Rank};
use raddle_primitives::{ByNumber, contain, thread};
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT,
    SetConsoleCtrlHandler,
};
use windows_sys::core::BOOL;

/// An event of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    CtrlC,
    CtrlBreak,
    Close,
    Logoff,
    Shutdown,
}

impl Event {
    fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            CTRL_C_EVENT => Self::CtrlC,
            CTRL_BREAK_EVENT => Self::CtrlBreak,
            CTRL_CLOSE_EVENT => Self::Close,
            CTRL_LOGOFF_EVENT => Self::Logoff,
            CTRL_SHUTDOWN_EVENT => Self::Shutdown,
            _ => return None,
        })
    }

    /// Returns whether the system ends the process when the handler returns.
    fn ends_the_process(self) -> bool {
        matches!(self, Self::Close | Self::Logoff | Self::Shutdown)
    }
}

/// The listeners of the process.
#[derive(Default)]
struct Listeners {
    /// Whether the handler is installed.
    is_handled: bool,
    waiting: ByNumber<Waiting>,
    /// The key of the next listener.
    next: u64,
}

/// The state of a listener.
struct Waiting {
    event: Event,
    /// Whether an event has come that the listener has not taken.
    has_event: bool,
    waker: Option<Waker>,
}

static LISTENERS: LazyLock<Mutex<Listeners>> = LazyLock::new(|| {
    Mutex::ranked(
        Rank::leaf("listeners for console events"),
        Listeners::default(),
    )
});

/// Notifies the listeners for `event`. Returns whether there are any.
fn deliver(event: Event) -> bool {
    let mut listeners = LISTENERS.lock();
    let concerned = listeners.waiting.values_mut();
    let mut is_delivered = false;
    let mut wakers = Vec::new();
    for waiting in concerned.filter(|waiting| waiting.event == event) {
        waiting.has_event = true;
        is_delivered = true;
        wakers.extend(waiting.waker.take());
    }
    drop(listeners);
    for waker in wakers {
        // A panic must not unwind out of the handler.
        contain(|| waker.wake());
    }
    is_delivered
}

/// Runs on a thread that the system starts for the event.
extern "system" fn handle(code: u32) -> BOOL {
    let Some(event) = Event::from_code(code) else {
        return BOOL::from(false);
    };
    let is_delivered = deliver(event);
    while is_delivered && event.ends_the_process() {
        thread::park();
    }
    BOOL::from(is_delivered)
}

/// Listens for one event.
pub(super) struct Listener(u64);

impl Listener {
    pub(super) fn new(event: Event) -> io::Result<Self> {
        let mut listeners = LISTENERS.lock();
        if !listeners.is_handled {
            install()?;
            listeners.is_handled = true;
        }
        let key = listeners.next;
        listeners.next += 1;
        let waiting = Waiting {
            event,
            has_event: false,
            waker: None,
        };
        listeners.waiting.insert(key, waiting);
        Ok(Self(key))
    }

    /// Takes an event that has come.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        // Clone the new waker before the lock, and drop the old one after it.
        let waker = cx.waker().clone();
        let mut listeners = LISTENERS.lock();
        let waiting = listeners.waiting.get_mut(self.0);
        let Some(waiting) = waiting else {
            unreachable!("a listener is in the list until it is dropped")
        };
        if std::mem::take(&mut waiting.has_event) {
            return Poll::Ready(());
        }
        let former = waiting.waker.replace(waker);
        drop(listeners);
        drop(former);
        Poll::Pending
    }
}

#[allow(unsafe_code, reason = "the handler of console events")]
fn install() -> io::Result<()> {
    // SAFETY: the function may run on any thread at any time.
    match unsafe { SetConsoleCtrlHandler(Some(handle), BOOL::from(true)) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let removed = LISTENERS.lock().waiting.remove(self.0);
        drop(removed);
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
