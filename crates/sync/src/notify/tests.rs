use std::pin::pin;
use std::task::{Context, Waker};

use super::*;

/// As if the queued waiter had left the list after the notifier read the word.
#[test]
fn a_notification_that_finds_the_line_empty_is_stored() {
    let notify = Notify::new();
    let waiter = notify.notify_queued(&mut notify.waiters.lock(), NotifiedBy::First);
    assert!(waiter.is_none());
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(pin!(notify.notified()).poll(cx).is_ready());
    assert!(pin!(notify.notified()).poll(cx).is_pending());
}
