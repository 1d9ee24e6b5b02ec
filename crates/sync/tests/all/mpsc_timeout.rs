//! Tests of sending with a time limit, under a paused clock.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use raddle_sync::mpsc::error::SendTimeoutError;
use raddle_sync::mpsc::{self, Receiver, Sender};
use raddle_testing::{Wakes, ready};
use raddle_timer::Timers;

use crate::common::{poll, poll_with};

const LIMIT: Duration = Duration::from_millis(5);

/// Makes timers that the test fires, and a full channel.
fn full() -> (Timers, Sender<u32>, Receiver<u32>) {
    let timers = Timers::new(Arc::new(|| ()));
    timers.handle().pause();
    let (sender, receiver) = mpsc::channel(1);
    sender.try_send(0).unwrap();
    (timers, sender, receiver)
}

#[test]
fn a_message_is_sent_if_capacity_is_freed_in_time() {
    let (timers, sender, mut receiver) = full();
    let handle = timers.handle();
    let _entered = handle.enter();
    let (woken, waker) = Wakes::new();
    let mut send = Box::pin(sender.send_timeout(1, LIMIT));
    assert!(poll_with(&mut send, &waker).is_pending());
    assert_eq!(receiver.try_recv(), Ok(0));
    assert_eq!(woken.get(), 1);
    assert_eq!(poll(&mut send), Poll::Ready(Ok(())));
    assert_eq!(receiver.try_recv(), Ok(1));
    ready(sender.send_timeout(2, Duration::ZERO)).unwrap();
    assert_eq!(receiver.try_recv(), Ok(2));
}

#[test]
fn a_message_is_returned_after_the_timeout() {
    let (mut timers, sender, mut receiver) = full();
    let handle = timers.handle();
    let _entered = handle.enter();
    let (woken, waker) = Wakes::new();
    let mut send = Box::pin(sender.send_timeout(1, LIMIT));
    assert!(poll_with(&mut send, &waker).is_pending());
    handle.advance(LIMIT);
    timers.fire_due();
    assert_eq!(woken.get(), 1);
    assert_eq!(
        poll(&mut send),
        Poll::Ready(Err(SendTimeoutError::Timeout(1)))
    );
    assert_eq!(receiver.try_recv(), Ok(0));
    assert_eq!(sender.capacity(), 1);
}

#[test]
fn a_message_to_a_closing_channel_is_returned() {
    let (timers, sender, receiver) = full();
    let handle = timers.handle();
    let _entered = handle.enter();
    let mut send = Box::pin(sender.send_timeout(1, LIMIT));
    assert!(poll(&mut send).is_pending());
    drop(receiver);
    assert_eq!(
        poll(&mut send),
        Poll::Ready(Err(SendTimeoutError::Closed(1)))
    );
}
