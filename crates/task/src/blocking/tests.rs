//! Tests of blocking tasks that are accepted, refused and dropped.

use std::sync::mpsc::channel;

use super::*;

fn poll<T>(handle: &mut JoinHandle<T>) -> Poll<Result<T, crate::JoinError>> {
    pin!(handle).poll(&mut Context::from_waker(Waker::noop()))
}

fn run(task: BlockingTask) -> Result<(), SubmitError> {
    drop(task.into_runnable().run());
    Ok(())
}

fn no_thread(task: BlockingTask) -> Result<(), SubmitError> {
    Err(SubmitError::no_thread(
        task.into_runnable(),
        "no thread".to_owned(),
    ))
}

fn shut_down(task: BlockingTask) -> Result<(), SubmitError> {
    Err(SubmitError::shut_down(
        task.into_runnable(),
        "shut down".to_owned(),
    ))
}

#[test]
fn a_task_that_is_run_returns_its_output() {
    let mut handle = spawn(|| 6 * 7, run);
    assert!(matches!(poll(&mut handle), Poll::Ready(Ok(42))));
    let mut handle = try_spawn(|taken| taken.is_ok(), true, run).unwrap();
    assert!(matches!(poll(&mut handle), Poll::Ready(Ok(true))));
}

#[test]
fn a_refused_task_carries_the_reason() {
    let (runnable, _handle) = crate::spawn(async {}, drop::<Runnable>);
    let refused = SubmitError::no_runtime(runnable, "enter one first".to_owned());
    assert!(refused.is_no_runtime() && !refused.is_no_thread());
    assert_eq!(refused.to_string(), "enter one first");
    let refused = SubmitError::shut_down(refused.into_runnable(), "closed".to_owned());
    assert!(!refused.is_no_runtime() && !refused.is_no_thread());
    let refused = SubmitError::no_thread(refused.into_runnable(), "closed".to_owned());
    assert!(!refused.is_no_runtime() && refused.is_no_thread());
}

#[test]
fn a_task_without_a_thread_ends_with_the_reason() {
    let mut handle = spawn(|| panic!("is not called"), no_thread);
    let Poll::Ready(Err(error)) = poll::<()>(&mut handle) else {
        panic!("it has ended");
    };
    assert_eq!(
        *error.into_panic().downcast::<String>().unwrap(),
        "no thread"
    );
}

#[test]
fn a_task_after_the_shutdown_is_cancelled() {
    let mut handle = spawn(|| (), shut_down);
    let Poll::Ready(Err(error)) = poll(&mut handle) else {
        panic!("it has ended");
    };
    assert!(error.is_cancelled());
}

#[test]
fn a_refused_closure_returns_what_it_owns() {
    for (refuse, after_shutdown) in [(no_thread as Submit, false), (shut_down, true)] {
        let owned = String::from("owned");
        let given_back = try_spawn(|taken| (taken.unwrap_err(), owned), true, refuse);
        let (reason, owned) = given_back.unwrap_err();
        assert_eq!(is_shut_down(&reason), after_shutdown);
        let text = match after_shutdown {
            true => "the runtime has shut down; keep it alive while its handles are used",
            false => "no thread",
        };
        assert_eq!(reason.to_string(), text);
        assert_eq!(owned, "owned");
    }
}

/// The reason of one call does not reach the next.
#[test]
fn a_task_after_a_refused_one_is_accepted() {
    try_spawn(|taken| taken, false, no_thread)
        .unwrap_err()
        .unwrap_err();
    let mut handle = try_spawn(|taken| taken.is_ok(), false, run).unwrap();
    assert!(matches!(poll(&mut handle), Poll::Ready(Ok(true))));
}

#[test]
fn a_panic_of_a_refused_closure_propagates_to_the_caller() {
    let caught = panic::catch_unwind(|| {
        let panics = |_| panic::resume_unwind(Box::new("expected by this test"));
        try_spawn::<_, ()>(panics, false, no_thread)
    });
    let payload = caught.unwrap_err();
    assert_eq!(
        *payload.downcast::<&str>().unwrap(),
        "expected by this test"
    );
}

#[test]
fn a_dropped_task_drops_its_closure() {
    let (sender, receiver) = channel::<()>();
    let handle = spawn(
        move || drop(sender),
        |task| {
            drop(task);
            Ok(())
        },
    );
    receiver.recv().unwrap_err();
    assert!(handle.is_finished());
}

#[test]
fn a_blocking_task_reports_its_closure_and_location() {
    let size = [0_u8; 24];
    let line = line!() + 1;
    drop(spawn(
        move || size,
        |task| {
            assert_eq!(task.closure().size(), 24);
            assert!(
                task.closure()
                    .type_name()
                    .contains("a_blocking_task_reports_its_closure_and_location")
            );
            assert_eq!(task.spawned_at().line(), line);
            assert!(!task.is_mandatory());
            drop(task);
            Ok(())
        },
    ));
    drop(try_spawn(
        |_| (),
        true,
        |task| {
            assert!(task.is_mandatory());
            run(task)
        },
    ));
}

/// The only test that sets the function, which is global to the process.
#[test]
fn the_first_submit_function_that_is_set_stays() {
    let refused = try_spawn(|taken| taken.unwrap_err().to_string(), false, submit);
    assert!(refused.unwrap_err().contains("no runtime"));
    set_submit(run);
    set_submit(shut_down);
    let mut handle = try_spawn(|taken| taken.is_ok(), false, submit).unwrap();
    assert!(matches!(poll(&mut handle), Poll::Ready(Ok(true))));
}
