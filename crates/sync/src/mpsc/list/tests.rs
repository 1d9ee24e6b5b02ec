//! Tests of sends that stop half-way, as on a suspended thread.

use std::task::{Context, Poll, Waker};

use raddle_primitives::sync::Arc;

use super::*;
use crate::hooked::Hooked;
use crate::mpsc::block::SlotState;
use crate::mpsc::chan::{Chan, Unlimited};
use crate::mpsc::error::TryRecvError;
use crate::mpsc::rx::Rx;

type Channel = Arc<Chan<u32, Unlimited>>;

fn channel() -> (Channel, Rx<u32, Unlimited>) {
    let (list, head) = List::new();
    let chan = Chan::new(list, Unlimited);
    // SAFETY: the head was created with the list.
    let rx = unsafe { Rx::new(chan.clone(), head) };
    (chan, rx)
}

fn receive(rx: &mut Rx<u32, Unlimited>, waker: &Waker) -> Poll<Option<u32>> {
    rx.poll_recv(&mut Context::from_waker(waker))
}

impl List<u32> {
    /// The first part of a send to a receiver that waits at the first slot.
    fn begin(&self, message: u32) {
        let tail = Tail(self.tail.fetch_add(STEP, Ordering::Relaxed));
        assert_eq!(tail.position(), Position::of(0));
        // SAFETY: the position was reserved above.
        unsafe { self.slot(tail.position()).write(message) };
        let filled = self.slot(tail.position()).fill(Fill::Message);
        assert!(!filled, "the receiver has to be woken");
    }

    /// The second part of the send.
    fn finish(&self) {
        let slot = self.slot(Position::of(0));
        assert_eq!(slot.load_state(), SlotState::Waking);
        // SAFETY: this sender has set the slot to `WAKING`.
        let waker = unsafe { self.waker.take() };
        slot.fill_after_waking(Fill::Message);
        waker.wake();
    }
}

#[test]
fn a_receiver_polled_while_its_waker_is_taken_wakes_itself() {
    let (chan, mut rx) = channel();
    let (first, first_waker) = Hooked::counting();
    let (second, second_waker) = Hooked::counting();
    assert!(receive(&mut rx, &first_waker).is_pending());
    chan.list.begin(1);
    assert!(receive(&mut rx, &second_waker).is_pending());
    assert_eq!((first.woken(), second.woken(), second.cloned()), (0, 1, 0));
    chan.list.finish();
    assert_eq!(first.woken(), 1);
    assert_eq!(receive(&mut rx, &second_waker), Poll::Ready(Some(1)));
    assert_eq!((first.wakers(), second.wakers()), (1, 1));
}

#[test]
fn a_receiver_whose_waker_is_taken_while_it_brings_another_wakes_itself() {
    let (chan, mut rx) = channel();
    let (first, first_waker) = Hooked::counting();
    let (second, second_waker) = Hooked::new({
        let chan = chan.clone();
        move || chan.list.begin(1)
    });
    assert!(receive(&mut rx, &first_waker).is_pending());
    assert!(receive(&mut rx, &second_waker).is_pending());
    assert_eq!((first.woken(), second.woken()), (0, 1));
    chan.list.finish();
    assert_eq!(first.woken(), 1);
    assert_eq!(receive(&mut rx, &second_waker), Poll::Ready(Some(1)));
    assert_eq!((first.wakers(), second.wakers()), (1, 1));
}

#[test]
fn a_message_sent_before_the_waker_is_registered_is_received() {
    for waits in [false, true] {
        let (chan, mut rx) = channel();
        let (first, first_waker) = Hooked::counting();
        let (second, second_waker) = Hooked::new({
            let chan = chan.clone();
            move || chan.list.push(1).unwrap()
        });
        if waits {
            assert!(receive(&mut rx, &first_waker).is_pending());
        }
        assert_eq!(receive(&mut rx, &second_waker), Poll::Ready(Some(1)));
        assert_eq!((first.woken(), second.woken()), (usize::from(waits), 0));
        assert_eq!((first.wakers(), second.wakers()), (1, 1));
        drop(rx);
    }
}

#[test]
fn a_receiver_polled_again_with_its_waker_clones_nothing() {
    let (_chan, mut rx) = channel();
    let (counts, waker) = Hooked::counting();
    for _ in 0..3 {
        assert!(receive(&mut rx, &waker).is_pending());
        assert_eq!((counts.cloned(), counts.wakers()), (1, 2));
    }
    drop(rx);
    assert_eq!(counts.wakers(), 1);
}

/// The last sender has closed the list, but has not put the end into it yet.
#[test]
fn try_recv_returns_disconnected_while_the_end_is_being_written() {
    let (chan, mut rx) = channel();
    chan.list.push(1).unwrap();
    chan.list.tail.fetch_or(CLOSED | ENDED, Ordering::Relaxed);
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
}

/// A send after the close has added to the tail and not yet subtracted it again.
#[test]
fn a_refused_send_does_not_move_the_end() {
    let (chan, mut rx) = channel();
    chan.list.push(1).unwrap();
    rx.close();
    chan.list.tail.fetch_add(STEP, Ordering::Relaxed);
    assert_eq!(receive(&mut rx, Waker::noop()), Poll::Ready(Some(1)));
    assert_eq!(rx.len(), 0);
    assert_eq!(receive(&mut rx, Waker::noop()), Poll::Ready(None));
    chan.list.take_back();
    assert_eq!(chan.list.tail().position(), Position::of(0).plus(1));
}

#[test]
fn senders_search_from_the_first_block_until_all_its_slots_are_filled() {
    let (chan, _rx) = channel();
    let list = &chan.list;
    let start = || {
        let block = NonNull::new(list.tail_block.load(Ordering::Relaxed)).unwrap();
        // SAFETY: nothing was received, so no block is freed.
        unsafe { block.as_ref() }.start()
    };
    let first = Position::of(0);
    list.tail.fetch_add(STEP, Ordering::Relaxed);
    (0..SLOTS + 3).for_each(|_| list.push(1).unwrap());
    assert_eq!(start(), first);
    // SAFETY: the position was reserved above.
    unsafe { list.slot(first).write(0) };
    assert!(list.slot(first).fill(Fill::Message));
    list.push(1).unwrap();
    assert_eq!(start(), first.plus(SLOTS));
}

#[test]
fn a_block_is_retired_by_the_sender_that_moves_the_search_past_it() {
    let (list, head) = List::<u32>::new();
    let block = list.tail_block.load(Ordering::Relaxed);
    // SAFETY: nothing was received, so no block is freed.
    let block = unsafe { &*block };
    let next = list.next(block);
    (0..SLOTS).for_each(|_| list.push(1).unwrap());
    assert!(list.advance(block, next));
    list.push(1).unwrap();
    assert!(!list.advance(block, next));
    assert!(block.is_abandoned(Position::of(0).plus(SLOTS)));
    // SAFETY: the head is that of the list.
    unsafe { list.keep_head(head) };
}

#[test]
fn a_block_that_loses_the_race_is_kept_as_the_spare() {
    let (list, mut head) = List::<u32>::new();
    let spare = || list.spare.load(Ordering::Relaxed);
    // SAFETY: the head does not free the block before it moves past it.
    let block = unsafe { &*list.tail_block.load(Ordering::Relaxed) };
    let next = list.next(block);
    assert!(spare().is_null());
    assert_eq!(list.append(block), next);
    let late = spare();
    assert!(!late.is_null());
    // SAFETY: nothing was received, so no block is freed.
    assert_eq!(list.append(unsafe { next.as_ref() }).as_ptr(), late);
    assert!(spare().is_null());
    // An emptied block is kept as the spare one.
    for message in 0..=2 * SLOTS as u32 {
        list.push(message).unwrap();
        // SAFETY: the head is that of the list.
        assert_eq!(unsafe { head.pop(&list) }, Ok(message));
    }
    assert!(!spare().is_null());
    // SAFETY: the head is that of the list.
    unsafe { list.keep_head(head) };
}
