//! Random sequences of everything that can be done to a task, against a
//! reference model (glommio 379).
#![cfg(not(raddle_loom))]

mod common;

use std::num::NonZeroU32;
use std::task::{Poll, Waker};

use common::{Counted, Executor, Gate, Wakes, poll_with};
use raddle_task::{AbortHandle, JoinHandle, LiveList, Outcome, Runnable};

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }
}

/// What is known of the task.
#[derive(Debug, Default)]
struct Model {
    due: bool,
    aborted: bool,
    complete: bool,
    /// Of a complete task.
    cancelled: bool,
    /// The join waker is to be woken by completion.
    joining: bool,
    taken: bool,
    wakes: usize,
    polls: usize,
}

struct Subject {
    executor: Executor,
    /// Has the task, so that one that is idle without a waker can be ended.
    live: LiveList,
    gate: Gate,
    runnable: Option<Runnable>,
    handle: Option<JoinHandle<(usize, Counted)>>,
    aborts: Vec<AbortHandle>,
    wakers: Vec<Waker>,
    model: Model,
}

impl Subject {
    fn new() -> Self {
        let executor = Executor::new();
        let gate = Gate::default();
        let waiting = gate.clone();
        let output = executor.outputs.one();
        let (runnable, handle) = executor.task(async move {
            waiting.await;
            (7, output)
        });
        let live = LiveList::new(NonZeroU32::MIN);
        live.adopt(&runnable);
        Self {
            executor,
            live,
            gate,
            runnable: Some(runnable),
            handle: Some(handle),
            aborts: Vec::new(),
            wakers: Vec::new(),
            model: Model {
                due: true,
                ..Model::default()
            },
        }
    }

    /// After a wake or an abort.
    fn notified(&mut self) {
        if self.model.complete || self.model.due {
            assert_eq!(self.executor.queued(), 0);
        } else {
            self.runnable = Some(self.executor.pop().expect("a wake was lost"));
            assert_eq!(self.executor.queued(), 0);
            self.model.due = true;
        }
    }

    fn ended(&mut self, cancelled: bool) {
        self.model.complete = true;
        self.model.cancelled = cancelled;
        if self.model.joining {
            self.model.wakes += 1;
            self.model.joining = false;
        }
    }

    fn run(&mut self, open: bool) {
        let Some(task) = self.runnable.take() else {
            return;
        };
        if open {
            self.gate.open();
        }
        self.model.due = false;
        let outcome = task.run_in(&self.live);
        if self.model.aborted {
            assert!(matches!(outcome, Outcome::Complete));
            self.ended(true);
        } else {
            self.model.polls += 1;
            if open {
                assert!(matches!(outcome, Outcome::Complete));
                self.ended(false);
            } else {
                assert!(matches!(outcome, Outcome::Idle));
            }
            self.wakers.push(self.gate.waker());
        }
        assert_eq!(self.gate.polls(), self.model.polls);
    }

    fn join(&mut self, waker: &Waker) {
        let Some(handle) = &mut self.handle else {
            return;
        };
        if self.model.taken {
            return;
        }
        match poll_with(handle, waker) {
            Poll::Pending => {
                assert!(!self.model.complete);
                self.model.joining = true;
            }
            Poll::Ready(output) => {
                assert!(self.model.complete);
                match output {
                    Ok((value, _)) => assert!(value == 7 && !self.model.cancelled),
                    Err(error) => assert!(error.is_cancelled() && self.model.cancelled),
                }
                self.model.taken = true;
            }
        }
    }

    fn take_waker(&mut self, random: &mut Random) -> Option<Waker> {
        match self.wakers.len() {
            0 => None,
            len => Some(self.wakers.swap_remove(random.below(len))),
        }
    }

    fn step(&mut self, random: &mut Random, join_wakers: &[Waker]) {
        match random.below(16) {
            0 | 1 => {
                if let Some(waker) = self.take_waker(random) {
                    waker.wake();
                    self.notified();
                }
            }
            2 | 3 => {
                if let Some(waker) = self.take_waker(random) {
                    waker.wake_by_ref();
                    self.wakers.push(waker);
                    self.notified();
                }
            }
            4 => {
                if let Some(waker) = self.take_waker(random) {
                    // The reference that is dropped must not be the last one
                    // while the wake is in the queue.
                    waker.wake_by_ref();
                    drop(waker);
                    self.notified();
                }
            }
            5 | 6 => {
                if let Some(waker) = self.take_waker(random) {
                    self.wakers.extend([waker.clone(), waker]);
                }
            }
            7 => drop(self.take_waker(random)),
            8 | 9 => self.run(false),
            10 => {
                let open = random.below(4) == 0;
                self.run(open);
            }
            11 => {
                if random.below(8) == 0
                    && let Some(task) = self.runnable.take()
                {
                    let outcome = task.cancel(Some(&self.live));
                    assert!(matches!(outcome, Outcome::Complete));
                    self.model.due = false;
                    self.ended(true);
                }
            }
            12 | 13 => self.join(&join_wakers[random.below(join_wakers.len())]),
            14 => {
                if random.below(6) == 0 {
                    self.handle = None;
                    self.model.joining = false;
                }
            }
            _ => match random.below(8) {
                0 => {
                    if let Some(handle) = &self.handle {
                        handle.abort();
                        self.model.aborted = true;
                        self.notified();
                    }
                }
                1 => {
                    if let Some(abort) = self.aborts.pop() {
                        abort.abort();
                        self.model.aborted = true;
                        self.notified();
                    }
                }
                2 => drop(self.aborts.pop()),
                _ => self
                    .aborts
                    .extend(self.handle.as_ref().map(JoinHandle::abort_handle)),
            },
        }
    }

    /// Ends the task, however it stands.
    fn end(&mut self) {
        let queued = self.runnable.take();
        let mut due: Vec<_> = queued.into_iter().collect();
        self.live.abort_all(|task| due.push(task));
        assert_eq!(due.len(), self.live.len());
        for task in due {
            assert!(matches!(task.run_in(&self.live), Outcome::Complete));
        }
        assert!(self.live.is_empty());
    }

    /// Checks what is alive against what is held.
    fn check(&self, wakes: usize) {
        assert_eq!(
            self.executor.futures.get(),
            usize::from(!self.model.complete)
        );
        let has_output = if self.model.complete {
            !self.model.cancelled && !self.model.taken && self.handle.is_some()
        } else {
            true
        };
        assert_eq!(self.executor.outputs.get(), usize::from(has_output));
        let held = self.handle.is_some() || !self.aborts.is_empty() || !self.wakers.is_empty();
        let alive = held || !self.model.complete;
        assert_eq!(self.executor.cells.get(), usize::from(alive));
        assert_eq!(wakes, self.model.wakes);
        for finished in self
            .aborts
            .iter()
            .map(AbortHandle::is_finished)
            .chain(self.handle.iter().map(JoinHandle::is_finished))
        {
            assert_eq!(finished, self.model.complete);
        }
    }
}

/// glommio 379.
#[test]
fn random_sequences_agree_with_a_model() {
    let mut outcomes = [0; 3];
    for seed in 1..=4_000 {
        let mut random = Random(seed);
        let (first, first_waker) = Wakes::new();
        let (second, second_waker) = Wakes::new();
        let join_wakers = [first_waker, second_waker];
        let mut subject = Subject::new();
        for step in 0..60 {
            subject.step(&mut random, &join_wakers);
            let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                subject.check(first.get() + second.get());
            }));
            assert!(
                checked.is_ok(),
                "seed {seed}, step {step}: {:?}",
                subject.model
            );
        }
        outcomes[match subject.model {
            Model {
                complete: false, ..
            } => 0,
            Model {
                cancelled: true, ..
            } => 1,
            _ => 2,
        }] += 1;
        let executor = subject.executor.clone();
        // What is left of the task goes, in one order or another.
        if seed % 2 == 0 {
            subject.end();
            drop(subject);
        } else {
            subject.handle = None;
            subject.wakers.clear();
            subject.aborts.clear();
            subject.end();
        }
        executor.check();
    }
    assert!(outcomes.iter().all(|&count| count > 100), "{outcomes:?}");
}
