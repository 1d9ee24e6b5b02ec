//! Processes that run on though nobody, and no runtime, waits for them.

use std::process::Child;
use std::sync::LazyLock;

use raddle_std::sync::{Mutex, Rank};

static ORPHANS: LazyLock<Mutex<Vec<Child>>> =
    LazyLock::new(|| Mutex::ranked(Rank::leaf("orphans"), Vec::new()));

/// Keeps a process until it has ended.
pub(super) fn add(child: Child) {
    ORPHANS.lock().push(child);
    // It may have ended meanwhile, as may others.
    reap();
}

/// Lets go of those that have ended.
pub(super) fn reap() {
    // One that cannot be asked is nobody's child any more.
    ORPHANS
        .lock()
        .retain_mut(|orphan| matches!(orphan.try_wait(), Ok(None)));
}
