//! Models of the oneshot channel: the value arrives once, whoever waits is woken, and the memory is
//! freed once.
#![cfg(raddle_loom)]

use std::pin::Pin;
use std::task::{Context, Poll, Wake, Waker};

use raddle_std::cell::UnsafeCell;
use raddle_std::model;
use raddle_std::sync::Arc;
use raddle_std::thread::{self, Thread};
use raddle_sync::oneshot::{self, Receiver};

/// A value whose content is written before it is sent, on the heap of the model, which
/// reports it if it is never dropped.
struct Message(Arc<UnsafeCell<u32>>);

impl Message {
    fn new() -> Self {
        let content = Arc::new(UnsafeCell::new(0));
        // SAFETY: nobody else has it yet.
        content.with_mut(|content| unsafe { *content = 7 });
        Self(content)
    }

    fn check(self) {
        // SAFETY: the message was sent to the caller; loom reports it if that gives no order.
        self.0.with_mut(|content| unsafe {
            assert_eq!(*content, 7);
            *content = 8;
        });
    }
}

/// Wakes a thread of the model. The count is loom's, so that a waker that is never dropped
/// is a leak.
struct Unpark {
    thread: Thread,
    _alive: Arc<()>,
}

// SAFETY: the handle of a thread in a model may go to another.
unsafe impl Send for Unpark {}
// SAFETY: as above.
unsafe impl Sync for Unpark {}

impl Wake for Unpark {
    fn wake(self: std::sync::Arc<Self>) {
        self.thread.unpark();
    }
}

fn waker() -> Waker {
    std::sync::Arc::new(Unpark {
        thread: thread::current(),
        _alive: Arc::new(()),
    })
    .into()
}

/// Polls until it is ready, with a new waker every time if `changes`.
fn wait<T>(changes: bool, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let mut current = waker();
    loop {
        for _ in 0..=usize::from(changes) {
            if let Poll::Ready(output) = poll(&mut Context::from_waker(&current)) {
                return output;
            }
            if changes {
                current = waker();
            }
        }
        thread::park();
    }
}

fn receive<T>(receiver: &mut Receiver<T>, changes: bool) -> Option<T> {
    wait(changes, |cx| Pin::new(&mut *receiver).poll(cx)).ok()
}

/// Complete.
#[test]
fn send_against_receive() {
    model::check(|| {
        let (sender, mut receiver) = oneshot::channel();
        let thread = thread::spawn(move || assert!(sender.send(Message::new()).is_ok()));
        receive(&mut receiver, false).unwrap().check();
        thread.join().unwrap();
    });
}

/// Complete.
#[test]
fn send_against_a_receiver_that_changes_its_waker() {
    model::check(|| {
        let (sender, mut receiver) = oneshot::channel();
        let thread = thread::spawn(move || assert!(sender.send(Message::new()).is_ok()));
        receive(&mut receiver, true).unwrap().check();
        thread.join().unwrap();
    });
}

/// Complete.
#[test]
fn a_dropped_sender_against_receive() {
    model::check(|| {
        let (sender, mut receiver) = oneshot::channel::<Message>();
        let thread = thread::spawn(move || drop(sender));
        assert!(receive(&mut receiver, true).is_none());
        thread.join().unwrap();
    });
}

/// Complete.
#[test]
fn send_against_a_receiver_that_is_polled_and_dropped() {
    for polls in 0..2 {
        model::check(move || {
            let (sender, mut receiver) = oneshot::channel();
            let thread = thread::spawn(move || {
                if let Err(refused) = sender.send(Message::new()) {
                    refused.check();
                }
            });
            for _ in 0..polls {
                let waker = waker();
                let cx = &mut Context::from_waker(&waker);
                if let Poll::Ready(message) = Pin::new(&mut receiver).poll(cx) {
                    message.unwrap().check();
                    break;
                }
            }
            drop(receiver);
            thread.join().unwrap();
        });
    }
}

/// A value is received, or refused, whatever the close meets. Complete.
#[test]
fn send_against_close() {
    model::check(|| {
        let (sender, mut receiver) = oneshot::channel();
        let thread = thread::spawn(move || sender.send(Message::new()).err());
        receiver.close();
        let received = receiver.try_recv().ok();
        let refused = thread.join().unwrap();
        assert_eq!(received.is_some(), refused.is_none());
        received.or(refused).unwrap().check();
    });
}

/// Complete.
#[test]
fn a_sender_that_waits_against_a_dropped_receiver() {
    for close in [false, true] {
        model::check(move || {
            let (mut sender, mut receiver) = oneshot::channel::<Message>();
            let thread = thread::spawn(move || {
                if close {
                    receiver.close();
                }
            });
            wait(true, |cx| sender.poll_closed(cx));
            assert!(sender.is_closed());
            drop(sender);
            thread.join().unwrap();
        });
    }
}

/// A sender that waits and sends after all, against a receiver that waits and
/// is dropped. Complete.
#[test]
fn both_ends_wait_and_go() {
    model::check(|| {
        let (mut sender, mut receiver) = oneshot::channel();
        let thread = thread::spawn(move || {
            let waker = waker();
            let _ = sender.poll_closed(&mut Context::from_waker(&waker));
            if let Err(refused) = sender.send(Message::new()) {
                refused.check();
            }
        });
        let waker = waker();
        let cx = &mut Context::from_waker(&waker);
        if let Poll::Ready(message) = Pin::new(&mut receiver).poll(cx) {
            message.unwrap().check();
        }
        drop(receiver);
        thread.join().unwrap();
    });
}

/// Two threads that both believe that the message is theirs.
#[test]
#[should_panic]
fn canary_a_message_for_two_is_caught() {
    model::check(|| {
        let message = Message::new();
        let other = Message(message.0.clone());
        let thread = thread::spawn(move || other.0.with_mut(|content| unsafe { *content = 7 }));
        message.0.with_mut(|content| unsafe { *content = 7 });
        thread.join().unwrap();
    });
}
