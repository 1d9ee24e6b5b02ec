//! When task hooks run, for which task, and what happens if they panic.

use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::common::{OnDrop, POLICIES, Signal, config_of, wait_until};
use raddle_primitives::sync::Mutex;
use raddle_sched::{
    Config, CurrentThread, Policy, Pool, Step, TaskHook, TaskHooks, TaskMeta, spawn, yield_now,
};
use raddle_task::Id;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Spawn,
    Before,
    Poll,
    After,
    Terminate,
}
use Event::{After, Before, Poll, Spawn, Terminate};

/// The events, each with the task and the line of its spawn.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Entry>>>);

type Entry = (Event, Option<Id>, u32);

impl Log {
    fn hook(&self, event: Event) -> Option<TaskHook> {
        let log = self.clone();
        Some(Arc::new(move |task: &TaskMeta<'_>| {
            assert!(task.spawned_at().file().ends_with("task_hooks.rs"));
            assert_eq!(raddle_task::try_id(), None);
            let line = task.spawned_at().line();
            log.0.lock().push((event, Some(task.id()), line));
        }))
    }

    fn hooks(&self) -> TaskHooks {
        TaskHooks {
            on_spawn: self.hook(Spawn),
            on_terminate: self.hook(Terminate),
            before_poll: self.hook(Before),
            after_poll: self.hook(After),
        }
    }

    fn polled(&self) {
        self.0.lock().push((Poll, None, 0));
    }

    /// Returns the events since the last call, and checks that all belong to `id`, spawned on
    /// `line`.
    fn take(&self, id: Id, line: u32) -> Vec<Event> {
        let events = std::mem::take(&mut *self.0.lock());
        for (event, of, at) in &events {
            assert!(
                *event == Poll || (*of, *at) == (Some(id), line),
                "{events:?}"
            );
        }
        events.into_iter().map(|(event, ..)| event).collect()
    }
}

fn with_hooks(policy: Policy, workers: usize, task_hooks: TaskHooks) -> Config {
    Config {
        task_hooks,
        ..config_of(policy, workers)
    }
}

#[test]
fn each_event_of_a_task_calls_its_hook() {
    for policy in POLICIES {
        let log = Log::default();
        let (handle, mut workers) = Pool::stepped(with_hooks(policy, 1, log.hooks()), None);
        let _current = handle.enter();
        let theirs = log.clone();
        let future = async move {
            theirs.polled();
            yield_now().await;
            theirs.polled();
        };
        let (task, line) = (handle.spawn(future), line!());
        assert_eq!(log.take(task.id(), line), [Spawn]);
        assert_eq!(workers[0].step(), Step::Ran);
        assert_eq!(log.take(task.id(), line), [Before, Poll, After]);
        assert_eq!(workers[0].step(), Step::Ran);
        assert_eq!(log.take(task.id(), line), [Before, Poll, After, Terminate]);
        handle.block_on(task).unwrap();
    }
}

#[test]
fn a_task_that_panics_has_been_polled_and_ends() {
    for policy in POLICIES {
        let log = Log::default();
        let (handle, mut workers) = Pool::stepped(with_hooks(policy, 1, log.hooks()), None);
        let _current = handle.enter();
        let future = async { panic!("a task panics on purpose") };
        let (task, line) = (handle.spawn(future), line!());
        assert_eq!(workers[0].step(), Step::Ran);
        assert_eq!(log.take(task.id(), line), [Spawn, Before, After, Terminate]);
    }
}

#[test]
fn a_task_that_is_aborted_ends() {
    for policy in POLICIES {
        let log = Log::default();
        let (handle, mut workers) = Pool::stepped(with_hooks(policy, 1, log.hooks()), None);
        let _current = handle.enter();
        let (task, line) = (handle.spawn(pending::<()>()), line!());
        assert_eq!(workers[0].step(), Step::Ran);
        assert_eq!(log.take(task.id(), line), [Spawn, Before, After]);
        task.abort();
        assert_eq!(workers[0].step(), Step::Ran);
        assert_eq!(log.take(task.id(), line), [Before, After, Terminate]);
    }
}

#[test]
fn shutdown_calls_the_end_hook_of_each_task() {
    for policy in POLICIES {
        let log = Log::default();
        let (handle, mut workers) = Pool::stepped(with_hooks(policy, 1, log.hooks()), None);
        let _current = handle.enter();
        let (task, line) = (handle.spawn(pending::<()>()), line!());
        assert_eq!(workers[0].step(), Step::Ran);
        drop(workers);
        assert_eq!(log.take(task.id(), line), [Spawn, Before, After, Terminate]);
        let (late, line) = (handle.spawn(pending::<()>()), line!());
        assert_eq!(log.take(late.id(), line), [Spawn, Terminate]);
    }
}

#[test]
fn a_task_spawned_by_a_drop_during_shutdown_ends_at_once() {
    for policy in POLICIES {
        let ended = Arc::new(Mutex::new(Vec::new()));
        let log = ended.clone();
        let hooks = TaskHooks {
            on_terminate: Some(Arc::new(move |task| log.lock().push(task.id()))),
            ..TaskHooks::default()
        };
        let (handle, mut workers) = Pool::stepped(with_hooks(policy, 1, hooks), None);
        let _current = handle.enter();
        let late = Arc::new(Mutex::new(None));
        let spawned = late.clone();
        let guard = OnDrop(move || *spawned.lock() = Some(spawn(pending::<()>())));
        let task = handle.spawn(async move {
            let _guard = guard;
            pending::<()>().await;
        });
        assert_eq!(workers[0].step(), Step::Ran);
        drop(workers);
        let late = late.lock().take().unwrap();
        assert_eq!(*ended.lock(), [late.id(), task.id()], "{policy:?}");
        assert!(handle.block_on(late).unwrap_err().is_cancelled());
    }
}

/// The location is that of the spawn call, on a worker and outside.
#[test]
fn hooks_see_where_a_task_was_spawned() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let seen = lines.clone();
    let hooks = TaskHooks {
        on_spawn: Some(Arc::new(move |task| {
            seen.lock().push(task.spawned_at().line());
        })),
        ..TaskHooks::default()
    };
    let scheduler = CurrentThread::new(with_hooks(Policy::default(), 1, hooks), None);
    let outer = line!() + 1;
    let task = scheduler.handle().spawn(async {
        drop(spawn(ready(())));
        drop(raddle_sched::Handle::current().spawn(ready(())));
    });
    scheduler.block_on(task).unwrap();
    assert_eq!(*lines.lock(), [outer, outer + 1, outer + 2]);
}

#[test]
fn a_hook_may_spawn() {
    for policy in POLICIES {
        let left = Arc::new(AtomicUsize::new(3));
        let ended = Arc::new(AtomicUsize::new(0));
        let counted = ended.clone();
        let hooks = TaskHooks {
            on_terminate: Some(Arc::new(move |_| {
                counted.fetch_add(1, SeqCst);
                if left
                    .fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1))
                    .is_ok()
                {
                    drop(spawn(ready(())));
                }
            })),
            ..TaskHooks::default()
        };
        let pool = Pool::start(with_hooks(policy, 2, hooks), None).unwrap();
        drop(pool.handle().spawn(ready(())));
        wait_until(|| ended.load(SeqCst) == 4 && pool.handle().metrics().alive_tasks() == 0);
    }
}

/// A hook that runs for a spawn from outside may also do it.
#[test]
fn a_hook_may_enter_a_scheduler() {
    for policy in POLICIES {
        let other = CurrentThread::new(Config::default(), None);
        let (handle, entered) = (other.handle().clone(), Arc::new(AtomicUsize::new(0)));
        let counted = entered.clone();
        let hooks = TaskHooks {
            on_spawn: Some(Arc::new(move |_| {
                let _other = handle.enter();
                counted.fetch_add(1, SeqCst);
            })),
            ..TaskHooks::default()
        };
        let pool = Pool::start(with_hooks(policy, 1, hooks), None).unwrap();
        let _current = pool.handle().enter();
        let task = spawn(async { spawn(ready(7)).await.unwrap() });
        assert_eq!(pool.handle().block_on(task).unwrap(), 7);
        assert_eq!(entered.load(SeqCst), 2);
    }
}

/// A panic payload whose drop panics.
struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        std::panic::resume_unwind(Box::new("a payload's drop panics on purpose"));
    }
}

/// Each hook in turn panics at every call. Tasks, workers and spawning threads are not affected.
#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_panic_of_a_hook_affects_neither_task_nor_worker() {
    for policy in POLICIES {
        for hook_index in 0..4 {
            let calls = Arc::new(AtomicUsize::new(0));
            let counted = calls.clone();
            let hook: Option<TaskHook> = Some(Arc::new(move |_: &TaskMeta<'_>| {
                counted.fetch_add(1, SeqCst);
                // Unlike `panic!`, this prints nothing.
                std::panic::resume_unwind(Box::new(PanicsOnDrop));
            }));
            let mut hooks = TaskHooks::default();
            match hook_index {
                0 => hooks.on_spawn = hook,
                1 => hooks.before_poll = hook,
                2 => hooks.after_poll = hook,
                _ => hooks.on_terminate = hook,
            }
            let pool = Pool::start(with_hooks(policy, 2, hooks.clone()), None).unwrap();
            let metrics = pool.handle().metrics();
            let signal = Signal::default();
            let theirs = signal.clone();
            let task = pool.handle().spawn(async move {
                let inner = spawn(async { 7 });
                theirs.await;
                inner.await.unwrap()
            });
            wait_until(|| signal.polls() == 1);
            signal.set();
            assert_eq!(pool.handle().block_on(task).unwrap(), 7);
            wait_until(|| metrics.alive_tasks() == 0);
            let forever = pool.handle().spawn(pending::<()>());
            wait_until(|| {
                (0..2)
                    .map(|worker| metrics.worker(worker).polls)
                    .sum::<u64>()
                    >= 4
            });
            drop(pool);
            assert!(forever.is_finished());
            assert!(calls.load(SeqCst) >= 3, "hook {hook_index}");

            let scheduler = CurrentThread::new(with_hooks(Policy::default(), 1, hooks), None);
            let task = scheduler.handle().spawn(async { spawn(async { 7 }).await });
            assert_eq!(scheduler.block_on(task).unwrap().unwrap(), 7);
        }
    }
}
