//! Tests of a receiver that acts between two steps of a send.

use crate::broadcast::channel;
use crate::broadcast::error::TryRecvError;

#[test]
fn a_value_that_is_overwritten_before_the_newer_one_is_counted_is_reported_once() {
    let (sender, mut receiver) = channel(2);
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    // The first part of a send.
    assert_eq!(receiver.shared.ring.put(2, 1, 3), Some(1));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Lagged(1)));
    assert_eq!(receiver.try_recv(), Ok(2));
    // The second part of the send.
    receiver.shared.sent.wake(receiver.shared.sent.advance());
    assert_eq!(receiver.try_recv(), Ok(3));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
}
