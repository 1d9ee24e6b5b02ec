//! All operations on a task cell, with panics in every callback (glommio 379).

mod callbacks;
mod reference;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use raddle_task::{AbortHandle, JoinError, JoinHandle, LiveList, Outcome, Runnable};

use crate::Choices;
use callbacks::{
    Fault, Hazard, Joiner, Output, PollAction, PollOutcome, Scheduler, Subject, World,
};
use reference::{End, HAZARDS, JOINERS, Model};

struct Bench {
    world: World,
    live: LiveList,
    runnable: Option<Runnable>,
    handle: Option<JoinHandle<Output>>,
    aborts: Vec<AbortHandle>,
    wakers: Vec<Waker>,
    joiners: [Arc<Joiner>; JOINERS],
    model: Model,
}

/// Runs one task from its spawn to its completion.
pub fn run(choices: &mut Choices<'_>) {
    let mut bench = Bench::new(choices.once_in(2));
    while !choices.is_over() {
        bench.step(choices);
        bench.check();
    }
    bench.end(choices.once_in(2));
}

/// Returns what user code panicked with, if it did.
fn caught(code: impl FnOnce()) -> Option<&'static str> {
    let payload = catch_unwind(AssertUnwindSafe(code)).err()?;
    Some(text(&*payload))
}

fn text(payload: &(dyn std::any::Any + Send)) -> &'static str {
    payload
        .downcast_ref::<&'static str>()
        .copied()
        .unwrap_or("a panic of the task cell's own")
}

impl Bench {
    fn new(adopted: bool) -> Self {
        let world = World::default();
        let (runnable, handle) = raddle_task::spawn(Subject::new(&world), Scheduler::new(&world));
        let live = LiveList::new();
        if adopted {
            live.adopt(&runnable);
        }
        Self {
            world,
            live,
            runnable: Some(runnable),
            handle: Some(handle),
            aborts: Vec::new(),
            wakers: Vec::new(),
            joiners: HAZARDS.map(Joiner::new),
            model: Model {
                due: true,
                ..Model::default()
            },
        }
    }

    fn step(&mut self, choices: &mut Choices<'_>) {
        match choices.below(20) {
            0 | 1 => {
                if let Some(waker) = self.take_waker(choices) {
                    self.notify(choices, |_| waker.wake());
                }
            }
            2 | 3 => {
                if let Some(waker) = self.take_waker(choices) {
                    self.notify(choices, |_| waker.wake_by_ref());
                    self.wakers.push(waker);
                }
            }
            4 => {
                if let Some(waker) = self.take_waker(choices) {
                    // The runnable is dropped while the wake is in the queue.
                    self.notify(choices, |_| waker.wake_by_ref());
                    drop(waker);
                }
            }
            5 => {
                if let Some(waker) = self.take_waker(choices) {
                    self.wakers.extend([waker.clone(), waker]);
                }
            }
            6 => drop(self.take_waker(choices)),
            7..=10 => self.run(choices),
            11 => self.cancel(choices.once_in(2), choices.once_in(8)),
            12..=14 => self.join(choices.below(JOINERS)),
            15 => {
                if choices.once_in(4) {
                    self.detach();
                }
            }
            16 => {
                if self.handle.is_some() && choices.once_in(4) {
                    self.model.aborted |= self.model.end.is_none();
                    self.notify(choices, |bench| {
                        bench.handle.iter().for_each(JoinHandle::abort);
                    });
                }
            }
            17 => match choices.below(4) {
                0 => {
                    if let Some(abort) = self.aborts.pop() {
                        self.model.aborted |= self.model.end.is_none();
                        self.notify(choices, |_| abort.abort());
                    }
                }
                1 => drop(self.aborts.pop()),
                2 => self.aborts.extend(self.aborts.last().cloned()),
                _ => {
                    let handle = self.handle.as_ref();
                    self.aborts.extend(handle.map(JoinHandle::abort_handle));
                }
            },
            18 => {
                let panics = choices.once_in(2);
                self.world.with(|plan| plan.future_drop_panics = panics);
            }
            _ => {
                let panics = choices.once_in(2);
                self.world.with(|plan| plan.output_drop_panics = panics);
            }
        }
    }

    fn take_waker(&mut self, choices: &mut Choices<'_>) -> Option<Waker> {
        match self.wakers.len().min(256) {
            0 => None,
            len => Some(self.wakers.swap_remove(choices.below(len))),
        }
    }

    /// Wakes or aborts, with a scheduler that may panic.
    fn notify(&mut self, choices: &mut Choices<'_>, act: impl FnOnce(&Self)) {
        let fault = match choices.below(12) {
            10 => Fault::Clone,
            11 => Fault::Call,
            _ => Fault::None,
        };
        self.world.with(|plan| plan.fault = fault);
        let panicked = caught(|| act(self));
        self.world.with(|plan| plan.fault = Fault::None);
        if self.model.end.is_some() || self.model.due {
            assert_eq!(panicked, None);
        } else if fault == Fault::None {
            assert_eq!(panicked, None);
            self.runnable = self.world.with(|plan| plan.queue.pop_front());
            assert!(self.runnable.is_some(), "a wake was lost");
            self.model.due = true;
        } else {
            assert_eq!(panicked, Some("scheduler"));
            self.ended_elsewhere();
        }
        assert!(self.world.with(|plan| plan.queue.is_empty()));
    }

    /// The runnable was dropped where the live list is not known.
    fn ended_elsewhere(&mut self) {
        self.ended(self.cancellation());
    }

    fn cancellation(&self) -> End {
        match self.world.with(|plan| plan.future_drop_panics) {
            true => End::Panic("future"),
            false => End::Cancelled,
        }
    }

    fn ended(&mut self, end: End) {
        self.model.due = false;
        self.model.end = Some(end);
        if let Some(joiner) = self.model.joining.take() {
            self.model.wakes[joiner] += 1;
        }
    }

    fn run(&mut self, choices: &mut Choices<'_>) {
        let Some(task) = self.runnable.take() else {
            return;
        };
        let poll_outcome = match choices.below(12) {
            9 | 10 => PollOutcome::Ready,
            11 => PollOutcome::Panic,
            _ => PollOutcome::Pending,
        };
        let poll_action = match choices.below(8) {
            5 => PollAction::WakeByRef,
            6 => PollAction::WakeByValue,
            7 => PollAction::Abort,
            _ => PollAction::Nothing,
        };
        let abort = self.aborts.last().cloned();
        let aborts = poll_action == PollAction::Abort && abort.is_some();
        let future_drop_panics = self.world.with(|plan| {
            (plan.poll_outcome, plan.poll_action, plan.abort) = (poll_outcome, poll_action, abort);
            plan.future_drop_panics
        });
        let outcome = task.run_in(&self.live);
        drop(self.world.with(|plan| plan.abort.take()));
        self.wakers
            .append(&mut self.world.with(|plan| std::mem::take(&mut plan.wakers)));
        self.model.due = false;
        if self.model.aborted {
            assert!(matches!(outcome, Outcome::Complete));
            self.ended(self.cancellation());
            return;
        }
        self.model.polls += 1;
        self.model.aborted = aborts;
        let end = match poll_outcome {
            PollOutcome::Pending => {
                if aborts || matches!(poll_action, PollAction::WakeByRef | PollAction::WakeByValue)
                {
                    let Outcome::Again(task) = outcome else {
                        panic!("it was woken while it ran, and is {outcome:?}");
                    };
                    self.runnable = Some(task);
                    self.model.due = true;
                } else {
                    assert!(matches!(outcome, Outcome::Idle));
                }
                return;
            }
            PollOutcome::Ready => End::Output,
            PollOutcome::Panic => {
                self.model.panics_reported += 1;
                End::Panic("poll")
            }
        };
        assert!(matches!(outcome, Outcome::Complete));
        if future_drop_panics {
            self.model.panics_reported += 1;
            self.ended(End::Panic("future"));
        } else {
            self.ended(end);
        }
    }

    /// Cancels a ready task without running it.
    fn cancel(&mut self, with_list: bool, really: bool) {
        if !really {
            return;
        }
        let Some(task) = self.runnable.take() else {
            return;
        };
        if with_list {
            let outcome = task.cancel(Some(&self.live));
            assert!(matches!(outcome, Outcome::Complete));
            self.ended(self.cancellation());
        } else {
            drop(task);
            self.ended_elsewhere();
        }
    }

    fn join(&mut self, joiner: usize) {
        let Some(handle) = &mut self.handle else {
            return;
        };
        if self.model.taken {
            return;
        }
        let polled = catch_unwind(AssertUnwindSafe(|| {
            self.joiners[joiner]
                .with_waker(|waker| Pin::new(handle).poll(&mut Context::from_waker(waker)))
        }));
        if let Some(end) = self.model.end {
            let Ok(Poll::Ready(output)) = polled else {
                panic!("a task has ended, and its handle does not say so");
            };
            self.model.taken = true;
            self.check_output(end, output);
            return;
        }
        let former = self.model.joining;
        if former == Some(joiner) {
            assert!(matches!(polled, Ok(Poll::Pending)));
            return;
        }
        let leaves = |joiner: usize, hazard| HAZARDS[joiner] == hazard;
        if former.is_some_and(|former| leaves(former, Hazard::Drop))
            || leaves(joiner, Hazard::Clone)
        {
            assert_eq!(polled.err().map(|payload| text(&*payload)), Some("joiner"));
            self.model.joining = None;
        } else {
            assert!(matches!(polled, Ok(Poll::Pending)));
            self.model.joining = Some(joiner);
        }
    }

    fn check_output(&self, end: End, output: Result<Output, JoinError>) {
        match output {
            Ok(output) => {
                assert_eq!(end, End::Output);
                let panics = self.world.with(|plan| plan.output_drop_panics);
                assert_eq!(caught(|| drop(output)), panics.then_some("output"));
            }
            Err(error) if error.is_cancelled() => assert_eq!(end, End::Cancelled),
            Err(error) => assert_eq!(end, End::Panic(text(&*error.into_panic()))),
        }
    }

    fn detach(&mut self) {
        let Some(handle) = self.handle.take() else {
            return;
        };
        // A panic of the output's drop stays inside the task.
        let expected = self
            .model
            .joining
            .take()
            .and_then(|joiner| (HAZARDS[joiner] == Hazard::Drop).then_some("joiner"));
        assert_eq!(caught(|| drop(handle)), expected);
    }

    /// Compares the live objects with those that are held.
    fn check(&self) {
        let model = &self.model;
        let is_alive = model.end.is_none();
        assert_eq!(self.world.futures.get(), usize::from(is_alive), "{model:?}");
        let has_output = model.end == Some(End::Output) && !model.taken && self.handle.is_some();
        assert_eq!(
            self.world.outputs.get(),
            usize::from(has_output),
            "{model:?}"
        );
        let held = self.handle.is_some() || !self.aborts.is_empty() || !self.wakers.is_empty();
        let has_cell = held || is_alive;
        assert_eq!(self.world.cells.get(), usize::from(has_cell), "{model:?}");
        let (polls, panics) = self.world.with(|plan| (plan.polls, plan.panics_reported));
        assert_eq!(
            (polls, panics),
            (model.polls, model.panics_reported),
            "{model:?}"
        );
        for (number, joiner) in self.joiners.iter().enumerate() {
            assert_eq!(joiner.wakes(), model.wakes[number], "{model:?}");
            let stored = usize::from(model.joining == Some(number));
            assert_eq!(Arc::strong_count(joiner), 1 + stored, "{model:?}");
        }
        let of_aborts = self.aborts.iter().map(AbortHandle::is_finished);
        let of_handle = self.handle.iter().map(JoinHandle::is_finished);
        for finished in of_aborts.chain(of_handle) {
            assert_eq!(finished, model.end.is_some(), "{model:?}");
        }
    }

    /// Ends the task in any state, before or after all other objects are dropped.
    fn end(mut self, first: bool) {
        if first {
            self.end_task();
            self.check();
        }
        self.detach();
        self.wakers.clear();
        self.aborts.clear();
        self.check();
        self.end_task();
        self.check();
        drop(self.live);
        assert_eq!(self.world.cells.get(), 0, "the cell is leaked");
    }

    fn end_task(&mut self) {
        if self.model.end.is_some() {
            return;
        }
        let mut due: Vec<_> = self.runnable.take().into_iter().collect();
        self.live.abort_all(|task| due.push(task));
        assert_eq!(due.len(), 1, "a task cannot be found");
        for task in due {
            let outcome = task.cancel(Some(&self.live));
            assert!(matches!(outcome, Outcome::Complete));
        }
        assert!(self.live.is_empty());
        self.ended(self.cancellation());
    }
}
