//! `sleep`, `timeout` and `interval` on a current-thread runtime with a paused clock: they are
//! created, polled with changing wakers, reset and dropped while the clock is advanced, or advances
//! by itself.

use std::future::Future;
use std::pin::Pin;

use raddle_proof::Choices;

use super::api::runtime::Builder;
use super::api::task::{unconstrained, yield_now};
use super::api::time::{
    Duration, Instant, Interval, MissedTickBehavior, Sleep, Timeout, advance, interval,
    interval_at, sleep, sleep_until, timeout, timeout_at,
};
use crate::compare::Step;
use crate::record::note;
use crate::tasks::{Gate, Wakers};

const TIMERS: usize = 5;

enum Timer {
    Sleep(Pin<Box<Sleep>>),
    Timeout(Pin<Box<Timeout<Opened>>>, Gate),
    Interval(Interval),
}

/// The future under a time-out: ready when the gate is opened.
type Opened = Pin<Box<dyn Future<Output = usize>>>;

struct State {
    start: Instant,
    timers: Vec<Option<Timer>>,
    wakers: Wakers,
}

pub(crate) fn run(program: &[Step]) {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(unconstrained(async {
        let mut state = State {
            start: Instant::now(),
            timers: (0..TIMERS).map(|_| None).collect(),
            wakers: Wakers::new(TIMERS),
        };
        for step in program {
            state.step(&mut Choices::new(step)).await;
            note!("| {:?}", state.start.elapsed());
            state.wakers.end_step();
        }
        drop(state.timers);
        state.wakers.end();
    }));
}

/// Returns a time span of some milliseconds, often zero, or one turn of a wheel. Spans are whole
/// milliseconds, because Tokio's timers fire only at the next millisecond and Raddle's do not.
fn span(choices: &mut Choices<'_>) -> Duration {
    let millis = [
        0, 0, 1, 1, 2, 3, 5, 6, 10, 20, 63, 64, 65, 100, 4096, 300_000,
    ][choices.below(16)];
    Duration::from_millis(millis)
}

impl State {
    /// Returns an instant, which may have passed.
    fn instant(&self, choices: &mut Choices<'_>) -> Instant {
        let now = Instant::now();
        match choices.once_in(3) {
            true => now
                .checked_sub(span(choices))
                .map_or(now, |it| it.max(self.start)),
            false => now + span(choices),
        }
    }

    fn since(&self, instant: Instant) -> Duration {
        instant.duration_since(self.start)
    }

    async fn step(&mut self, choices: &mut Choices<'_>) {
        let kind = choices.below(16);
        let slot = choices.below(TIMERS);
        if self.timers[slot].is_none() && kind < 10 {
            self.add(slot, choices);
            return;
        }
        match kind {
            0..=5 => self.poll(slot, choices),
            6 | 7 => self.reset(slot, choices),
            8 => {
                if let Some(Timer::Timeout(_, gate)) = &self.timers[slot] {
                    note!("open the gate of {slot}");
                    gate.open(1);
                }
            }
            9 => {
                note!("drop {slot}");
                self.timers[slot] = None;
                self.wakers.forget(slot);
            }
            10..=13 => {
                let span = span(choices);
                note!("advance {span:?}");
                advance(span).await;
            }
            14 => {
                let span = span(choices);
                note!("sleep {span:?}");
                sleep(span).await;
            }
            _ => {
                note!("yield");
                yield_now().await;
            }
        }
    }

    fn add(&mut self, slot: usize, choices: &mut Choices<'_>) {
        let kind = choices.below(8);
        let gate = Gate::default();
        let opened: Opened = {
            let gate = gate.clone();
            Box::pin(async move { gate.opened().await })
        };
        let at = self.instant(choices);
        let span = at.saturating_duration_since(Instant::now());
        note!("{slot}:");
        self.timers[slot] = Some(match kind {
            0 | 1 => {
                note!("sleep {span:?}");
                Timer::Sleep(Box::pin(sleep(span)))
            }
            2 => {
                note!("sleep_until {:?}", self.since(at));
                Timer::Sleep(Box::pin(sleep_until(at)))
            }
            3 => {
                note!("timeout {span:?}");
                Timer::Timeout(Box::pin(timeout(span, opened)), gate)
            }
            4 => {
                note!("timeout_at {:?}", self.since(at));
                Timer::Timeout(Box::pin(timeout_at(at, opened)), gate)
            }
            kind => {
                let period = span.max(Duration::from_millis(1));
                let mut timer = match choices.once_in(2) {
                    true => interval(period),
                    false => interval_at(at, period),
                };
                let behavior = [
                    MissedTickBehavior::Burst,
                    MissedTickBehavior::Delay,
                    MissedTickBehavior::Skip,
                ][kind - 5];
                timer.set_missed_tick_behavior(behavior);
                note!("interval {:?} {behavior:?}", timer.period());
                Timer::Interval(timer)
            }
        });
    }

    fn poll(&mut self, slot: usize, choices: &mut Choices<'_>) {
        let start = self.start;
        let Some(timer) = &mut self.timers[slot] else {
            return;
        };
        note!("poll {slot}");
        let wakers = &mut self.wakers;
        let is_over = match timer {
            Timer::Sleep(sleep) => {
                let polled = wakers.poll(slot, choices, |cx| sleep.as_mut().poll(cx));
                let deadline = sleep.deadline().duration_since(start);
                note!("{polled:?} elapsed {} at {deadline:?}", sleep.is_elapsed());
                false
            }
            Timer::Timeout(timeout, _) => {
                let polled = wakers.poll(slot, choices, |cx| timeout.as_mut().poll(cx));
                note!("{polled:?}");
                polled.is_ready()
            }
            Timer::Interval(interval) => {
                let polled = wakers.poll(slot, choices, |cx| interval.poll_tick(cx));
                note!("{:?}", polled.map(|tick| tick.duration_since(start)));
                false
            }
        };
        if is_over {
            self.timers[slot] = None;
        }
    }

    fn reset(&mut self, slot: usize, choices: &mut Choices<'_>) {
        let at = self.instant(choices);
        match &mut self.timers[slot] {
            Some(Timer::Sleep(sleep)) => {
                note!("reset {slot} to {:?}", at.duration_since(self.start));
                sleep.as_mut().reset(at);
                // Tokio's timer has elapsed by now if its deadline has passed, Raddle's when it is
                // polled.
            }
            Some(Timer::Interval(interval)) => match choices.below(4) {
                0 => {
                    note!("reset {slot}");
                    interval.reset();
                }
                1 => {
                    note!("reset_immediately {slot}");
                    interval.reset_immediately();
                }
                2 => {
                    let span = span(choices);
                    note!("reset_after {slot} {span:?}");
                    interval.reset_after(span);
                }
                _ => {
                    note!("reset_at {slot} {:?}", at.duration_since(self.start));
                    interval.reset_at(at);
                }
            },
            _ => {}
        }
    }
}
