//! Tests of the oneshot channel.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use raddle_primitives::sync::Mutex;
use raddle_sync::oneshot::{self, error::TryRecvError};
use raddle_testing::Wakes;

use crate::counted::{self, Dropped, PanicsOnDrop};
use crate::hooked::Hooked;

fn poll<T>(
    receiver: &mut oneshot::Receiver<T>,
    waker: &Waker,
) -> Poll<Result<T, oneshot::error::RecvError>> {
    Pin::new(receiver).poll(&mut Context::from_waker(waker))
}

#[test]
fn a_value_sent_before_the_receive_is_received() {
    let (sender, mut receiver) = oneshot::channel();
    assert!(receiver.is_empty() && !receiver.is_terminated() && !sender.is_closed());
    sender.send("a").unwrap();
    assert!(!receiver.is_empty());
    assert_eq!(poll(&mut receiver, Waker::noop()), Poll::Ready(Ok("a")));
    assert!(receiver.is_empty() && receiver.is_terminated());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    receiver.close();
}

#[test]
fn a_receiver_that_waits_is_woken_once() {
    let (woken, waker) = Wakes::new();
    let (sender, mut receiver) = oneshot::channel();
    assert!(poll(&mut receiver, &waker).is_pending());
    assert!(poll(&mut receiver, &waker).is_pending());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    sender.send(1).unwrap();
    assert_eq!(woken.get(), 1);
    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Ok(1)));
    drop(receiver);
    drop(waker);
    woken.assert_released();
}

#[test]
fn only_the_last_waker_is_woken_and_all_are_dropped() {
    let (first, first_waker) = Wakes::new();
    let (last, last_waker) = Wakes::new();
    let (sender, mut receiver) = oneshot::channel();
    assert!(poll(&mut receiver, &first_waker).is_pending());
    assert!(poll(&mut receiver, &last_waker).is_pending());
    drop(first_waker);
    first.assert_released();
    sender.send(1).unwrap();
    assert_eq!((first.get(), last.get()), (0, 1));
    drop((receiver, last_waker));
    last.assert_released();
}

#[test]
fn a_poll_with_the_same_waker_clones_nothing() {
    let (mut sender, mut receiver) = oneshot::channel::<u32>();
    let (counts, waker) = Hooked::counting();
    for _ in 0..3 {
        assert!(poll(&mut receiver, &waker).is_pending());
        assert_eq!((counts.cloned(), counts.wakers()), (1, 2));
    }
    for _ in 0..3 {
        let closed = sender.poll_closed(&mut Context::from_waker(&waker));
        assert!(closed.is_pending());
        assert_eq!((counts.cloned(), counts.wakers()), (2, 3));
    }
    drop((sender, receiver));
    assert_eq!(counts.wakers(), 1);
}

/// Covers the first poll, and a poll with another waker.
#[test]
fn a_poll_sees_that_the_other_end_is_dropped_meanwhile() {
    for waits in [false, true] {
        for sends in [false, true] {
            let (sender, mut receiver) = oneshot::channel();
            let sender = Mutex::new(Some(sender));
            let (counts, waker) = Hooked::new(move || {
                let sender = sender.lock().take();
                if let (Some(sender), true) = (sender, sends) {
                    sender.send(1).unwrap();
                }
            });
            let (former, former_waker) = Wakes::new();
            if waits {
                assert!(poll(&mut receiver, &former_waker).is_pending());
            }
            let received = poll(&mut receiver, &waker);
            assert!(matches!(received, Poll::Ready(Ok(1))) == sends && received.is_ready());
            assert_eq!((counts.woken(), counts.wakers()), (0, 1));
            drop((receiver, former_waker));
            former.assert_released();
        }
        let (mut sender, receiver) = oneshot::channel::<u32>();
        let receiver = Mutex::new(Some(receiver));
        let (counts, waker) = Hooked::new(move || drop(receiver.lock().take()));
        let (former, former_waker) = Wakes::new();
        if waits {
            let closed = sender.poll_closed(&mut Context::from_waker(&former_waker));
            assert!(closed.is_pending());
        }
        let closed = sender.poll_closed(&mut Context::from_waker(&waker));
        assert!(closed.is_ready());
        assert_eq!((counts.woken(), counts.wakers()), (0, 1));
        drop((sender, former_waker));
        former.assert_released();
    }
}

/// The waker is dropped even while the sender exists and does not send.
#[test]
fn a_receiver_that_waits_and_is_dropped_keeps_no_waker() {
    let (woken, waker) = Wakes::new();
    let (mut sender, mut receiver) = oneshot::channel::<u32>();
    assert!(poll(&mut receiver, &waker).is_pending());
    drop((receiver, waker));
    woken.assert_released();
    assert_eq!(woken.get(), 0);
    assert!(sender.is_closed());
    assert!(
        sender
            .poll_closed(&mut Context::from_waker(std::task::Waker::noop()))
            .is_ready()
    );
}

#[test]
fn a_dropped_sender_ends_the_wait() {
    let (woken, waker) = Wakes::new();
    let (sender, mut receiver) = oneshot::channel::<u32>();
    assert!(poll(&mut receiver, &waker).is_pending());
    drop(sender);
    assert_eq!(woken.get(), 1);
    let error = match poll(&mut receiver, &waker) {
        Poll::Ready(Err(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(error.to_string(), "channel closed");
}

#[test]
#[should_panic(expected = "polled after it had returned its value")]
fn a_receiver_is_ready_once() {
    let (sender, mut receiver) = oneshot::channel();
    sender.send(1).unwrap();
    assert!(poll(&mut receiver, Waker::noop()).is_ready());
    let _ = poll(&mut receiver, Waker::noop());
}

#[test]
fn a_closed_channel_refuses_a_value_and_keeps_an_earlier_one() {
    let (sender, mut receiver) = oneshot::channel();
    receiver.close();
    assert!(sender.is_closed());
    assert_eq!(sender.send(1), Err(1));
    assert!(matches!(
        poll(&mut receiver, Waker::noop()),
        Poll::Ready(Err(_))
    ));

    let (sender, mut receiver) = oneshot::channel();
    sender.send(2).unwrap();
    receiver.close();
    assert_eq!(receiver.try_recv(), Ok(2));

    let (_sender, mut receiver) = oneshot::channel::<u32>();
    receiver.close();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
}

/// A receiver that closes the channel while it waits is ready at its next poll.
#[test]
fn closing_ends_the_receivers_own_wait() {
    let (woken, waker) = Wakes::new();
    let (sender, mut receiver) = oneshot::channel::<u32>();
    assert!(poll(&mut receiver, &waker).is_pending());
    receiver.close();
    assert!(matches!(poll(&mut receiver, &waker), Poll::Ready(Err(_))));
    drop((sender, receiver, waker));
    woken.assert_released();
}

#[test]
fn closed_is_ready_once_the_receiver_has_closed() {
    let (mut sender, mut receiver) = oneshot::channel::<u32>();
    let (counts, waker) = Hooked::counting();
    let cx = &mut Context::from_waker(&waker);
    {
        let mut closed = std::pin::pin!(sender.closed());
        assert!(closed.as_mut().poll(cx).is_pending());
        receiver.close();
        assert_eq!((counts.woken(), counts.cloned()), (1, 1));
        assert!(closed.as_mut().poll(cx).is_ready());
    }
    // The poll uses budget, and clones no waker.
    let polls = raddle_leaf::coop::budget(|| {
        (0..1_000)
            .take_while(|_| sender.poll_closed(cx).is_ready())
            .count()
    });
    assert_eq!((polls, counts.cloned()), (128, 1));
}

#[test]
fn closed_completes_when_the_receiver_is_dropped() {
    for close in [true, false] {
        let (woken, waker) = Wakes::new();
        let (mut sender, receiver) = oneshot::channel::<u32>();
        let mut receiver = Some(receiver);
        let cx = &mut Context::from_waker(&waker);
        assert!(sender.poll_closed(cx).is_pending());
        if close {
            receiver.as_mut().unwrap().close();
        } else {
            receiver = None;
        }
        assert_eq!(woken.get(), 1);
        assert!(sender.poll_closed(cx).is_ready());
        drop((sender, receiver, waker));
        woken.assert_released();
    }
}

#[test]
fn values_are_dropped_once() {
    let dropped = Dropped::new();
    // The value is never received.
    let (sender, receiver) = oneshot::channel();
    assert!(sender.send(dropped.value()).is_ok());
    drop(receiver);
    assert_eq!(dropped.count(), 1);
    // The value is refused.
    let (sender, receiver) = oneshot::channel();
    drop(receiver);
    drop(sender.send(dropped.value()));
    assert_eq!(dropped.count(), 2);
    // The value is received.
    let (sender, mut receiver) = oneshot::channel();
    assert!(sender.send(dropped.value()).is_ok());
    drop(receiver.try_recv());
    drop(receiver);
    assert_eq!(dropped.count(), 3);
}

#[test]
fn a_value_that_panics_when_dropped_leaves_nothing_behind() {
    let (woken, waker) = Wakes::new();
    let (mut sender, receiver) = oneshot::channel();
    let cx = &mut Context::from_waker(&waker);
    assert!(sender.poll_closed(cx).is_pending());
    assert!(sender.send(PanicsOnDrop).is_ok());
    catch_unwind(AssertUnwindSafe(|| drop(receiver))).unwrap_err();
    drop(waker);
    woken.assert_released();
}

/// A waker that uses the channel that wakes it.
#[test]
fn a_waker_may_drop_the_other_end() {
    struct DropsReceiver(raddle_primitives::sync::Mutex<Option<oneshot::Receiver<u32>>>);
    impl Wake for DropsReceiver {
        fn wake(self: Arc<Self>) {
            self.0.lock().take();
        }
    }
    let (sender, mut receiver) = oneshot::channel();
    let waker = Arc::new(DropsReceiver(raddle_primitives::sync::Mutex::new(None)));
    assert!(poll(&mut receiver, &waker.clone().into()).is_pending());
    *waker.0.lock() = Some(receiver);
    sender.send(1).unwrap();
    assert!(waker.0.lock().is_none());
}

#[test]
fn a_waker_that_panics_leaves_the_value_to_be_received() {
    let (sender, mut receiver) = oneshot::channel();
    assert!(poll(&mut receiver, &counted::panicking_waker()).is_pending());
    catch_unwind(AssertUnwindSafe(|| sender.send(1))).unwrap_err();
    assert_eq!(receiver.try_recv(), Ok(1));
}

/// The receiver is dropped at each of its polls. The value is lost only if the receiver was awaited
/// by value.
#[test]
fn a_receiver_polled_by_reference_loses_nothing() {
    for polls in 0..3 {
        let (sender, mut receiver) = oneshot::channel();
        {
            let mut wait = &mut receiver;
            for _ in 0..polls {
                let cx = &mut Context::from_waker(Waker::noop());
                assert!(Pin::new(&mut wait).poll(cx).is_pending());
            }
        }
        sender.send(polls).unwrap();
        assert_eq!(receiver.try_recv(), Ok(polls));
    }
}

#[test]
fn a_loop_over_ready_channels_yields() {
    let mut received = 0;
    raddle_leaf::coop::budget(|| {
        for _ in 0..1_000 {
            let (sender, mut receiver) = oneshot::channel();
            sender.send(()).unwrap();
            if poll(&mut receiver, Waker::noop()).is_pending() {
                assert_eq!(receiver.try_recv(), Ok(()), "the yield loses no value");
                break;
            }
            received += 1;
        }
    });
    assert_eq!(received, 128);
}

#[test]
#[should_panic(expected = "must not block")]
fn blocking_inside_a_poll_panics() {
    let (_sender, receiver) = oneshot::channel::<u32>();
    let _ = raddle_leaf::coop::budget(|| receiver.blocking_recv());
}

#[test]
fn blocking_recv_waits_for_the_value() {
    let (sender, receiver) = oneshot::channel();
    let thread = std::thread::spawn(|| receiver.blocking_recv());
    std::thread::yield_now();
    sender.send(7).unwrap();
    assert_eq!(thread.join().unwrap(), Ok(7));
}

/// A channel of values that are not `Send` works on one thread.
#[test]
fn values_need_not_be_send() {
    let (sender, mut receiver) = oneshot::channel();
    sender.send(Rc::new(RefCell::new(1))).unwrap();
    assert_eq!(*receiver.try_recv().unwrap().borrow(), 1);
}

#[test]
fn senders_and_receivers_are_send_sync_and_unpin() {
    fn check<T: Send + Sync + Unpin + std::fmt::Debug>() {}
    check::<oneshot::Sender<u8>>();
    check::<oneshot::Receiver<std::cell::Cell<u8>>>();
}

#[test]
fn a_sender_that_has_sent_is_not_woken_by_a_close() {
    let (woken, waker) = Wakes::new();
    let (mut sender, mut receiver) = oneshot::channel();
    assert!(
        sender
            .poll_closed(&mut Context::from_waker(&waker))
            .is_pending()
    );
    sender.send(1).unwrap();
    receiver.close();
    assert_eq!(woken.get(), 0);
    drop((receiver, waker));
    woken.assert_released();
}

#[test]
fn a_receiver_that_has_closed_is_not_woken_by_the_sender_s_drop() {
    let (woken, waker) = Wakes::new();
    let (sender, mut receiver) = oneshot::channel::<i32>();
    assert!(poll(&mut receiver, &waker).is_pending());
    receiver.close();
    drop(sender);
    assert_eq!(woken.get(), 0);
    drop((receiver, waker));
    woken.assert_released();
}

#[test]
fn a_sender_that_waited_and_is_gone_keeps_no_waker() {
    for sends in [false, true] {
        let (woken, waker) = Wakes::new();
        let (mut sender, mut receiver) = oneshot::channel();
        let cx = &mut Context::from_waker(&waker);
        assert!(sender.poll_closed(cx).is_pending());
        if sends {
            sender.send(1).unwrap();
        } else {
            drop(sender);
        }
        drop(waker);
        woken.assert_released();
        assert_eq!(receiver.try_recv().ok(), sends.then_some(1));
        assert_eq!(woken.get(), 0);
    }
}

#[test]
fn a_receiver_that_waited_and_has_closed_keeps_no_waker() {
    let (woken, waker) = Wakes::new();
    let (sender, mut receiver) = oneshot::channel::<i32>();
    assert!(poll(&mut receiver, &waker).is_pending());
    receiver.close();
    drop(waker);
    woken.assert_released();
    assert!(receiver.try_recv().is_err());
    drop(sender);
}
