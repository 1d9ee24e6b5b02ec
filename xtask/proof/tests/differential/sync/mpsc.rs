//! `mpsc::channel`: strong and weak senders that are made and dropped, permits of all kinds, and a
//! receiver that takes one message or many.

use std::future::Future as _;
use std::pin::pin;
use std::task::{Context, Poll};

use raddle_proof::Choices;

use super::api::mpsc::error::TrySendError;
use super::api::mpsc::{OwnedPermit, Receiver, Sender, WeakSender, channel};
use crate::compare::Step;
use crate::record::{Value, note};
use crate::tasks::{Gate, Tasks, Wakers};

const SENDERS: usize = 4;

struct State {
    senders: Vec<Sender<Value>>,
    weak: Vec<WeakSender<Value>>,
    permits: Vec<OwnedPermit<Value>>,
    tasks: Tasks<'static, Option<OwnedPermit<Value>>>,
    /// Tells the futures that hold a permit what to do with it.
    gate: Gate,
    receiver: Option<Receiver<Value>>,
    receiver_wakers: Wakers,
    /// Whether the receiver may close the channel. If it may, each future waits for one permit
    /// only: the permits that a refused future already has are returned at once in Raddle, and when
    /// the future is dropped in Tokio.
    closes: bool,
}

pub(crate) fn run(program: &[Step]) {
    let choices = &mut Choices::new(&program[0]);
    let capacity = choices.below(4) + 1;
    let closes = choices.once_in(2);
    note!("channel({capacity})");
    let (sender, receiver) = channel(capacity);
    let mut state = State {
        senders: vec![sender],
        weak: Vec::new(),
        permits: Vec::new(),
        tasks: Tasks::new(5),
        gate: Gate::default(),
        receiver: Some(receiver),
        receiver_wakers: Wakers::new(1),
        closes,
    };
    for step in &program[1..] {
        state.step(&mut Choices::new(step));
        state.look();
    }
    state.end(closes && choices.once_in(2));
}

/// Returns which of the two errors it is; their `Debug` output differs.
fn name<T>(error: &TrySendError<T>) -> &'static str {
    match error {
        TrySendError::Full(_) => "full",
        TrySendError::Closed(_) => "closed",
    }
}

impl State {
    fn step(&mut self, choices: &mut Choices<'_>) {
        match choices.below(8) {
            0 | 1 => self.poll_receiver(choices),
            2 => self.receiver_step(choices),
            3 => self.poll_task(choices),
            4 => self.add_task(choices),
            5 => self.sender_step(choices),
            6 => self.ends_step(choices),
            _ => self.permit_step(choices),
        }
    }

    fn poll_receiver(&mut self, choices: &mut Choices<'_>) {
        let Some(receiver) = &mut self.receiver else {
            return;
        };
        let kind = choices.below(4);
        let limit = choices.below(4) * choices.below(8);
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

    fn receiver_step(&mut self, choices: &mut Choices<'_>) {
        let Some(receiver) = &mut self.receiver else {
            return;
        };
        match choices.below(8) {
            0..=4 => note!("try_recv {:?}", receiver.try_recv()),
            _ if !self.closes => {}
            5 | 6 => {
                note!("close");
                receiver.close();
            }
            _ => {
                note!("drop receiver");
                self.receiver = None;
            }
        }
    }

    fn poll_task(&mut self, choices: &mut Choices<'_>) {
        if choices.once_in(4) {
            self.tasks.drop_one(choices);
            return;
        }
        let command = choices.below(4);
        self.gate.open(command);
        if let Some(permit) = self.tasks.poll(choices) {
            self.permits.extend(permit);
        }
    }

    fn add_task(&mut self, choices: &mut Choices<'_>) {
        let kind = choices.below(5);
        let n = choices.below(if self.closes { 2 } else { 4 });
        let Some(sender) = self.any_sender(choices) else {
            return;
        };
        let gate = self.gate.clone();
        match kind {
            0 => self.tasks.add("send", async move {
                let sent = sender.send(Value::next()).await;
                note!("{sent:?}");
                None
            }),
            1 => self.tasks.add("reserve", async move {
                match sender.reserve().await {
                    Ok(permit) => {
                        note!("reserved");
                        if gate.opened().await > 0 {
                            permit.send(Value::next());
                        }
                    }
                    Err(error) => note!("{error:?}"),
                }
                None
            }),
            2 => self.tasks.add(&format!("reserve_many {n}"), async move {
                match sender.reserve_many(n).await {
                    Ok(mut permits) => {
                        note!("reserved {:?}", permits.size_hint());
                        for _ in 0..gate.opened().await {
                            match permits.next() {
                                Some(permit) => permit.send(Value::next()),
                                None => note!("no more"),
                            }
                        }
                    }
                    Err(error) => note!("{error:?}"),
                }
                None
            }),
            3 => self.tasks.add("reserve_owned", async move {
                let reserved = sender.reserve_owned().await;
                note!("{:?}", reserved.as_ref().err());
                reserved.ok()
            }),
            _ => self.tasks.add("closed", async move {
                sender.closed().await;
                None
            }),
        }
    }

    fn any_sender(&self, choices: &mut Choices<'_>) -> Option<Sender<Value>> {
        let count = self.senders.len();
        (count > 0).then(|| self.senders[choices.below(count)].clone())
    }

    /// Performs an operation of a sender that does not wait.
    fn sender_step(&mut self, choices: &mut Choices<'_>) {
        let kind = choices.below(4);
        let n = choices.below(4);
        let Some(sender) = self.any_sender(choices) else {
            return;
        };
        match kind {
            0 => {
                let sent = sender.try_send(Value::next());
                note!("try_send {:?}", sent.as_ref().map_err(name));
                if let Err(error) = sent {
                    note!("{:?}", error.into_inner());
                }
            }
            1 => match sender.try_reserve() {
                Ok(permit) if n > 0 => {
                    note!("try_reserve, send");
                    permit.send(Value::next());
                }
                Ok(_) => note!("try_reserve, drop"),
                Err(error) => note!("try_reserve {}", name(&error)),
            },
            2 => match sender.try_reserve_many(n) {
                Ok(permits) => {
                    note!("try_reserve_many {n}, send all but one");
                    for permit in permits.skip(1) {
                        permit.send(Value::next());
                    }
                }
                Err(error) => note!("try_reserve_many {n} {}", name(&error)),
            },
            _ => match sender.try_reserve_owned() {
                Ok(permit) => {
                    note!("try_reserve_owned");
                    self.permits.push(permit);
                }
                Err(error) => note!("try_reserve_owned {}", name(&error)),
            },
        }
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

    fn permit_step(&mut self, choices: &mut Choices<'_>) {
        let count = self.permits.len();
        if count == 0 {
            return;
        }
        let permit = self.permits.swap_remove(choices.below(count));
        match choices.below(3) {
            0 => {
                note!("drop permit");
                drop(permit);
            }
            1 => {
                note!("release permit");
                self.senders.push(permit.release());
            }
            _ => {
                note!("send by permit");
                self.senders.push(permit.send(Value::next()));
            }
        }
    }

    fn look(&mut self) {
        if let Some(sender) = self.senders.first() {
            let (free, max) = (sender.capacity(), sender.max_capacity());
            note!("| {free} of {max}, closed {}", sender.is_closed());
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
            note!("{} of {}", receiver.capacity(), receiver.max_capacity());
            note!("closed {}", receiver.is_closed());
            let (strong, weak) = (receiver.sender_strong_count(), receiver.sender_weak_count());
            note!("strong {strong} weak {weak}");
        }
        note!("tasks");
        self.tasks.end_step();
        note!("receiver");
        self.receiver_wakers.end_step();
    }

    /// Drops one side after the other.
    fn end(self, receiver_first: bool) {
        let receiver = self.receiver;
        if receiver_first {
            drop(receiver);
            let wakers = self.tasks.end();
            drop((self.senders, self.permits, self.weak));
            wakers.end();
        } else {
            let wakers = self.tasks.end();
            drop((self.senders, self.permits, self.weak));
            wakers.end();
            if let Some(mut receiver) = receiver {
                while let Poll::Ready(Some(value)) =
                    receiver.poll_recv(&mut Context::from_waker(std::task::Waker::noop()))
                {
                    note!("{value:?}");
                }
            }
        }
        self.receiver_wakers.end();
    }
}
