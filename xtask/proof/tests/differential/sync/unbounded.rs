//! `mpsc::unbounded_channel`, also across the boundaries of its blocks.

use std::future::Future as _;
use std::pin::pin;
use std::task::Context;

use raddle_proof::Choices;

use super::api::mpsc::{
    UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel,
};
use crate::compare::Step;
use crate::record::{Value, note};
use crate::tasks::{Tasks, Wakers};

const SENDERS: usize = 4;

struct State {
    senders: Vec<UnboundedSender<Value>>,
    weak: Vec<WeakUnboundedSender<Value>>,
    closed: Tasks<'static, ()>,
    receiver: Option<UnboundedReceiver<Value>>,
    receiver_wakers: Wakers,
}

pub(crate) fn run(program: &[Step]) {
    let (sender, receiver) = unbounded_channel();
    let mut state = State {
        senders: vec![sender],
        weak: Vec::new(),
        closed: Tasks::new(3),
        receiver: Some(receiver),
        receiver_wakers: Wakers::new(1),
    };
    for step in program {
        state.step(&mut Choices::new(step));
        state.look();
    }
    if program[0][3].is_multiple_of(2) {
        note!("drop receiver");
        state.receiver = None;
        state.look();
    }
    let closed = state.closed.end();
    state.senders.clear();
    closed.end();
    drop(state.receiver);
    state.receiver_wakers.end();
}

impl State {
    fn step(&mut self, choices: &mut Choices<'_>) {
        match choices.below(14) {
            0..=3 => self.poll_receiver(choices),
            4 | 5 => {
                if let Some(sender) = self.any_sender(choices) {
                    for _ in 0..=choices.below(4) {
                        note!("send {:?}", sender.send(Value::next()));
                    }
                }
            }
            6 if choices.once_in(3) => {
                // More messages than a block holds.
                if let Some(sender) = self.any_sender(choices) {
                    let sent = (0..40).filter(|_| sender.send(Value::next()).is_ok());
                    note!("sent {}", sent.count());
                }
            }
            6 | 7 => {
                if let Some(receiver) = &mut self.receiver {
                    note!("try_recv {:?}", receiver.try_recv());
                }
            }
            8 if choices.once_in(2) => {
                note!("close");
                if let Some(receiver) = &mut self.receiver {
                    receiver.close();
                }
            }
            8 if choices.once_in(2) => {
                note!("drop receiver");
                self.receiver = None;
            }
            9 => {
                if let Some(sender) = self.any_sender(choices) {
                    self.closed
                        .add("closed", async move { sender.closed().await });
                }
            }
            10 => {
                self.closed.poll(choices);
            }
            11 if choices.once_in(2) => self.closed.drop_one(choices),
            _ => self.ends_step(choices),
        }
    }

    fn poll_receiver(&mut self, choices: &mut Choices<'_>) {
        let Some(receiver) = &mut self.receiver else {
            return;
        };
        let kind = choices.below(4);
        let limit = choices.below(4) * choices.below(16);
        let mut buffer = Vec::new();
        let wakers = &mut self.receiver_wakers;
        match kind {
            0 => {
                note!("poll_recv");
                note!("{:?}", wakers.poll(0, choices, |cx| receiver.poll_recv(cx)));
            }
            1 => {
                note!("recv");
                let recv = pin!(receiver.recv());
                note!("{:?}", wakers.poll(0, choices, |cx| recv.poll(cx)));
            }
            2 => {
                note!("poll_recv_many {limit}");
                let poll = |cx: &mut Context<'_>| receiver.poll_recv_many(cx, &mut buffer, limit);
                let polled = wakers.poll(0, choices, poll);
                note!("{polled:?} {buffer:?}");
            }
            _ => {
                note!("recv_many {limit}");
                let poll = |cx: &mut Context<'_>| {
                    let recv = pin!(receiver.recv_many(&mut buffer, limit));
                    recv.poll(cx)
                };
                let polled = wakers.poll(0, choices, poll);
                note!("{polled:?} {buffer:?}");
            }
        }
    }

    fn any_sender(&self, choices: &mut Choices<'_>) -> Option<UnboundedSender<Value>> {
        let count = self.senders.len();
        (count > 0).then(|| self.senders[choices.below(count)].clone())
    }

    /// Makes and drops senders.
    fn ends_step(&mut self, choices: &mut Choices<'_>) {
        match choices.below(6) {
            0 if self.senders.len() < SENDERS => {
                note!("clone sender");
                let clone = self.any_sender(choices);
                self.senders.extend(clone);
            }
            1 | 2 => {
                note!("drop sender");
                self.senders.pop();
            }
            3 if self.weak.len() < SENDERS => {
                if let Some(sender) = self.any_sender(choices) {
                    note!("downgrade");
                    self.weak.push(sender.downgrade());
                }
            }
            4 => {
                if let Some(weak) = self.weak.last() {
                    let upgraded = weak.upgrade();
                    note!("upgrade {}", upgraded.is_some());
                    self.senders.extend(upgraded);
                }
            }
            _ => {
                note!("drop weak");
                self.weak.pop();
            }
        }
    }

    fn look(&mut self) {
        if let Some(sender) = self.senders.first() {
            note!("| closed {}", sender.is_closed());
            note!(
                "strong {} weak {}",
                sender.strong_count(),
                sender.weak_count()
            );
        }
        if let Some(weak) = self.weak.first() {
            note!(
                "| strong {} weak {}",
                weak.strong_count(),
                weak.weak_count()
            );
        }
        if let Some(receiver) = &self.receiver {
            note!("| len {} empty {}", receiver.len(), receiver.is_empty());
            note!("closed {}", receiver.is_closed());
            let (strong, weak) = (receiver.sender_strong_count(), receiver.sender_weak_count());
            note!("strong {strong} weak {weak}");
        }
        note!("tasks");
        self.closed.end_step();
        note!("receiver");
        self.receiver_wakers.end_step();
    }
}
