//! `oneshot`: both ends are polled with changing wakers, dropped, closed and used to send.

use std::future::Future as _;
use std::pin::Pin;

use raddle_proof::Choices;

use super::api::oneshot::{Receiver, Sender, channel};
use crate::compare::Step;
use crate::record::{Value, note};
use crate::tasks::Wakers;

struct Pair {
    sender: Option<Sender<Value>>,
    receiver: Option<Receiver<Value>>,
    wakers: Wakers,
}

pub(crate) fn run(program: &[Step]) {
    let (sender, receiver) = channel();
    let mut pair = Pair {
        sender: Some(sender),
        receiver: Some(receiver),
        wakers: Wakers::new(2),
    };
    for step in program {
        pair.step(&mut Choices::new(step));
        pair.look();
        pair.wakers.end_step();
    }
    drop((pair.sender, pair.receiver));
    pair.wakers.end();
}

impl Pair {
    fn step(&mut self, choices: &mut Choices<'_>) {
        match choices.below(12) {
            0..=2 => self.receive(choices),
            3 | 4 => self.poll_closed(choices),
            5 => self.poll_closed_future(choices),
            6 => {
                if let Some(sender) = self.sender.take() {
                    note!("send");
                    self.wakers.forget(1);
                    note!("{:?}", sender.send(Value::next()));
                }
            }
            7 => {
                note!("drop sender");
                self.wakers.forget(1);
                self.sender = None;
            }
            8 if choices.once_in(2) => {
                note!("drop receiver");
                self.wakers.forget(0);
                self.receiver = None;
            }
            8 | 9 => {
                if let Some(receiver) = &mut self.receiver {
                    note!("close");
                    receiver.close();
                    // The receiver's own close ends its wait.
                    self.wakers.forget(0);
                }
            }
            _ => {
                if let Some(receiver) = &mut self.receiver {
                    note!("try_recv");
                    note!("{:?}", receiver.try_recv());
                }
            }
        }
    }

    fn receive(&mut self, choices: &mut Choices<'_>) {
        let Some(receiver) = &mut self.receiver else {
            return;
        };
        if receiver.is_terminated() {
            return;
        }
        note!("poll receiver");
        let polled = self
            .wakers
            .poll(0, choices, |cx| Pin::new(receiver).poll(cx));
        note!("{polled:?}");
    }

    fn poll_closed(&mut self, choices: &mut Choices<'_>) {
        let Some(sender) = &mut self.sender else {
            return;
        };
        note!("poll_closed");
        let polled = self.wakers.poll(1, choices, |cx| sender.poll_closed(cx));
        note!("{polled:?}");
    }

    /// Polls `closed` once, and drops the future.
    fn poll_closed_future(&mut self, choices: &mut Choices<'_>) {
        let Some(sender) = &mut self.sender else {
            return;
        };
        note!("poll and drop closed");
        let closed = std::pin::pin!(sender.closed());
        let polled = self.wakers.poll(1, choices, |cx| closed.poll(cx));
        note!("{polled:?}");
    }

    fn look(&mut self) {
        if let Some(sender) = &self.sender {
            note!("| closed {}", sender.is_closed());
        }
        if let Some(receiver) = &self.receiver {
            let (empty, terminated) = (receiver.is_empty(), receiver.is_terminated());
            note!("| empty {empty} terminated {terminated}");
        }
    }
}
