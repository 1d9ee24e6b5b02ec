//! `Notify`: notifications of one, the last and all waiters; waiters that are enabled, polled and
//! dropped.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use raddle_proof::Choices;

use super::api::Notify;
use super::api::futures::{Notified, OwnedNotified};
use crate::compare::Step;
use crate::record::note;
use crate::tasks::Wakers;

const WAITERS: usize = 6;

enum Waiter<'a> {
    Borrowed(Pin<Box<Notified<'a>>>),
    Owned(Pin<Box<OwnedNotified>>),
}

impl Waiter<'_> {
    fn future(&mut self) -> Pin<&mut dyn Future<Output = ()>> {
        match self {
            Self::Borrowed(waiter) => waiter.as_mut(),
            Self::Owned(waiter) => waiter.as_mut(),
        }
    }

    fn enable(&mut self) -> bool {
        match self {
            Self::Borrowed(waiter) => waiter.as_mut().enable(),
            Self::Owned(waiter) => waiter.as_mut().enable(),
        }
    }
}

pub(crate) fn run(program: &[Step]) {
    let notify = &Arc::new(Notify::new());
    let mut wakers = Wakers::new(WAITERS);
    let mut waiters: Vec<Option<Waiter<'_>>> = (0..WAITERS).map(|_| None).collect();
    for step in program {
        let choices = &mut Choices::new(step);
        let kind = choices.below(16);
        let slot = choices.below(WAITERS);
        let waiter = &mut waiters[slot];
        match (kind, waiter.as_mut()) {
            (0..=2, None) => {
                note!("notified, as {slot}");
                *waiter = Some(Waiter::Borrowed(Box::pin(notify.notified())));
            }
            (3..=5, None) => {
                note!("notified_owned, as {slot}");
                let owned = notify.clone().notified_owned();
                *waiter = Some(Waiter::Owned(Box::pin(owned)));
            }
            (0..=5, Some(polled)) => {
                note!("poll {slot}");
                let polled = wakers.poll(slot, choices, |cx| polled.future().poll(cx));
                note!("{polled:?}");
                if polled.is_ready() {
                    *waiter = None;
                }
            }
            (6, Some(polled)) => note!("enable {slot}: {}", polled.enable()),
            (7 | 8, _) => {
                note!("drop {slot}");
                *waiter = None;
                wakers.forget(slot);
            }
            (9..=11, _) => {
                note!("notify_one");
                notify.notify_one();
            }
            (12 | 13, _) => {
                note!("notify_last");
                notify.notify_last();
            }
            (14, _) => {
                note!("notify_waiters");
                notify.notify_waiters();
            }
            _ => {}
        }
        note!("| shared {}", Arc::strong_count(notify));
        wakers.end_step();
    }
    for (slot, waiter) in waiters.iter_mut().enumerate() {
        if let Some(mut waiter) = waiter.take() {
            note!("last poll of {slot}");
            let no_choices = &mut Choices::new(&[]);
            let polled = wakers.poll(slot, no_choices, |cx| waiter.future().poll(cx));
            note!("{polled:?}");
            wakers.end_step();
        }
    }
    wakers.end();
}
