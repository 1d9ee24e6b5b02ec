//! `Mutex`: borrowed, owned and mapped guards, and waiters that are dropped.

use std::sync::Arc;

use raddle_proof::Choices;

use super::api::{MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard};
use crate::compare::Step;
use crate::record::{Value, note};
use crate::tasks::{Tasks, Wakers};

type Content = (Value, Value);

enum Guard<'a> {
    Borrowed(MutexGuard<'a, Content>),
    Mapped(MappedMutexGuard<'a, Value>),
    Owned(OwnedMutexGuard<Content>),
    OwnedMapped(OwnedMappedMutexGuard<Content, Value>),
}

pub(crate) fn run(program: &[Step]) {
    let mut mutex = Arc::new(Mutex::new((Value::next(), Value::next())));
    let wakers = run_on(&mutex, program);
    let alone = Arc::get_mut(&mut mutex).map(Mutex::get_mut);
    note!("{alone:?}");
    let content = Arc::into_inner(mutex).map(Mutex::into_inner);
    note!("{content:?}");
    wakers.end();
}

fn run_on(mutex: &Arc<Mutex<Content>>, program: &[Step]) -> Wakers {
    let mut tasks: Tasks<'_, Guard<'_>> = Tasks::new(5);
    let mut guard: Option<Guard<'_>> = None;
    for step in program {
        let choices = &mut Choices::new(step);
        match choices.below(14) {
            0 | 1 => tasks.add("lock", async { Guard::Borrowed(mutex.lock().await) }),
            2 => tasks.add("lock_owned", async {
                Guard::Owned(mutex.clone().lock_owned().await)
            }),
            3..=6 => {
                if let Some(locked) = tasks.poll(choices) {
                    if guard.is_some() {
                        note!("two guards at once");
                    }
                    guard = Some(locked);
                }
            }
            7 => tasks.drop_one(choices),
            8 => match mutex.try_lock() {
                Ok(locked) => {
                    note!("try_lock");
                    guard = Some(Guard::Borrowed(locked));
                }
                Err(error) => note!("try_lock {error:?}"),
            },
            9 => match mutex.clone().try_lock_owned() {
                Ok(locked) => {
                    note!("try_lock_owned");
                    guard = Some(Guard::Owned(locked));
                }
                Err(error) => note!("try_lock_owned {error:?}"),
            },
            10 => guard = guard.map(|guard| map(guard, choices)),
            11 => {
                note!("set");
                match &mut guard {
                    Some(Guard::Borrowed(guard)) => guard.0 = Value::next(),
                    Some(Guard::Mapped(guard)) => **guard = Value::next(),
                    Some(Guard::Owned(guard)) => guard.0 = Value::next(),
                    Some(Guard::OwnedMapped(guard)) => **guard = Value::next(),
                    None => {}
                }
            }
            _ => {
                note!("unlock");
                guard = None;
            }
        }
        match &guard {
            Some(Guard::Borrowed(guard)) => note!("| {guard:?}"),
            Some(Guard::Mapped(guard)) => note!("| {guard:?}"),
            Some(Guard::Owned(guard)) => note!("| {guard:?}"),
            Some(Guard::OwnedMapped(guard)) => note!("| {guard:?}"),
            None => note!("| {mutex:?}"),
        }
        note!("shared {}", Arc::strong_count(mutex));
        tasks.end_step();
    }
    drop(guard);
    tasks.end()
}

/// Maps a guard to one of the two values.
fn map<'a>(guard: Guard<'a>, choices: &mut Choices<'_>) -> Guard<'a> {
    let fails = choices.once_in(3);
    note!("map {}", !fails);
    match guard {
        Guard::Borrowed(guard) if fails => match MutexGuard::try_map(guard, |_| None::<&mut Value>)
        {
            Ok(mapped) => Guard::Mapped(mapped),
            Err(guard) => Guard::Borrowed(guard),
        },
        Guard::Borrowed(guard) => Guard::Mapped(MutexGuard::map(guard, |content| &mut content.1)),
        Guard::Mapped(guard) => Guard::Mapped(MappedMutexGuard::map(guard, |value| value)),
        Guard::Owned(guard) if fails => {
            match OwnedMutexGuard::try_map(guard, |_| None::<&mut Value>) {
                Ok(mapped) => Guard::OwnedMapped(mapped),
                Err(guard) => Guard::Owned(guard),
            }
        }
        Guard::Owned(guard) => {
            Guard::OwnedMapped(OwnedMutexGuard::map(guard, |content| &mut content.1))
        }
        Guard::OwnedMapped(guard) => {
            Guard::OwnedMapped(OwnedMappedMutexGuard::map(guard, |value| value))
        }
    }
}
