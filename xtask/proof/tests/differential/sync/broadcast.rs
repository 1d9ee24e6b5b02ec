//! `broadcast`: receivers that lag, resubscribe, wait and are dropped; senders of both kinds; and
//! `closed`.

use raddle_proof::Choices;

use super::api::broadcast::error::RecvError;
use super::api::broadcast::{Receiver, Sender, WeakSender, channel};
use crate::compare::Step;
use crate::record::{Value, note};
use crate::tasks::{Gate, Tasks, Wakers};

const ENDS: usize = 4;

type Received = Option<Result<Value, RecvError>>;

struct State {
    senders: Vec<Sender<Value>>,
    weak: Vec<WeakSender<Value>>,
    receivers: Vec<Receiver<Value>>,
    /// Each future owns the receiver with which it waits.
    waiting: Tasks<'static, (Receiver<Value>, Received)>,
    /// Ends the wait of a receiver's future.
    gate: Gate,
    closed: Tasks<'static, ()>,
}

pub(crate) fn run(program: &[Step]) {
    let choices = &mut Choices::new(&program[0]);
    let capacity = choices.below(5) + 1;
    note!("channel({capacity})");
    let mut state = State {
        senders: Vec::new(),
        weak: Vec::new(),
        receivers: Vec::new(),
        waiting: Tasks::new(4),
        gate: Gate::default(),
        closed: Tasks::new(3),
    };
    if choices.once_in(5) {
        note!("without a receiver");
        state.senders.push(Sender::new(capacity));
    } else {
        let (sender, receiver) = channel(capacity);
        state.senders.push(sender);
        state.receivers.push(receiver);
    }
    for step in &program[1..] {
        state.step(&mut Choices::new(step));
        state.look();
    }
    state.end();
}

impl State {
    fn step(&mut self, choices: &mut Choices<'_>) {
        match choices.below(24) {
            0..=4 => {
                if let Some(sender) = self.senders.first() {
                    note!("send");
                    let sent = sender.send(Value::next());
                    note!("{:?}", sent.map_err(|error| error.0));
                }
            }
            5..=8 => {
                if let Some((receiver, received)) = self.waiting.poll(choices) {
                    note!("{received:?}");
                    self.receivers.push(receiver);
                }
            }
            9..=11 => {
                if let Some(mut receiver) = self.any_receiver(choices) {
                    let gate = self.gate.clone();
                    self.waiting.add("recv", async move {
                        let received = gate.unless_opened(receiver.recv()).await;
                        (receiver, received)
                    });
                }
            }
            12 => {
                note!("wait no longer");
                self.gate.open(0);
                if let Some((receiver, received)) = self.waiting.poll(choices) {
                    note!("{received:?}");
                    self.receivers.push(receiver);
                }
                self.gate.close();
            }
            13 => self.waiting.drop_one(choices),
            14 | 15 => {
                if let Some(mut receiver) = self.any_receiver(choices) {
                    note!("try_recv {:?}", receiver.try_recv());
                    self.receivers.push(receiver);
                }
            }
            16 => {
                note!("drop receiver");
                drop(self.any_receiver(choices));
            }
            17 if self.receivers.len() < ENDS => {
                if let Some(receiver) = self.any_receiver(choices) {
                    note!("resubscribe");
                    self.receivers.push(receiver.resubscribe());
                    self.receivers.push(receiver);
                }
            }
            18 if self.receivers.len() < ENDS => {
                if let Some(sender) = self.senders.last() {
                    note!("subscribe");
                    self.receivers.push(sender.subscribe());
                }
            }
            19 => {
                if let Some(sender) = self.senders.last().cloned() {
                    self.closed
                        .add("closed", async move { sender.closed().await });
                }
            }
            20 | 21 => {
                self.closed.poll(choices);
            }
            22 if choices.once_in(2) => self.closed.drop_one(choices),
            _ => self.ends_step(choices),
        }
    }

    fn any_receiver(&mut self, choices: &mut Choices<'_>) -> Option<Receiver<Value>> {
        let count = self.receivers.len();
        (count > 0).then(|| self.receivers.remove(choices.below(count)))
    }

    /// Makes and drops senders.
    fn ends_step(&mut self, choices: &mut Choices<'_>) {
        match choices.below(6) {
            0 if self.senders.len() < ENDS => {
                note!("clone sender");
                let clone = self.senders.first().cloned();
                self.senders.extend(clone);
            }
            1 | 2 => {
                note!("drop sender");
                self.senders.pop();
            }
            3 if self.weak.len() < ENDS => {
                if let Some(sender) = self.senders.first() {
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
            let count = sender.receiver_count();
            note!("| len {} empty {}", sender.len(), sender.is_empty());
            note!("receivers {count} strong {}", sender.strong_count());
            note!("weak {}", sender.weak_count());
        }
        if let Some(weak) = self.weak.first() {
            note!(
                "| strong {} weak {}",
                weak.strong_count(),
                weak.weak_count()
            );
        }
        for receiver in &self.receivers {
            note!("| len {} empty {}", receiver.len(), receiver.is_empty());
            let (strong, weak) = (receiver.sender_strong_count(), receiver.sender_weak_count());
            note!(
                "strong {strong} weak {weak} closed {}",
                receiver.is_closed()
            );
        }
        note!("receivers");
        self.waiting.end_step();
        note!("closed");
        self.closed.end_step();
    }

    fn end(self) {
        let wakers: [Wakers; 2] = [self.waiting.end(), self.closed.end()];
        drop(self.receivers);
        drop((self.senders, self.weak));
        for wakers in wakers {
            wakers.end();
        }
    }
}
