//! Tests of channels whose positions wrap, as they do on 32-bit targets after 2^30 messages.

use std::task::{Context, Poll, Waker};
use std::thread;

use super::block::SLOTS;
use super::chan::{Chan, Tx, Unlimited};
use super::error::TryRecvError;
use super::list::List;
use super::position::Position;
use super::rx::Rx;

/// Makes a channel whose position wraps after `left` blocks.
fn channel(left: usize) -> (Tx<usize, Unlimited>, Rx<usize, Unlimited>) {
    let first = Position::of(0usize.wrapping_sub(Position::of(0).plus(left * SLOTS).word()));
    let (list, head) = List::starting_at(first);
    let chan = Chan::new(list, Unlimited);
    let tx = Tx::counted(chan.clone());
    // SAFETY: the head was created with the list.
    (tx, unsafe { Rx::new(chan, head) })
}

#[test]
fn messages_arrive_over_the_wrap_of_the_positions() {
    for left in [1, 2, 3] {
        for backlog in [1, 31, 32, 33, 100] {
            let (tx, mut rx) = channel(left);
            let mut next = 0;
            for message in 0..10 * SLOTS {
                tx.chan().list.push(message).unwrap();
                let waiting = message + 1 - next;
                assert_eq!(rx.len(), waiting);
                if waiting == backlog {
                    assert_eq!(rx.try_recv(), Ok(next));
                    next += 1;
                }
            }
            while let Ok(message) = rx.try_recv() {
                assert_eq!(message, next);
                next += 1;
            }
            assert_eq!((next, rx.len()), (10 * SLOTS, 0));
        }
    }
}

#[test]
fn a_channel_ends_at_the_wrap_of_the_positions() {
    for closes in [true, false] {
        for sent in [SLOTS - 1, SLOTS, SLOTS + 1] {
            let (tx, mut rx) = channel(1);
            for message in 0..sent {
                tx.chan().list.push(message).unwrap();
            }
            if closes {
                rx.close();
                tx.chan().list.push(0).unwrap_err();
            }
            drop(tx);
            assert_eq!(rx.len(), sent);
            let mut cx = Context::from_waker(Waker::noop());
            for message in 0..sent {
                assert_eq!(rx.poll_recv(&mut cx), Poll::Ready(Some(message)));
            }
            assert_eq!(rx.poll_recv(&mut cx), Poll::Ready(None));
            assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
        }
    }
}

#[test]
fn threads_send_over_the_wrap_of_the_positions() {
    let count = if cfg!(miri) { 3 * SLOTS } else { 1_000 };
    for _ in 0..if cfg!(miri) { 1 } else { 20 } {
        let (tx, mut rx) = channel(count / SLOTS);
        let senders: Vec<_> = (0..2)
            .map(|_| {
                let tx = tx.clone();
                thread::spawn(move || {
                    for message in 0..count {
                        tx.chan().list.push(message).unwrap();
                    }
                })
            })
            .collect();
        drop(tx);
        let (mut received, mut sum) = (0, 0);
        loop {
            match rx.try_recv() {
                Ok(message) => {
                    received += 1;
                    sum += message;
                }
                Err(TryRecvError::Empty) => thread::yield_now(),
                Err(TryRecvError::Disconnected) => break,
            }
        }
        assert_eq!((received, sum), (2 * count, count * (count - 1)));
        for sender in senders {
            sender.join().unwrap();
        }
    }
}
