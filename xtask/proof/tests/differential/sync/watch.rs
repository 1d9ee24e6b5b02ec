//! `watch`: values that are sent, modified and replaced; receivers that read them or wait for one;
//! and `closed`.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_proof::Choices;

use super::api::watch::{Receiver, Ref, Sender, channel};
use crate::compare::Step;
use crate::record::{Value, note};
use crate::tasks::{Gate, Tasks, Wakers, planned_panic, was_planned};

const ENDS: usize = 4;

struct State {
    senders: Vec<Sender<Value>>,
    receivers: Vec<Receiver<Value>>,
    /// Each future owns the receiver with which it waits.
    waiting: Tasks<'static, Receiver<Value>>,
    /// Ends the wait of a receiver's future.
    gate: Gate,
    closed: Tasks<'static, ()>,
}

pub(crate) fn run(program: &[Step]) {
    let mut state = State {
        senders: Vec::new(),
        receivers: Vec::new(),
        waiting: Tasks::new(4),
        gate: Gate::default(),
        closed: Tasks::new(3),
    };
    if Choices::new(&program[0]).once_in(5) {
        note!("without a receiver");
        state.senders.push(Sender::new(Value::next()));
    } else {
        let (sender, receiver) = channel(Value::next());
        state.senders.push(sender);
        state.receivers.push(receiver);
    }
    for step in &program[1..] {
        state.step(&mut Choices::new(step));
        state.look();
    }
    state.end();
}

fn seen(value: &Ref<'_, Value>) {
    note!("{:?} changed {}", **value, value.has_changed());
}

impl State {
    fn step(&mut self, choices: &mut Choices<'_>) {
        match choices.below(24) {
            0..=5 => self.sender_step(choices),
            6..=9 => {
                if let Some(receiver) = self.waiting.poll(choices) {
                    self.receivers.push(receiver);
                }
            }
            10 | 11 => {
                if let Some(mut receiver) = self.any_receiver(choices) {
                    let gate = self.gate.clone();
                    self.waiting.add("changed", async move {
                        let changed = gate.unless_opened(receiver.changed()).await;
                        note!("{changed:?}");
                        receiver
                    });
                }
            }
            12 | 13 => {
                if let Some(mut receiver) = self.any_receiver(choices) {
                    let gate = self.gate.clone();
                    self.waiting.add("wait_for", async move {
                        let looks = Cell::new(0);
                        let awaited = receiver.wait_for(|value| {
                            note!("is it {value:?}?");
                            looks.set(looks.get() + 1);
                            if value.is_seventh() {
                                planned_panic();
                            }
                            value.is_third()
                        });
                        match gate.unless_opened(awaited).await {
                            Some(Ok(value)) if looks.get() == 1 => seen(&value),
                            // After a wait, Tokio reports a new value as unchanged.
                            Some(Ok(value)) => note!("{:?}", *value),
                            Some(Err(error)) => note!("{error:?}"),
                            None => note!("cancelled"),
                        }
                        receiver
                    });
                }
            }
            14 => {
                note!("wait no longer");
                self.gate.open(0);
                if let Some(receiver) = self.waiting.poll(choices) {
                    self.receivers.push(receiver);
                }
                self.gate.close();
            }
            15 => self.waiting.drop_one(choices),
            16..=18 => self.receiver_step(choices),
            19 => {
                if let Some(sender) = self.senders.last().cloned() {
                    self.closed
                        .add("closed", async move { sender.closed().await });
                }
            }
            20 | 21 => {
                self.closed.poll(choices);
            }
            22 => self.closed.drop_one(choices),
            _ => match choices.below(4) {
                0 if self.senders.len() < ENDS => {
                    note!("clone sender");
                    let clone = self.senders.first().cloned();
                    self.senders.extend(clone);
                }
                1 | 2 => {
                    note!("drop sender");
                    self.senders.pop();
                }
                _ => {
                    if let Some(sender) = self.senders.last()
                        && self.receivers.len() < ENDS
                    {
                        note!("subscribe");
                        self.receivers.push(sender.subscribe());
                    }
                }
            },
        }
    }

    fn sender_step(&mut self, choices: &mut Choices<'_>) {
        let Some(sender) = self.senders.last() else {
            return;
        };
        match choices.below(6) {
            0 | 1 => {
                note!("send");
                let sent = sender.send(Value::next());
                note!("{:?}", sent.map_err(|error| error.0));
            }
            2 => {
                note!("send_modify");
                let panics = choices.once_in(4);
                let modify = || {
                    sender.send_modify(|value| {
                        *value = Value::next();
                        if panics {
                            planned_panic();
                        }
                    });
                };
                if let Err(payload) = catch_unwind(AssertUnwindSafe(modify)) {
                    was_planned(payload);
                }
            }
            3 => {
                let kind = choices.below(5);
                note!("send_if_modified {kind}");
                let modify = || {
                    sender.send_if_modified(|value| {
                        *value = Value::next();
                        if kind == 4 {
                            planned_panic();
                        }
                        kind < 2
                    })
                };
                match catch_unwind(AssertUnwindSafe(modify)) {
                    Ok(sent) => note!("{sent}"),
                    Err(payload) => was_planned(payload),
                }
            }
            4 => note!("send_replace {:?}", sender.send_replace(Value::next())),
            _ => {
                note!("borrow");
                seen(&sender.borrow());
            }
        }
    }

    fn any_receiver(&mut self, choices: &mut Choices<'_>) -> Option<Receiver<Value>> {
        let count = self.receivers.len();
        (count > 0).then(|| self.receivers.remove(choices.below(count)))
    }

    fn receiver_step(&mut self, choices: &mut Choices<'_>) {
        let Some(mut receiver) = self.any_receiver(choices) else {
            return;
        };
        match choices.below(7) {
            0 => {
                note!("borrow");
                seen(&receiver.borrow());
            }
            1 => {
                note!("borrow_and_update");
                seen(&receiver.borrow_and_update());
            }
            2 => {
                note!("mark_changed");
                receiver.mark_changed();
            }
            3 => {
                note!("mark_unchanged");
                receiver.mark_unchanged();
            }
            4 if self.receivers.len() < ENDS => {
                note!("clone receiver");
                self.receivers.push(receiver.clone());
            }
            5 => {
                note!("drop receiver");
                return;
            }
            _ => {}
        }
        self.receivers.push(receiver);
    }

    fn look(&mut self) {
        if let Some(sender) = self.senders.first() {
            note!(
                "| senders {} closed {}",
                sender.sender_count(),
                sender.is_closed()
            );
            note!("receivers {}", sender.receiver_count());
        }
        for receiver in &self.receivers {
            note!(
                "| changed {:?} closed {}",
                receiver.has_changed(),
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
        drop(self.senders);
        for wakers in wakers {
            wakers.end();
        }
    }
}
