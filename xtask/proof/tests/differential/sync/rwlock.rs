//! `RwLock`: readers and writers that queue, and guards that are downgraded and mapped.

use std::sync::Arc;

use raddle_proof::Choices;

use super::api::{
    OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockMappedWriteGuard, RwLockReadGuard,
    RwLockWriteGuard, TryLockError,
};
use crate::compare::Step;
use crate::record::{Value, note};
use crate::tasks::{Tasks, Wakers};

enum Guard<'a> {
    Read(RwLockReadGuard<'a, Value>),
    Write(RwLockWriteGuard<'a, Value>),
    Mapped(RwLockMappedWriteGuard<'a, Value>),
    OwnedRead(OwnedRwLockReadGuard<Value>),
    OwnedWrite(OwnedRwLockWriteGuard<Value>),
}

impl Guard<'_> {
    fn value(&self) -> &Value {
        match self {
            Self::Read(guard) => guard,
            Self::Write(guard) => guard,
            Self::Mapped(guard) => guard,
            Self::OwnedRead(guard) => guard,
            Self::OwnedWrite(guard) => guard,
        }
    }

    fn set(&mut self) {
        match self {
            Self::Read(_) | Self::OwnedRead(_) => {}
            Self::Write(guard) => **guard = Value::next(),
            Self::Mapped(guard) => **guard = Value::next(),
            Self::OwnedWrite(guard) => **guard = Value::next(),
        }
    }

    fn downgrade(self) -> Self {
        match self {
            Self::Write(guard) => Self::Read(guard.downgrade()),
            Self::OwnedWrite(guard) => Self::OwnedRead(guard.downgrade()),
            other => other,
        }
    }

    fn map(self) -> Self {
        match self {
            Self::Read(guard) => Self::Read(RwLockReadGuard::map(guard, |value| value)),
            Self::Write(guard) => Self::Mapped(RwLockWriteGuard::map(guard, |value| value)),
            Self::Mapped(guard) => Self::Mapped(RwLockMappedWriteGuard::map(guard, |value| value)),
            Self::OwnedRead(guard) => {
                Self::OwnedRead(OwnedRwLockReadGuard::map(guard, |value| value))
            }
            Self::OwnedWrite(guard) => Self::OwnedWrite(guard),
        }
    }

    /// Maps and downgrades a write guard in one operation.
    fn downgrade_map(self) -> Self {
        match self {
            Self::Write(guard) => Self::Read(RwLockWriteGuard::downgrade_map(guard, |value| value)),
            Self::OwnedWrite(guard) => {
                Self::OwnedRead(OwnedRwLockWriteGuard::downgrade_map(guard, |value| value))
            }
            other => other,
        }
    }
}

pub(crate) fn run(program: &[Step]) {
    let most = Choices::new(&program[0]).below(5) as u32;
    let mut lock = Arc::new(match most {
        0 => RwLock::new(Value::next()),
        most => RwLock::with_max_readers(Value::next(), most),
    });
    let wakers = run_on(&lock, &program[1..]);
    let alone = Arc::get_mut(&mut lock).map(RwLock::get_mut);
    note!("{alone:?}");
    let content = Arc::into_inner(lock).map(RwLock::into_inner);
    note!("{content:?}");
    wakers.end();
}

struct State<'a> {
    lock: &'a Arc<RwLock<Value>>,
    tasks: Tasks<'a, Guard<'a>>,
    guards: Vec<Guard<'a>>,
}

fn run_on(lock: &Arc<RwLock<Value>>, program: &[Step]) -> Wakers {
    let mut state = State {
        lock,
        tasks: Tasks::new(6),
        guards: Vec::new(),
    };
    for step in program {
        state.step(&mut Choices::new(step));
        note!("| guards");
        for guard in &state.guards {
            note!("{:?}", guard.value());
        }
        note!("| {lock:?} shared {}", Arc::strong_count(lock));
        state.tasks.end_step();
    }
    drop(state.guards);
    state.tasks.end()
}

impl<'a> State<'a> {
    fn step(&mut self, choices: &mut Choices<'_>) {
        let lock = self.lock;
        match choices.below(20) {
            0 | 1 => self
                .tasks
                .add("read", async { Guard::Read(lock.read().await) }),
            2 => self.tasks.add("read_owned", async {
                Guard::OwnedRead(lock.clone().read_owned().await)
            }),
            3 => self
                .tasks
                .add("write", async { Guard::Write(lock.write().await) }),
            4 => self.tasks.add("write_owned", async {
                Guard::OwnedWrite(lock.clone().write_owned().await)
            }),
            5..=9 => {
                let guard = self.tasks.poll(choices);
                self.guards.extend(guard);
            }
            10 => self.tasks.drop_one(choices),
            11 => self.keep("try_read", lock.try_read().map(Guard::Read)),
            12 => self.keep(
                "try_read_owned",
                lock.clone().try_read_owned().map(Guard::OwnedRead),
            ),
            13 => self.keep("try_write", lock.try_write().map(Guard::Write)),
            14 => self.keep(
                "try_write_owned",
                lock.clone().try_write_owned().map(Guard::OwnedWrite),
            ),
            15 => {
                if let Some(mut guard) = self.any_guard(choices) {
                    note!("set");
                    guard.set();
                    self.guards.push(guard);
                }
            }
            16 => {
                if let Some(guard) = self.any_guard(choices) {
                    let guard = match choices.below(3) {
                        0 => {
                            note!("downgrade");
                            guard.downgrade()
                        }
                        1 => {
                            note!("map");
                            guard.map()
                        }
                        _ => {
                            note!("downgrade_map");
                            guard.downgrade_map()
                        }
                    };
                    self.guards.push(guard);
                }
            }
            _ => {
                note!("unlock");
                drop(self.any_guard(choices));
            }
        }
    }

    fn keep(&mut self, name: &str, tried: Result<Guard<'a>, TryLockError>) {
        match tried {
            Ok(guard) => {
                note!("{name}");
                self.guards.push(guard);
            }
            Err(error) => note!("{name} {error:?}"),
        }
    }

    fn any_guard(&mut self, choices: &mut Choices<'_>) -> Option<Guard<'a>> {
        let count = self.guards.len();
        (count > 0).then(|| self.guards.swap_remove(choices.below(count)))
    }
}
