//! Processes that continue to run after their [`Child`](super::Child) was dropped.
//!
//! The process has one list of them. At each `SIGCHLD`, whichever reactor reads the signal takes
//! the exit statuses of those that have ended (`signal/delivery.rs`). An orphan therefore keeps no
//! descriptor and no waker, and its end is noticed even if the reactor on which it was spawned is
//! not driven, or is gone. If there is no reactor at all, the signal stays in the self-pipe until
//! there is one.

use std::process::Child;
use std::sync::LazyLock;

use raddle_primitives::sync::{Mutex, Rank};
use raddle_reactor::Handle;

use crate::signal::delivery;

static ORPHANS: LazyLock<Mutex<Vec<Child>>> =
    LazyLock::new(|| Mutex::ranked(Rank::leaf("orphans"), Vec::new()));

/// Takes the exit status of a process once it has ended. `reactor` is the one on which it was
/// spawned, if it is known.
pub(super) fn add(mut child: Child, reactor: Option<&Handle>) {
    // Listen first: then an end that the check misses is still noticed. This can fail only in a
    // forked child without descriptors, whose orphans are those of its parent.
    let _ = delivery::call_at(libc::SIGCHLD, reap, reactor);
    // The check and the entry are one critical section: if the process ends in between, the reaping
    // that its signal causes finds it in the list.
    let mut orphans = ORPHANS.lock();
    if is_running(&mut child) {
        orphans.push(child);
    }
}

/// Takes the exit statuses of the processes in the list that have ended.
fn reap() {
    ORPHANS.lock().retain_mut(is_running);
}

/// A process that cannot be checked is no longer a child of this process.
fn is_running(child: &mut Child) -> bool {
    matches!(child.try_wait(), Ok(None))
}
