//! A set of tasks, joined in the order in which they end.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use raddle_wait::Resource;
use slab::Slab;

use crate::{AbortHandle, Id, JoinError, JoinHandle, ReadyList};

/// The number of pending members that a poll looks at before it lets others run.
const LOOKS: usize = 128;

/// Tasks of one output type that are joined in the order in which they end.
///
/// Dropping the set aborts the tasks in it.
///
/// Each task is looked at once after it was spawned and once when it has
/// ended, however many others there are.
///
/// ```
/// use std::pin::pin;
/// use raddle_task::{JoinSet, Runnable};
///
/// let mut set = JoinSet::new();
/// for i in 0..10 {
///     let (task, handle) = raddle_task::spawn(async move { i }, |task: Runnable| drop(task));
///     set.insert(handle);
///     drop(task.run());
/// }
/// let mut outputs = pin!(set.join_all());
/// let outputs: Vec<i32> = raddle_primitives::thread::block_on(|cx| outputs.as_mut().poll(cx));
/// assert_eq!(outputs.iter().sum::<i32>(), 45);
/// ```
pub struct JoinSet<T> {
    members: Slab<Member<T>>,
    /// The members to look at: just spawned, or ended.
    ready: Arc<ReadyList>,
}

struct Member<T> {
    handle: JoinHandle<T>,
    /// Lists the member as one to look at.
    waker: Waker,
}

impl<T> JoinSet<T> {
    /// Makes an empty set.
    pub fn new() -> Self {
        Self {
            members: Slab::new(),
            ready: Arc::default(),
        }
    }

    /// Returns the number of tasks in the set.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns whether no task is in the set.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

impl<T: 'static> JoinSet<T> {
    /// Puts a task into the set.
    pub fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        let abort = handle.abort_handle();
        let entry = self.members.vacant_entry();
        let key = entry.key();
        let waker = self.ready.waker(key);
        entry.insert(Member { handle, waker });
        self.ready.push(key);
        abort
    }

    /// Waits for the next task to end, takes it out of the set and gives its
    /// output. `None` if the set is empty.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a task is taken out only when its output is given.
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        poll_fn(|cx| self.poll_join_next(cx)).await
    }

    /// Like [`join_next`](Self::join_next), but also returns the id of the task. An error has it
    /// too: [`JoinError::id`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a task is taken out only when its output is given.
    pub async fn join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        poll_fn(|cx| self.poll_join_next_with_id(cx)).await
    }

    /// Takes a task that has ended out of the set and gives its output. `None`
    /// if there is none, or the set is empty.
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_join_next_with_id().map(without_id)
    }

    /// Like [`try_join_next`](Self::try_join_next), but also returns the id of the task.
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        for _ in 0..self.ready.len() {
            let key = self.ready.pop()?;
            // A budget of its own: what has ended is to be seen even by a task
            // that has used its budget up.
            if let Poll::Ready(output) = raddle_coop::budget(|| self.poll_member(key)) {
                return Some(output);
            }
        }
        None
    }

    /// Polls for the next task to end and takes it out of the set.
    ///
    /// `Ready(None)` if the set is empty. If `Pending`, the waker of the last
    /// call is woken when a task ends.
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_join_next_with_id(cx)
            .map(|output| output.map(without_id))
    }

    /// Like [`poll_join_next`](Self::poll_join_next), but also returns the id of the task.
    pub fn poll_join_next_with_id(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        if self.is_empty() {
            return Poll::Ready(None);
        }
        // Bounded, for a member whose poll finds the budget used up lists
        // itself again.
        for _ in 0..LOOKS {
            let Some(key) = self.ready.pop_or_wait(cx) else {
                raddle_wait::note(cx, "JoinSet", None, Resource::Unknown);
                return Poll::Pending;
            };
            if let Poll::Ready(output) = self.poll_member(key) {
                return Poll::Ready(Some(output));
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Polls a member, and removes it if it has ended.
    fn poll_member(&mut self, key: usize) -> Poll<Result<(Id, T), JoinError>> {
        let Some(member) = self.members.get_mut(key) else {
            return Poll::Pending;
        };
        let id = member.handle.id();
        let mut cx = Context::from_waker(&member.waker);
        let output = Pin::new(&mut member.handle).poll(&mut cx);
        if output.is_ready() {
            self.members.remove(key);
        }
        output.map_ok(|output| (id, output))
    }

    /// Waits for all tasks and gives their outputs in the order in which they
    /// ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future is dropping the set: what has not ended is aborted.
    ///
    /// # Panics
    ///
    /// Panics if a task panicked, with its payload, or was aborted. The others are aborted then.
    pub async fn join_all(mut self) -> Vec<T> {
        let mut outputs = Vec::with_capacity(self.len());
        while let Some(output) = self.join_next().await {
            match output {
                Ok(output) => outputs.push(output),
                Err(error) => match error.try_into_panic() {
                    Ok(payload) => panic::resume_unwind(payload),
                    Err(error) => panic!("a task of the set was aborted: {error}"),
                },
            }
        }
        outputs
    }

    /// Aborts all tasks and waits for them to be gone; the set is empty then.
    /// Outputs and panics are dropped.
    ///
    /// # Cancel safety
    ///
    /// Once polled, all tasks are aborted. Those that are not gone when the
    /// future is dropped stay in the set.
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// Aborts all tasks. They stay in the set until they are joined.
    pub fn abort_all(&mut self) {
        for (_, member) in &self.members {
            member.handle.abort();
        }
    }

    /// Takes all tasks out of the set without aborting them: they run on.
    pub fn detach_all(&mut self) {
        self.members.clear();
        self.ready.clear();
    }
}

fn without_id<T>(output: Result<(Id, T), JoinError>) -> Result<T, JoinError> {
    output.map(|(_, output)| output)
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        for (_, member) in &self.members {
            member.handle.abort();
        }
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}
