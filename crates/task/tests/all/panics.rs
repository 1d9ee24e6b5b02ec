//! Panics of the future, its drop and its output's, at every point of its life: where each ends,
//! and that nothing leaks. `docs/task-states.md` has the table.

use std::any::Any;
use std::future::Future;
use std::panic::{catch_unwind, panic_any};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use crate::common::{Count, Counted, Executor, Gate, join};
use raddle_task::JoinError;

/// Panics with `text` when it is dropped, if there is one.
#[derive(Debug)]
struct Bomb {
    text: Option<&'static str>,
    _counted: Counted,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if let Some(text) = self.text {
            panic_any(text);
        }
    }
}

/// A payload whose drop panics with a payload whose drop panics.
struct Payload(#[allow(dead_code, reason = "it is dropped")] Counted, u32);

impl Drop for Payload {
    fn drop(&mut self) {
        if let Some(left) = self.1.checked_sub(1) {
            panic_any(Payload(self.0.clone(), left));
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum PollPanic {
    None,
    Text,
    Payload,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// The first poll is ready, or panics.
    Complete,
    /// The task is idle and is aborted.
    Cancel,
    /// The runnable is dropped without a run.
    DropRunnable,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Handle {
    Joined,
    DroppedAfter,
    Detached,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    poll: PollPanic,
    future_drop: bool,
    output_drop: bool,
    end: End,
    handle: Handle,
}

struct Subject {
    case: Case,
    /// Dropped with the future, before the next field.
    bomb: Option<Bomb>,
    outputs: Count,
    payloads: Count,
    gate: Gate,
}

impl Future for Subject {
    type Output = Bomb;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Bomb> {
        if self.case.end == End::Cancel {
            assert!(Pin::new(&mut self.gate).poll(cx).is_pending());
            return Poll::Pending;
        }
        match self.case.poll {
            PollPanic::None => {}
            PollPanic::Text => panic_any("poll"),
            PollPanic::Payload => panic_any(Payload(self.payloads.one(), 1)),
        }
        Poll::Ready(Bomb {
            text: self.case.output_drop.then_some("output"),
            _counted: self.outputs.one(),
        })
    }
}

fn text(payload: &(dyn Any + Send)) -> Option<&'static str> {
    payload.downcast_ref::<&'static str>().copied()
}

/// Checks the output of the join handle.
fn check_output(case: Case, output: Result<Bomb, JoinError>) {
    let polled = case.end == End::Complete;
    match output {
        Ok(mut bomb) => {
            assert!(polled && case.poll == PollPanic::None && !case.future_drop);
            bomb.text = None;
        }
        Err(error) if error.is_cancelled() => assert!(!polled && !case.future_drop),
        Err(error) => {
            assert!(error.is_panic());
            if case.future_drop {
                assert_eq!(text(&*error.into_panic()), Some("future"));
            } else if case.poll == PollPanic::Text {
                assert_eq!(text(&*error.into_panic()), Some("poll"));
            } else {
                assert!(polled && case.poll == PollPanic::Payload);
                // The drop of the error drops the payload, and discards its panic.
                drop(error);
            }
        }
    }
}

fn run(case: Case) {
    let executor = Executor::new();
    let payloads = Count::default();
    let gate = Gate::default();
    let subject = Subject {
        case,
        bomb: Some(Bomb {
            text: case.future_drop.then_some("future"),
            _counted: executor.futures.one(),
        }),
        outputs: executor.outputs.clone(),
        payloads: payloads.clone(),
        gate: gate.clone(),
    };
    assert!(subject.bomb.is_some());
    let (task, handle) = executor.task(subject);
    let abort = handle.abort_handle();
    let mut handle = Some(handle);
    if case.handle == Handle::Detached {
        handle = None;
    }
    match case.end {
        End::Complete => drop(task.run()),
        End::Cancel => {
            drop(task.run());
            abort.abort();
            executor.run();
        }
        End::DropRunnable => drop(task),
    }
    assert!(abort.is_finished());
    drop(abort);
    // A panic counts as the task's only in a poll, or in the drop of the future after it was ready.
    let reported = match case.end {
        End::Complete => usize::from(case.poll != PollPanic::None) + usize::from(case.future_drop),
        End::Cancel | End::DropRunnable => 0,
    };
    assert_eq!(executor.panics.load(Ordering::Relaxed), reported);
    if let Some(handle) = handle {
        if case.handle == Handle::Joined {
            check_output(case, join(handle));
        } else {
            // A panic in the drop of the output does not reach the handle.
            drop(handle);
        }
    }
    drop(gate);
    executor.check();
    // The payload that the second drop panics with is leaked on purpose.
    let leaked = case.end == End::Complete && case.poll == PollPanic::Payload;
    assert_eq!(payloads.get(), usize::from(leaked));
}

/// tokio 3967, 4430, compio 901.
#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn each_combination_of_panics_has_its_expected_join_result_and_drops() {
    for poll in [PollPanic::None, PollPanic::Text, PollPanic::Payload] {
        for future_drop in [false, true] {
            for output_drop in [false, true] {
                for end in [End::Complete, End::Cancel, End::DropRunnable] {
                    for handle in [Handle::Joined, Handle::DroppedAfter, Handle::Detached] {
                        let case = Case {
                            poll,
                            future_drop,
                            output_drop,
                            end,
                            handle,
                        };
                        let ran = catch_unwind(|| run(case));
                        assert!(ran.is_ok(), "{case:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_join_error_contains_the_message_of_the_panic() {
    let executor = Executor::new();
    let handle = executor.spawn(async { panic!("{}", "no bread") });
    let id = handle.id();
    executor.run();
    let error = join::<()>(handle).unwrap_err();
    assert_eq!(error.id(), id);
    assert!(error.is_panic() && !error.is_cancelled());
    assert_eq!(
        error.to_string(),
        format!("task {id} panicked with message \"no bread\"")
    );
    assert!(format!("{error:?}").contains("no bread"));
    let payload = error.try_into_panic().unwrap();
    assert_eq!(*payload.downcast::<String>().unwrap(), "no bread");

    let handle = executor.spawn(async {});
    handle.abort();
    executor.run();
    let error = join(handle).unwrap_err().try_into_panic().unwrap_err();
    assert!(error.to_string().ends_with("was cancelled"));
    assert_eq!(
        std::io::Error::from(error).to_string(),
        "task was cancelled"
    );
}

#[test]
fn an_io_error_distinguishes_a_panic_from_a_cancellation() {
    let executor = Executor::new();
    let cancelled = executor.spawn(std::future::pending::<()>());
    cancelled.abort();
    let panicked = executor.spawn(async { std::panic::resume_unwind(Box::new(())) });
    executor.run();
    let message = |error: raddle_task::JoinError| std::io::Error::from(error).to_string();
    assert_eq!(message(join(cancelled).unwrap_err()), "task was cancelled");
    assert_eq!(message(join::<()>(panicked).unwrap_err()), "task panicked");
}

/// A payload whose own drop panics, and an output whose drop panics with it.
struct Twice(bool);

impl Drop for Twice {
    fn drop(&mut self) {
        if self.0 {
            panic_any(Twice(false));
        }
        panic!("the drop of a payload (expected by this test)");
    }
}

#[test]
fn a_payload_whose_drop_panics_ends_with_its_task() {
    let executor = Executor::new();
    drop(executor.spawn(async { Twice(true) }));
    let ran = catch_unwind(std::panic::AssertUnwindSafe(|| executor.run()));
    assert!(ran.is_ok());
    executor.check();
}
