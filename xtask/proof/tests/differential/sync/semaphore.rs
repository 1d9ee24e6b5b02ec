//! `Semaphore`: ordered waits for one and many permits, and permits that are dropped, forgotten,
//! merged and split.

use std::sync::Arc;

use raddle_proof::Choices;

use super::api::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError};
use crate::compare::Step;
use crate::record::note;
use crate::tasks::{Tasks, Wakers};

#[derive(Debug)]
enum Permit<'a> {
    Borrowed(SemaphorePermit<'a>),
    Owned(OwnedSemaphorePermit),
}

impl<'a> Permit<'a> {
    fn count(&self) -> usize {
        match self {
            Self::Borrowed(permit) => permit.num_permits(),
            Self::Owned(permit) => permit.num_permits(),
        }
    }

    fn split(&mut self, n: usize) -> Option<Self> {
        match self {
            Self::Borrowed(permit) => permit.split(n).map(Self::Borrowed),
            Self::Owned(permit) => permit.split(n).map(Self::Owned),
        }
    }

    fn forget(self) {
        match self {
            Self::Borrowed(permit) => permit.forget(),
            Self::Owned(permit) => permit.forget(),
        }
    }
}

struct State<'a> {
    semaphore: &'a Arc<Semaphore>,
    tasks: Tasks<'a, Result<Permit<'a>, AcquireError>>,
    permits: Vec<Permit<'a>>,
}

pub(crate) fn run(program: &[Step]) {
    let permits = Choices::new(&program[0]).below(6);
    note!("Semaphore::new({permits})");
    let semaphore = Arc::new(Semaphore::new(permits));
    let wakers = run_on(&semaphore, &program[1..]);
    note!("left {}", semaphore.available_permits());
    drop(semaphore);
    wakers.end();
}

fn run_on(semaphore: &Arc<Semaphore>, program: &[Step]) -> Wakers {
    let mut state = State {
        semaphore,
        tasks: Tasks::new(6),
        permits: Vec::new(),
    };
    state.tasks.end_step();
    for step in program {
        state.step(&mut Choices::new(step));
        state.look();
    }
    state.tasks.end()
}

impl<'a> State<'a> {
    fn step(&mut self, choices: &mut Choices<'_>) {
        let semaphore = self.semaphore;
        match choices.below(20) {
            0 => self.tasks.add("acquire", async {
                semaphore.acquire().await.map(Permit::Borrowed)
            }),
            1 | 2 => {
                let n = choices.below(5) as u32;
                self.tasks.add(&format!("acquire_many {n}"), async move {
                    semaphore.acquire_many(n).await.map(Permit::Borrowed)
                });
            }
            3 => {
                let n = choices.below(5) as u32;
                self.tasks
                    .add(&format!("acquire_many_owned {n}"), async move {
                        let acquired = semaphore.clone().acquire_many_owned(n).await;
                        acquired.map(Permit::Owned)
                    });
            }
            4..=8 => match self.tasks.poll(choices) {
                Some(Ok(permit)) => self.keep(permit),
                Some(Err(error)) => note!("{error:?}"),
                None => {}
            },
            9 => self.tasks.drop_one(choices),
            10 => {
                let n = choices.below(4) as u32;
                note!("try_acquire_many {n}");
                let acquired = semaphore.try_acquire_many(n).map(Permit::Borrowed);
                self.keep_tried(acquired);
            }
            11 => {
                note!("try_acquire_owned");
                let acquired = semaphore.clone().try_acquire_owned().map(Permit::Owned);
                self.keep_tried(acquired);
            }
            12 => {
                let n = choices.below(4);
                note!("add_permits {n}");
                semaphore.add_permits(n);
            }
            13 if self.is_settled() => {
                let n = choices.below(6);
                note!("forget_permits {n}: {}", semaphore.forget_permits(n));
            }
            14 | 15 => {
                if let Some(permit) = self.any_permit(choices) {
                    note!("drop a permit of {}", permit.count());
                }
            }
            16 => {
                if let Some(permit) = self.any_permit(choices) {
                    note!("forget a permit of {}", permit.count());
                    permit.forget();
                }
            }
            17 => self.split(choices),
            18 => self.merge(),
            _ if choices.once_in(6) => {
                note!("close");
                semaphore.close();
            }
            _ => {}
        }
    }

    fn keep(&mut self, permit: Permit<'a>) {
        note!("{} permits", permit.count());
        self.permits.push(permit);
    }

    fn keep_tried(&mut self, acquired: Result<Permit<'a>, TryAcquireError>) {
        match acquired {
            Ok(permit) => self.keep(permit),
            Err(error) => note!("{error:?}"),
        }
    }

    fn any_permit(&mut self, choices: &mut Choices<'_>) -> Option<Permit<'a>> {
        let count = self.permits.len();
        (count > 0).then(|| self.permits.swap_remove(choices.below(count)))
    }

    fn split(&mut self, choices: &mut Choices<'_>) {
        if let Some(mut permit) = self.any_permit(choices) {
            let n = choices.below(4);
            let count = permit.count();
            note!("split {n} of {count}");
            let part = permit.split(n);
            note!("{:?}", part.as_ref().map(Permit::count));
            self.permits.push(permit);
            self.permits.extend(part);
        }
    }

    fn merge(&mut self) {
        let Some(last) = self.permits.pop() else {
            return;
        };
        match (self.permits.last_mut(), last) {
            (Some(Permit::Borrowed(into)), Permit::Borrowed(permit)) => {
                into.merge(permit);
                note!("merge: {}", into.num_permits());
            }
            (Some(Permit::Owned(into)), Permit::Owned(permit)) => {
                into.merge(permit);
                note!("merge: {}", into.num_permits());
            }
            (_, permit) => self.permits.push(permit),
        }
    }

    /// Whether the permits of refused waiters are back: Raddle returns them when it closes, Tokio
    /// when the last refused future is dropped.
    fn is_settled(&self) -> bool {
        !self.semaphore.is_closed() || self.tasks.is_empty()
    }

    fn look(&mut self) {
        let semaphore = self.semaphore;
        if self.is_settled() {
            note!("| available {}", semaphore.available_permits());
        }
        note!(
            "| closed {} shared {}",
            semaphore.is_closed(),
            Arc::strong_count(semaphore)
        );
        self.tasks.end_step();
    }
}
