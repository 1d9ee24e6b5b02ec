//! A test of random operations against a model of the channel, which waits in plain lists.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use raddle_testing::Wakes;

use super::error::{SendError, TryRecvError, TrySendError};
use super::{Receiver, Sender, channel, unbounded_channel};

/// The channel as its documentation describes it. A waiter is a number.
struct Model {
    limit: usize,
    is_closed: bool,
    messages: VecDeque<u32>,
    receives: Line,
    sends: Line,
}

/// The waiters of one side: those in line, and those that were woken for a message or for room.
#[derive(Default)]
struct Line {
    waiting: VecDeque<usize>,
    woken: Vec<usize>,
}

impl Line {
    fn wake(&mut self, count: usize) {
        for _ in 0..count {
            self.woken.extend(self.waiting.pop_front());
        }
    }

    fn leave(&mut self, waiter: usize) {
        self.waiting.retain(|other| *other != waiter);
        self.woken.retain(|other| *other != waiter);
    }
}

impl Model {
    fn free_messages(&self) -> usize {
        match self.is_closed {
            true => self.messages.len(),
            false => self.messages.len() - self.receives.woken.len(),
        }
    }

    fn free_room(&self) -> usize {
        match self.is_closed {
            true => 0,
            false => self.limit - self.messages.len() - self.sends.woken.len(),
        }
    }

    /// Wakes as many waiters as can go on.
    fn settle(&mut self) {
        if self.is_closed {
            self.receives.wake(self.receives.waiting.len());
            self.sends.wake(self.sends.waiting.len());
        } else {
            self.receives.wake(self.free_messages());
            self.sends
                .wake(self.free_room().min(self.sends.waiting.len()));
        }
    }

    /// Sends for a waiter that is ready, or for a new one.
    fn send(&mut self, waiter: Option<usize>, message: u32) -> Result<(), TrySendError<u32>> {
        if let Some(waiter) = waiter {
            self.sends.leave(waiter);
        }
        if self.is_closed {
            return Err(TrySendError::Closed(message));
        }
        if self.free_room() == 0 {
            return Err(TrySendError::Full(message));
        }
        self.messages.push_back(message);
        self.settle();
        Ok(())
    }

    fn receive(&mut self, waiter: Option<usize>) -> Result<u32, TryRecvError> {
        if let Some(waiter) = waiter {
            self.receives.leave(waiter);
        }
        if self.free_messages() == 0 {
            return Err(match self.is_closed {
                true => TryRecvError::Disconnected,
                false => TryRecvError::Empty,
            });
        }
        let message = self.messages.pop_front().unwrap();
        self.settle();
        Ok(message)
    }
}

type SendFuture<'a> = Pin<Box<dyn Future<Output = Result<(), SendError<u32>>> + 'a>>;
type RecvFuture<'a> = Pin<Box<dyn Future<Output = Option<u32>> + 'a>>;

/// A future that waits, with its number in the model.
struct Waiter<F> {
    number: usize,
    future: F,
    message: u32,
    wakes: Arc<Wakes>,
    waker: Waker,
    /// The wake-ups that the test has seen.
    seen: usize,
}

impl<F> Waiter<F> {
    fn new(number: usize, future: F, message: u32) -> Self {
        let (wakes, waker) = Wakes::new();
        Self {
            number,
            future,
            message,
            wakes,
            waker,
            seen: 0,
        }
    }

    /// Checks that the waiter was woken if the model says so, and not otherwise.
    fn check(&mut self, line: &Line) {
        if line.woken.contains(&self.number) && self.seen == 0 {
            self.seen = 1;
        }
        assert_eq!(self.wakes.get(), self.seen, "wake-ups of {}", self.number);
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

fn check(seed: u64, limit: Option<usize>) {
    let mut random = Random(seed * 2 + 1);
    let (sender, receiver): (Sender<u32>, Receiver<u32>) =
        limit.map_or_else(unbounded_channel, channel);
    let mut model = Model {
        limit: limit.unwrap_or(usize::MAX),
        is_closed: false,
        messages: VecDeque::new(),
        receives: Line::default(),
        sends: Line::default(),
    };
    let mut sends: Vec<Waiter<SendFuture<'_>>> = Vec::new();
    let mut receives: Vec<Waiter<RecvFuture<'_>>> = Vec::new();
    let mut next = 0;
    for step in 0..200 {
        next += 1;
        let message = u32::try_from(next).unwrap();
        match random.below(if step < 150 { 40 } else { 41 }) {
            0..=4 => assert_eq!(sender.try_send(message), model.send(None, message)),
            5..=9 => assert_eq!(receiver.try_recv(), model.receive(None)),
            10..=14 => {
                let mut waiter = Waiter::new(next, Box::pin(sender.send(message)) as _, message);
                poll_send(&mut waiter, &mut model);
                if model.sends.waiting.contains(&next) {
                    sends.push(waiter);
                }
            }
            15..=19 => {
                let mut waiter = Waiter::new(next, Box::pin(receiver.recv()) as _, 0);
                poll_receive(&mut waiter, &mut model);
                if model.receives.waiting.contains(&next) {
                    receives.push(waiter);
                }
            }
            20..=26 if !sends.is_empty() => {
                let index = random.below(sends.len());
                if poll_send(&mut sends[index], &mut model) {
                    sends.remove(index);
                }
            }
            27..=33 if !receives.is_empty() => {
                let index = random.below(receives.len());
                if poll_receive(&mut receives[index], &mut model) {
                    receives.remove(index);
                }
            }
            34..=36 if !sends.is_empty() => {
                let index = random.below(sends.len());
                model.sends.leave(sends.remove(index).number);
                model.settle();
            }
            37..=39 if !receives.is_empty() => {
                let index = random.below(receives.len());
                model.receives.leave(receives.remove(index).number);
                model.settle();
            }
            40 => {
                assert_eq!(sender.close(), !model.is_closed);
                model.is_closed = true;
                model.settle();
            }
            _ => {}
        }
        sends
            .iter_mut()
            .for_each(|waiter| waiter.check(&model.sends));
        receives
            .iter_mut()
            .for_each(|waiter| waiter.check(&model.receives));
        assert_eq!(
            (receiver.len(), receiver.is_closed()),
            (model.messages.len(), model.is_closed)
        );
    }
}

/// Polls a send, and compares it with the model. Returns whether it was ready.
fn poll_send(waiter: &mut Waiter<SendFuture<'_>>, model: &mut Model) -> bool {
    let poll = waiter
        .future
        .as_mut()
        .poll(&mut Context::from_waker(&waiter.waker));
    if model.sends.waiting.contains(&waiter.number) {
        assert_eq!(poll, Poll::Pending);
        return false;
    }
    match model.send(Some(waiter.number), waiter.message) {
        Ok(()) => assert_eq!(poll, Poll::Ready(Ok(()))),
        Err(TrySendError::Closed(message)) => {
            assert_eq!(poll, Poll::Ready(Err(SendError(message))));
        }
        Err(TrySendError::Full(_)) => {
            assert_eq!(poll, Poll::Pending);
            model.sends.waiting.push_back(waiter.number);
        }
    }
    poll.is_ready()
}

/// Polls a receive, and compares it with the model. Returns whether it was ready.
fn poll_receive(waiter: &mut Waiter<RecvFuture<'_>>, model: &mut Model) -> bool {
    let poll = waiter
        .future
        .as_mut()
        .poll(&mut Context::from_waker(&waiter.waker));
    if model.receives.waiting.contains(&waiter.number) {
        assert_eq!(poll, Poll::Pending);
        return false;
    }
    match model.receive(Some(waiter.number)) {
        Ok(message) => assert_eq!(poll, Poll::Ready(Some(message))),
        Err(TryRecvError::Disconnected) => assert_eq!(poll, Poll::Ready(None)),
        Err(TryRecvError::Empty) => {
            assert_eq!(poll, Poll::Pending);
            model.receives.waiting.push_back(waiter.number);
        }
    }
    poll.is_ready()
}

#[test]
fn random_operations_have_the_results_and_wake_ups_of_the_model() {
    for seed in 0..if cfg!(miri) { 5 } else { 500 } {
        for limit in [Some(1), Some(2), Some(5), None] {
            check(seed, limit);
        }
    }
}
