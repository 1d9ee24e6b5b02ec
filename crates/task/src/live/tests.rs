use super::*;

/// Returns whether a thread with this list finds that the task may be aborted by another's.
fn is_elsewhere(task: &Runnable, live: Option<&LiveList>) -> bool {
    // SAFETY: `task` is the runnable.
    unsafe { ListMembership::of(task.header(), live) }.is_elsewhere()
}

#[test]
fn a_task_is_elsewhere_for_every_thread_except_that_of_its_list() {
    let (task, _handle) = crate::spawn(async {}, drop::<Runnable>);
    let (here, other) = (LiveList::new(), LiveList::new());
    assert!(!is_elsewhere(&task, None) && !is_elsewhere(&task, Some(&other)));
    here.adopt(&task);
    assert!(!is_elsewhere(&task, Some(&here)));
    assert!(is_elsewhere(&task, Some(&other)) && is_elsewhere(&task, None));
    assert!(matches!(task.run_in(&here), crate::Outcome::Complete));
}
