//! Tests of the receivers as streams.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use raddle_sync::broadcast::error::RecvError;
use raddle_sync::stream::{BroadcastStream, MpmcStream, WatchStream};
use raddle_sync::{broadcast, mpmc, mpsc, watch};
use raddle_testing::Wakes;

fn poll<S: Stream + Unpin>(stream: &mut S, waker: &Waker) -> Poll<Option<S::Item>> {
    Pin::new(stream).poll_next(&mut Context::from_waker(waker))
}

#[test]
fn a_stream_of_mpsc_waits_for_messages_and_ends_with_the_channel() {
    let (woken, waker) = Wakes::new();
    let (sender, mut receiver) = mpsc::channel(1);
    assert!(poll(&mut receiver, &waker).is_pending());
    sender.try_send(1).unwrap();
    assert_eq!(woken.get(), 1);
    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Some(1)));
    drop(sender);
    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(None));

    let (sender, mut receiver) = mpsc::unbounded_channel();
    assert!(poll(&mut receiver, &waker).is_pending());
    sender.send(2).unwrap();
    assert_eq!(woken.get(), 2);
    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Some(2)));
    drop(sender);
    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(None));
}

#[test]
fn a_stream_of_mpmc_shares_the_messages_with_other_receivers() {
    let (woken, waker) = Wakes::new();
    let (other_woken, other_waker) = Wakes::new();
    let (sender, receiver) = mpmc::unbounded_channel();
    let mut stream = MpmcStream::new(receiver.clone());
    let mut other = MpmcStream::from(receiver.clone());
    assert!(poll(&mut stream, &waker).is_pending());
    assert!(poll(&mut other, &other_waker).is_pending());
    sender.try_send(1).unwrap();
    assert_eq!((woken.get(), other_woken.get()), (1, 0));
    // A stream that was woken passes its message on.
    drop(stream);
    assert_eq!(other_woken.get(), 1);
    assert_eq!(poll(&mut other, &other_waker), Poll::Ready(Some(1)));
    assert!(poll(&mut other, &other_waker).is_pending());
    drop((sender, receiver));
    assert_eq!(other_woken.get(), 2);
    assert_eq!(poll(&mut other, &other_waker), Poll::Ready(None));
    drop((other, other_waker));
    other_woken.assert_released();
}

#[test]
fn a_stream_of_broadcast_has_every_value_and_says_how_many_were_lost() {
    let (woken, waker) = Wakes::new();
    let (sender, receiver) = broadcast::channel(2);
    let mut stream = BroadcastStream::new(receiver);
    assert!(poll(&mut stream, &waker).is_pending());
    for number in 0..3 {
        sender.send(number).unwrap();
    }
    assert_eq!(woken.get(), 1);
    assert_eq!(
        poll(&mut stream, &waker),
        Poll::Ready(Some(Err(RecvError::Lagged(1))))
    );
    assert_eq!(poll(&mut stream, &waker), Poll::Ready(Some(Ok(1))));
    assert_eq!(poll(&mut stream, &waker), Poll::Ready(Some(Ok(2))));
    assert!(poll(&mut stream, &waker).is_pending());
    drop(sender);
    assert_eq!(woken.get(), 2);
    assert_eq!(poll(&mut stream, &waker), Poll::Ready(None));
    drop(waker);
    woken.assert_released();
}

#[test]
fn a_stream_of_watch_has_the_current_value_and_the_latest_ones() {
    let (woken, waker) = Wakes::new();
    let (sender, receiver) = watch::channel(0);
    let mut changes = WatchStream::from_changes(receiver.clone());
    assert!(poll(&mut changes, &waker).is_pending());
    let mut stream = WatchStream::new(receiver);
    assert_eq!(poll(&mut stream, &waker), Poll::Ready(Some(0)));
    assert!(poll(&mut stream, &waker).is_pending());
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    assert_eq!(woken.get(), 2);
    assert_eq!(poll(&mut stream, &waker), Poll::Ready(Some(2)));
    assert_eq!(poll(&mut changes, &waker), Poll::Ready(Some(2)));
    sender.send(3).unwrap();
    drop(sender);
    assert_eq!(poll(&mut stream, &waker), Poll::Ready(Some(3)));
    assert_eq!(poll(&mut stream, &waker), Poll::Ready(None));
}

/// Each item takes from the budget of the poll.
#[test]
fn streams_that_are_always_ready_yield() {
    fn items<S: Stream + Unpin>(mut stream: S) -> usize {
        raddle_leaf::coop::budget(|| {
            (0..1_000)
                .take_while(|_| poll(&mut stream, Waker::noop()).is_ready())
                .count()
        })
    }
    let (sender, receiver) = mpsc::unbounded_channel();
    (0..1_000).for_each(|number| sender.send(number).unwrap());
    assert_eq!(items(receiver), 128);
    let (sender, receiver) = mpmc::unbounded_channel();
    (0..1_000).for_each(|number| sender.try_send(number).unwrap());
    assert_eq!(items(MpmcStream::new(receiver)), 128);
    let (sender, receiver) = broadcast::channel(1_000);
    for number in 0..1_000 {
        sender.send(number).unwrap();
    }
    assert_eq!(items(BroadcastStream::new(receiver)), 128);
    let (sender, receiver) = watch::channel(0);
    drop(sender);
    assert_eq!(items(WatchStream::new(receiver)), 128, "the end too");
}
