//! Which task holds a lock, has the end of a channel, or is in a set.

use raddle_leaf::wait::{
    Caller, ChannelEnd, GuardKind, Holding, PollFrame, ResourceUser, Role, SetMember, boxed,
    enable, object_dropped, spawned, users,
};

/// Runs code as a task.
fn as_task<R>(task: u64, code: impl FnOnce() -> R) -> R {
    enable();
    let _ = PollFrame::begin(task, None);
    let result = code();
    PollFrame::resume(task).finish(|_| {});
    result
}

fn hold(address: usize, permits: usize, kind: GuardKind) -> Holding {
    Holding::new(address, permits, Caller::here(), kind)
}

fn tasks(address: usize) -> Vec<Option<u64>> {
    users(address).iter().map(ResourceUser::task).collect()
}

/// The words of a value, as a future that contains it would have them.
fn words<T>(value: &T) -> Vec<usize> {
    let words = size_of::<T>() / size_of::<usize>();
    let start = std::ptr::from_ref(value).cast::<usize>();
    // SAFETY: the types of these tests consist of whole words, which are initialised.
    (0..words)
        .map(|index| unsafe { start.add(index).read() })
        .collect()
}

/// The task that runs spawns another, whose future contains the value.
fn spawn_with<T>(task: u64, value: &T) {
    let words = words(value);
    spawned(task, |read| words.into_iter().for_each(read));
}

#[test]
fn all_holders_are_kept() {
    let mut guards: Vec<_> = (1..=1000)
        .map(|task| as_task(task, || hold(0x1_0000, 1, GuardKind::BORROWED)))
        .collect();
    assert_eq!(users(0x1_0000).len(), 1000);
    guards.remove(500).release();
    let tasks = tasks(0x1_0000);
    assert_eq!(tasks.len(), 999);
    assert!(
        !tasks.contains(&Some(501)),
        "each guard removes its own record"
    );
    guards.iter_mut().for_each(Holding::release);
    assert!(users(0x1_0000).is_empty());
}

#[test]
fn a_guard_that_another_task_drops_leaves_the_guards_of_that_task() {
    let mut first = as_task(1, || hold(0x2_0000, 1, GuardKind::OWNED));
    let _second = as_task(2, || hold(0x2_0000, 1, GuardKind::OWNED));
    as_task(2, || first.release());
    assert_eq!(tasks(0x2_0000), [Some(2)]);
    object_dropped(0x2_0000);
}

#[test]
fn permits_are_merged_and_split() {
    let permits = || -> Vec<_> { users(0x3_0000).iter().map(ResourceUser::permits).collect() };
    let mut first = as_task(1, || hold(0x3_0000, 4, GuardKind::BORROWED));
    let mut part = first.split(1);
    assert_eq!(permits(), [3, 1]);
    let mut second = as_task(2, || hold(0x3_0000, 5, GuardKind::BORROWED));
    second.merge(&mut first);
    assert_eq!(permits(), [1, 8]);
    assert_eq!(tasks(0x3_0000), [Some(1), Some(2)]);
    second.keep(2);
    assert_eq!(permits(), [1, 2]);
    part.release();
    second.release();
    first.release();
    assert!(permits().is_empty());
}

#[test]
fn a_forgotten_guard_does_not_hold_the_next_lock_at_its_address() {
    let _forgotten = as_task(1, || hold(0x4_0000, 1, GuardKind::BORROWED));
    assert_eq!(tasks(0x4_0000), [Some(1)], "the lock stays locked");
    object_dropped(0x4_0000);
    assert!(users(0x4_0000).is_empty());

    // A lock that was moved is dropped at another address.
    let _forgotten = as_task(1, || hold(0x4_0000, 1, GuardKind::BORROWED));
    let mut guard = as_task(2, || hold(0x4_0000, 1, GuardKind::BORROWED_ALONE));
    assert_eq!(tasks(0x4_0000), [Some(2)]);
    guard.release();
}

#[test]
fn an_end_that_several_tasks_use_has_no_known_task() {
    let end = as_task(1, || ChannelEnd::new(0x5_0000, Role::Sender));
    assert_eq!(tasks(0x5_0000), [None], "unused");
    as_task(1, || end.used(None));
    as_task(1, || end.used(None));
    assert_eq!(tasks(0x5_0000), [Some(1)]);
    as_task(2, || end.used(None));
    as_task(2, || end.used(None));
    assert_eq!(tasks(0x5_0000), [None]);
    let outside = ChannelEnd::new(0x5_0000, Role::Sender);
    outside.used(None);
    drop(end);
    assert_eq!(tasks(0x5_0000), [None]);
    drop(outside);
    assert!(users(0x5_0000).is_empty());
}

#[test]
fn an_end_belongs_to_the_task_that_is_spawned_with_it() {
    let ends = as_task(1, || {
        let ends = [
            ChannelEnd::new(0x6_0000, Role::Sender),
            ChannelEnd::new(0x6_0040, Role::Receiver),
        ];
        ends[1].used(None);
        spawn_with(2, &ends);
        ends
    });
    assert_eq!(
        (tasks(0x6_0000), tasks(0x6_0040)),
        (vec![Some(2)], vec![Some(2)])
    );
    assert!(users(0x6_0000)[0].is_captured());
    // The words are still in the memory of the first task, which does not have the ends any more.
    as_task(1, || spawn_with(3, &ends));
    assert_eq!(tasks(0x6_0000), [Some(2)]);
    as_task(2, || spawn_with(4, &ends));
    assert_eq!(tasks(0x6_0000), [Some(4)]);
    as_task(4, || ends[0].used(None));
    assert_eq!(tasks(0x6_0000), [Some(4)]);
}

#[test]
fn a_guard_belongs_to_the_task_whose_box_has_it() {
    let mut guard = as_task(1, || {
        let guard = hold(0x7_0000, 1, GuardKind::OWNED);
        boxed(0x7000_0000, |read| words(&guard).into_iter().for_each(read));
        boxed(0x7000_1000, |read| read(0x7000_0000));
        spawn_with(2, &[1_usize, 0x7000_1000, 2]);
        guard
    });
    assert_eq!(tasks(0x7_0000), [Some(2)]);
    guard.release();
}

#[test]
fn words_that_only_look_like_a_guard_are_ignored() {
    let _guard = as_task(1, || hold(0x8_0000, 1, GuardKind::OWNED));
    let number = words(&_guard)[0];
    as_task(1, || spawn_with(2, &[number, 0x9_0000]));
    as_task(1, || spawn_with(2, &[number + 1000, 0x8_0000]));
    as_task(1, || spawn_with(2, &[number]));
    assert_eq!(tasks(0x8_0000), [Some(1)]);
    object_dropped(0x8_0000);
}

#[test]
fn a_set_has_its_members() {
    enable();
    let members: Vec<_> = (1..=100)
        .map(|task| SetMember::new(0xa_0000, task))
        .collect();
    assert_eq!(tasks(0xa_0000).len(), 100);
    drop(members);
    assert!(users(0xa_0000).is_empty());
}
