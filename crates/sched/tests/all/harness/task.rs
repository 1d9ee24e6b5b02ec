//! The tasks of a run, and the random actions of tasks, hooks and the code outside.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use raddle_sched::{Handle, Policy, spawn};
use raddle_task::{JoinError, JoinHandle};

use super::world::{End, Event, TaskId, World};

/// A task completes after this many polls.
const MAX_POLLS: usize = 20;
const MAX_WAKERS: usize = 16;
const MAX_TIMER: usize = 20_000;

/// The counted output of a task.
pub(crate) struct Output(World);

impl Output {
    fn new(world: World) -> Self {
        world.with(|state| state.outputs += 1);
        Self(world)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.0.with(|state| state.outputs -= 1);
    }
}

/// The future of a task, which acts at random at each poll.
struct Body {
    world: World,
    id: TaskId,
    joining: Option<(TaskId, JoinHandle<Output>)>,
}

impl Future for Body {
    type Output = Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        let (world, id) = (self.world.clone(), self.id);
        world.with(|state| state.begin_poll(id));
        self.poll_joined(cx);
        for _ in 0..world.below(3) {
            act(&world);
        }
        let polls = world.with(|state| state.tasks[id].polls);
        let choice = match polls < MAX_POLLS {
            true => world.below(16),
            false => 0,
        };
        match choice {
            0 => {
                let output = Output::new(world.clone());
                world.with(|state| state.end_poll(id, Some(End::Ready)));
                return Poll::Ready(output);
            }
            1 if world.one_in(4) => {
                world.with(|state| state.end_poll(id, Some(End::Panicked)));
                // `resume_unwind` does not call the panic hook, which would print a message.
                std::panic::resume_unwind(Box::new(()));
            }
            2..=4 => world.wake(id, || cx.waker().wake_by_ref()),
            5 => {
                let waker = cx.waker().clone();
                world.wake(id, || waker.wake());
            }
            6 | 7 if self.joining.is_none() => {
                self.joining = take_handle(&world);
                self.poll_joined(cx);
            }
            8 => start_timer(&world, id, cx.waker().clone()),
            _ => {
                let waker = cx.waker().clone();
                keep_waker(&world, id, waker);
            }
        }
        world.with(|state| state.end_poll(id, None));
        Poll::Pending
    }
}

impl Body {
    fn poll_joined(&mut self, cx: &mut Context<'_>) {
        if let Some((task, handle)) = &mut self.joining {
            match Pin::new(handle).poll(cx) {
                Poll::Ready(result) => {
                    self.world
                        .with(|state| state.joined(*task, outcome_of(&result)));
                    self.joining = None;
                }
                Poll::Pending => {
                    self.world
                        .with(|state| state.tasks[*task].joiner = Some(self.id));
                }
            }
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        let (world, id) = (self.world.clone(), self.id);
        world.with(|state| {
            state.dropped(id);
            if let Some((task, _)) = &self.joining {
                state.tasks[*task].joiner = None;
            }
        });
        if world.one_in(4) {
            act(&world);
        }
        // The completion wakes the task that awaits this one, as soon as this drop returns.
        world.with(|state| {
            if let Some(joiner) = state.tasks[id].joiner.take() {
                state.wake(Event::Wake, joiner);
            }
        });
    }
}

/// How a task ended, according to its join.
pub(crate) fn outcome_of(result: &Result<Output, JoinError>) -> End {
    match result {
        Ok(_) => End::Ready,
        Err(error) if error.is_panic() => End::Panicked,
        Err(_) => End::Cancelled,
    }
}

/// Does one random thing, in a task or from outside.
pub(crate) fn act(world: &World) {
    match world.below(12) {
        0..=2 => spawn_task(world),
        3 | 4 => wake_kept(world),
        5 => {
            if let Some((task, waker)) = take_waker(world) {
                keep_waker(world, task, waker.clone());
                keep_waker(world, task, waker);
            }
        }
        6 => drop(take_waker(world)),
        7 => abort(world),
        8 => {
            if let Some((task, handle)) = take_handle(world) {
                world.with(|state| state.note(Event::Detach, task));
                drop(handle);
            }
        }
        9 | 10 => {
            if let Some((task, waker)) = take_waker(world) {
                world.with(|state| {
                    state.note(Event::Raise, task);
                    let now = state.now;
                    let driver = state.rng.below(state.drivers.len());
                    state.drivers[driver].due.push((now, task, waker));
                });
            }
        }
        _ => {
            if let Some((task, waker)) = take_waker(world) {
                start_timer(world, task, waker);
            }
        }
    }
}

pub(crate) fn spawn_task(world: &World) {
    let Some((id, shard)) = world.with(|state| {
        if state.tasks.len() >= state.max_tasks {
            return None;
        }
        let sent_to = match state.policy == Policy::Sharded && state.rng.below(2) == 0 {
            true => Some(state.rng.below(state.drivers.len())),
            false => None,
        };
        let shard = sent_to.unwrap_or_else(|| state.next_shard());
        Some((state.add_task(shard), sent_to))
    }) else {
        return;
    };
    let body = Body {
        world: world.clone(),
        id,
        joining: None,
    };
    let handle = match shard {
        Some(shard) => Handle::current().spawn_on(shard, move || body),
        None if world.one_in(2) => spawn(body),
        None => Handle::current().spawn(body),
    };
    if world.one_in(4) {
        let abort = handle.abort_handle();
        world.with(|state| state.aborts.push((id, abort)));
    }
    if !world.one_in(3) {
        world.with(|state| state.handles.push((id, handle)));
    }
}

fn wake_kept(world: &World) {
    if world.one_in(2) {
        if let Some((task, waker)) = take_waker(world) {
            world.wake(task, || waker.wake());
        }
    } else if let Some((task, waker)) = take_waker(world) {
        world.wake(task, || waker.wake_by_ref());
        keep_waker(world, task, waker);
    }
}

fn abort(world: &World) {
    if world.one_in(2) {
        if let Some((task, handle)) = take_handle(world) {
            world.with(|state| state.abort(task));
            handle.abort();
            world.with(|state| state.handles.push((task, handle)));
        }
    } else if let Some((task, handle)) = world.with(|state| {
        let index = state.rng.pick(&state.aborts)?;
        Some(state.aborts.swap_remove(index))
    }) {
        world.with(|state| state.abort(task));
        handle.abort();
    }
}

fn start_timer(world: &World, task: TaskId, waker: Waker) {
    world.with(|state| {
        state.note(Event::Timer, task);
        let deadline = state.now + state.rng.below(MAX_TIMER) as u64;
        let driver = state.rng.below(state.drivers.len());
        state.drivers[driver].timers.push((deadline, task, waker));
    });
}

pub(crate) fn take_handle(world: &World) -> Option<(TaskId, JoinHandle<Output>)> {
    world.with(|state| {
        let index = state.rng.pick(&state.handles)?;
        Some(state.handles.swap_remove(index))
    })
}

fn take_waker(world: &World) -> Option<(TaskId, Waker)> {
    world.with(|state| {
        let index = state.rng.pick(&state.wakers)?;
        Some(state.wakers.swap_remove(index))
    })
}

/// Keeps a waker. If there are many, drops another one.
fn keep_waker(world: &World, task: TaskId, waker: Waker) {
    let other = match world.with(|state| state.wakers.len()) < MAX_WAKERS {
        true => None,
        false => take_waker(world),
    };
    world.with(|state| state.wakers.push((task, waker)));
    drop(other);
}
