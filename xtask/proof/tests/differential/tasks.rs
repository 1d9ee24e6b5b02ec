//! The futures of a program, with counting wakers.

use std::any::Any;
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_proof::Choices;

use crate::record::{self, note};

/// The number of wakers per future; a program alternates between them.
const VARIANTS: usize = 2;

struct Counter(AtomicUsize);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Two wakers for each future that may exist at once, and the wake-ups that are due.
///
/// A wake-up is *due* if the last poll of the slot was pending with that waker, and the waker has
/// not been woken since. The record shows the due wake-ups of each step. Other wake-ups change
/// nothing on which a program could rely, so they are only counted ([`record::needless_wakes`]).
pub(crate) struct Wakers {
    counters: Vec<Arc<Counter>>,
    /// The waker with which each slot waits.
    waiting: Vec<Option<usize>>,
}

impl Wakers {
    pub(crate) fn new(slots: usize) -> Self {
        let counter = |_| Arc::new(Counter(AtomicUsize::new(0)));
        Self {
            counters: (0..slots * VARIANTS).map(counter).collect(),
            waiting: vec![None; slots],
        }
    }

    /// Polls with one of the wakers of a slot.
    pub(crate) fn poll<T>(
        &mut self,
        slot: usize,
        choices: &mut Choices<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let variant = choices.below(VARIANTS);
        note!("with {slot}{}:", letter(variant));
        let index = slot * VARIANTS + variant;
        let waker = Waker::from(self.counters[index].clone());
        let polled = poll(&mut Context::from_waker(&waker));
        self.waiting[slot] = polled.is_pending().then_some(index);
        polled
    }

    /// The slot has no waiting future any more, so none of its wake-ups is due.
    pub(crate) fn forget(&mut self, slot: usize) {
        self.waiting[slot] = None;
    }

    /// Records which due wakers were woken in this step, and ends the line of the step.
    pub(crate) fn end_step(&mut self) {
        let mut first = true;
        for (index, counter) in self.counters.iter().enumerate() {
            let mut count = counter.0.swap(0, Ordering::Relaxed);
            let slot = index / VARIANTS;
            if count > 0 && self.waiting[slot] == Some(index) {
                self.waiting[slot] = None;
                count -= 1;
                if first {
                    note!("| woken");
                }
                first = false;
                note!("{slot}{}", letter(index % VARIANTS));
            }
            record::needless_wakes(count);
        }
        record::end_line();
    }

    /// Records the last wake-ups, and the wakers that still exist after everything was dropped.
    pub(crate) fn end(mut self) {
        note!("end");
        self.end_step();
        for (index, counter) in self.counters.iter().enumerate() {
            if Arc::strong_count(counter) > 1 {
                note!("kept {}{}", index / VARIANTS, letter(index % VARIANTS));
            }
        }
        record::end_line();
    }
}

fn letter(variant: usize) -> char {
    char::from(b'a' + variant as u8)
}

/// The futures of a program, in slots with two wakers each.
pub(crate) struct Tasks<'a, T> {
    slots: Vec<Option<Pin<Box<dyn Future<Output = T> + 'a>>>>,
    wakers: Wakers,
}

impl<'a, T> Tasks<'a, T> {
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            slots: (0..slots).map(|_| None).collect(),
            wakers: Wakers::new(slots),
        }
    }

    /// Puts a future into a free slot without polling it. Drops it if no slot is free.
    pub(crate) fn add(&mut self, name: &str, future: impl Future<Output = T> + 'a) {
        match self.slots.iter().position(Option::is_none) {
            Some(free) => {
                note!("{name}, as {free}");
                self.slots[free] = Some(Box::pin(future));
            }
            None => note!("{name}, no room"),
        }
    }

    fn any(&self, choices: &mut Choices<'_>) -> Option<usize> {
        let taken = |slot: &usize| self.slots[*slot].is_some();
        let count = (0..self.slots.len()).filter(taken).count();
        let nth = choices.below(count.max(1));
        (0..self.slots.len()).filter(taken).nth(nth)
    }

    /// Polls one of the futures with one of its wakers. The future is removed when it is ready or
    /// panics ([`planned_panic`]).
    pub(crate) fn poll(&mut self, choices: &mut Choices<'_>) -> Option<T> {
        let slot = self.any(choices)?;
        note!("poll {slot}");
        let future = self.slots[slot].as_mut().expect("a taken slot");
        let wakers = &mut self.wakers;
        let poll = || wakers.poll(slot, choices, |cx| future.as_mut().poll(cx));
        match catch_unwind(AssertUnwindSafe(poll)) {
            Ok(Poll::Ready(output)) => {
                note!("ready");
                self.slots[slot] = None;
                Some(output)
            }
            Ok(Poll::Pending) => {
                note!("pending");
                None
            }
            Err(payload) => {
                was_planned(payload);
                self.slots[slot] = None;
                self.wakers.forget(slot);
                None
            }
        }
    }

    /// Drops one of the futures.
    pub(crate) fn drop_one(&mut self, choices: &mut Choices<'_>) {
        if let Some(slot) = self.any(choices) {
            note!("drop {slot}");
            self.slots[slot] = None;
            self.wakers.forget(slot);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }

    pub(crate) fn end_step(&mut self) {
        self.wakers.end_step();
    }

    /// Drops all futures, in the order of their slots.
    pub(crate) fn end(mut self) -> Wakers {
        for (slot, future) in self.slots.iter_mut().enumerate() {
            *future = None;
            self.wakers.forget(slot);
        }
        note!("all dropped");
        self.wakers.end_step();
        self.wakers
    }
}

/// The payload of a panic that the program catches and that prints nothing.
struct Planned;

pub(crate) fn planned_panic() -> ! {
    resume_unwind(Box::new(Planned))
}

/// Records a planned panic, and resumes any other panic.
pub(crate) fn was_planned(payload: Box<dyn Any + Send>) {
    match payload.is::<Planned>() {
        true => note!("panicked as planned"),
        false => resume_unwind(payload),
    }
}

/// Tells a future what to do next. It wakes nothing: the program polls.
#[derive(Clone, Default)]
pub(crate) struct Gate(Rc<Cell<Option<usize>>>);

impl Gate {
    pub(crate) fn open(&self, with: usize) {
        self.0.set(Some(with));
    }

    pub(crate) fn close(&self) {
        self.0.set(None);
    }

    pub(crate) async fn opened(&self) -> usize {
        poll_fn(|_| self.0.take().map_or(Poll::Pending, Poll::Ready)).await
    }

    /// Returns the future's output, or `None` if the gate is opened first. Then the future is
    /// dropped.
    pub(crate) async fn unless_opened<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = std::pin::pin!(future);
        poll_fn(|cx| match self.0.take() {
            Some(_) => Poll::Ready(None),
            None => future.as_mut().poll(cx).map(Some),
        })
        .await
    }
}
