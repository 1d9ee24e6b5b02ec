//! Processes that continue to run after their [`Child`](super::Child) was dropped.
//!
//! The notification of a process's end wakes a waker that takes the exit status, on the thread that
//! drives the reactor. A process without a notification, or whose reactor has shut down, is kept in
//! a list, which is checked when the next child is spawned or dropped.

use std::process::Child;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Wake, Waker};

use raddle_primitives::sync::{Mutex, Rank};

use super::exit_notifier::ExitNotifier;

static UNNOTIFIED: LazyLock<Mutex<Vec<Child>>> =
    LazyLock::new(|| Mutex::ranked(Rank::leaf("orphans"), Vec::new()));

/// Takes the exit status of a process once it has ended.
pub(super) fn add(child: Child, notifier: Option<ExitNotifier>) {
    match notifier {
        Some(notifier) => {
            let orphan = Mutex::ranked(Rank::outer(1, "orphan"), Some((child, notifier)));
            Arc::new(Orphan(orphan)).poll();
        }
        None => add_unnotified(child),
    }
    // Other processes may have ended meanwhile.
    reap();
}

fn add_unnotified(child: Child) {
    UNNOTIFIED.lock().push(child);
    // The process may have ended meanwhile.
    reap();
}

/// Takes the exit statuses of the processes in the list that have ended.
pub(super) fn reap() {
    // A process that cannot be checked is no longer a child of this process.
    UNNOTIFIED
        .lock()
        .retain_mut(|orphan| matches!(orphan.try_wait(), Ok(None)));
}

/// A process with a notifier of its end, or nothing once the exit status has been taken. The
/// notifier has the orphan's waker, which keeps the orphan alive.
struct Orphan(Mutex<Option<(Child, ExitNotifier)>>);

impl Orphan {
    /// Takes the exit status if the process has ended, and otherwise waits for the next
    /// notification.
    fn poll(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        let mut cx = Context::from_waker(&waker);
        let mut orphan = self.0.lock();
        let is_notified = loop {
            let Some((child, notifier)) = &mut *orphan else {
                return;
            };
            // No task waits for the process, so there is no task's budget to spend.
            match raddle_coop::unlimited(|| notifier.poll(&mut cx)) {
                Poll::Pending => return,
                Poll::Ready(Err(_)) => break false,
                Poll::Ready(Ok(())) => {}
            }
            if !matches!(child.try_wait(), Ok(None)) {
                break true;
            }
        };
        // Drop the notifier after the lock, because it has locks of its own.
        let taken = orphan.take();
        drop(orphan);
        if let Some((child, _notifier)) = taken {
            if !is_notified {
                add_unnotified(child);
            }
        }
    }
}

impl Wake for Orphan {
    fn wake(self: Arc<Self>) {
        self.poll();
    }
}
