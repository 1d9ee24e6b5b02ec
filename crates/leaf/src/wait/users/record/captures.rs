//! The guards and channel ends that a future contains when it becomes a task.
//!
//! The words of the future are searched for marks. A mark that is found may be a copy that a move
//! has left in memory that the future does not use, so it counts only if the task that spawns may
//! have the guard or the end: it has taken the guard, has used the end last, or no task has used
//! the end.

use std::cell::RefCell;

use super::{Key, MAGIC, User, running, shard};

/// The bits of [`MAGIC`].
const MAGIC_BITS: u64 = 0xffff << 48;

raddle_primitives::thread_local! {
    /// The value that this thread has moved to the heap last, and the marks in it.
    static BOXED: RefCell<Boxed> = RefCell::new(Boxed { address: 0, marks: Vec::new() });
}

struct Boxed {
    address: usize,
    marks: Vec<Key>,
}

/// Returns the marks in a value, and in the value on the heap that it points to.
fn marks(read: impl FnOnce(&mut dyn FnMut(usize))) -> Vec<Key> {
    let mut found = Vec::new();
    let _ = BOXED.try_with(|boxed| {
        let Ok(mut boxed) = boxed.try_borrow_mut() else {
            return;
        };
        let mut number = None;
        read(&mut |word| {
            if let Some(number) = number.take() {
                found.push((word, number));
            }
            if word as u64 & MAGIC_BITS == MAGIC {
                number = Some(word as u64);
            }
            if word == boxed.address && word != 0 {
                boxed.address = 0;
                found.append(&mut boxed.marks);
            }
        });
    });
    found
}

pub(in super::super) fn boxed(address: usize, read: impl FnOnce(&mut dyn FnMut(usize))) {
    let marks = marks(read);
    let _ = BOXED.try_with(|boxed| {
        if let Ok(mut boxed) = boxed.try_borrow_mut() {
            *boxed = Boxed { address, marks };
        }
    });
}

pub(in super::super) fn spawned(task: u64, read: impl FnOnce(&mut dyn FnMut(usize))) {
    let spawner = running();
    for key in marks(read) {
        let mut objects = shard(key.0).lock();
        if let Some(record) = objects.users.get_mut(&key) {
            if record.user == User::Unused || record.user == spawner {
                record.user = User::Task(task);
                record.is_captured = true;
            }
        }
    }
}
