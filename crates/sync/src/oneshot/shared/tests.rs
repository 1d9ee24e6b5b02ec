//! Tests in which one end is dropped after the other has taken its waker, and before it wakes it.

#[path = "../../../tests/all/held.rs"]
mod held;

use self::held::held;
use super::*;

#[test]
fn the_sender_frees_what_a_receiver_that_has_left_leaves_to_it() {
    let cx = &mut Context::from_waker(Waker::noop());
    let before = held();
    let (sender, mut receiver) = Handle::<u32>::pair();
    assert!(receiver.poll_done(cx).is_pending());
    // SAFETY: the sender owns the memory of the value, because nothing was sent.
    sender
        .shared()
        .value
        .with_mut(|place| unsafe { (*place).write(7) });
    let sent = sender.shared().state.transition_to_sent();
    assert!(matches!(sent, ToSent::Sent(Leave::Wake)));
    let state = receiver.state();
    assert!(state.is_done() && !state.has_sender_left());
    assert_eq!(receiver.receive(state), Some(7));
    assert!(held() > before, "the sender has not left");
    sender.wake_receiver();
    assert_eq!(held(), before);
}

#[test]
fn the_receiver_frees_what_a_sender_that_has_left_leaves_to_it() {
    let cx = &mut Context::from_waker(Waker::noop());
    let before = held();
    let (mut sender, receiver) = Handle::<u32>::pair();
    assert!(sender.poll_closed(cx).is_pending());
    let dropped = receiver.shared().state.transition_to_dropped();
    assert!(matches!(dropped, Some(Leave::Wake)));
    assert!(!sender.state().is_sent());
    sender.drop_sender();
    assert!(held() > before, "the receiver has not left");
    receiver.wake_sender();
    assert_eq!(held(), before);
}

#[test]
fn an_end_that_wakes_the_other_leaves_after_that() {
    let cx = &mut Context::from_waker(Waker::noop());
    for waits in [false, true] {
        let (mut sender, receiver) = Handle::<u32>::pair();
        if waits {
            assert!(sender.poll_closed(cx).is_pending());
        }
        let state = &receiver.shared().state;
        let dropped = state.transition_to_dropped();
        assert_eq!(matches!(dropped, Some(Leave::Wake)), waits);
        // The sender has no waker to wake, so it frees the memory only if the receiver has left
        // already.
        let before = held();
        sender.drop_sender();
        assert_eq!(held() == before, waits);
        if waits {
            receiver.wake_sender();
        }
        assert!(held() < before);
    }
}
