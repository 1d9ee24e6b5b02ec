//! The identities of tasks: where each was spawned, by which task, and its name.
//!
//! A ring forgets the spawn of a task that lives longer than its records. This table does not: it
//! has the latest tasks in an array that is indexed by their numbers, where a spawn, a wake and an
//! end cost a few stores each. A task that still lives when its place is needed, or that has a
//! name, moves to a map under a lock.

use std::collections::{HashMap, VecDeque};

use raddle_primitives::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use raddle_primitives::sync::{Mutex, Rank};

use crate::event::MAX_OPERAND;
use crate::{StringId, Task};

/// The number of bits beside the number of a task in a word.
const LOW_BITS: u32 = 24;
const LOW: u64 = (1 << LOW_BITS) - 1;
/// Stands for no parent.
const NO_PARENT: u64 = MAX_OPERAND;
/// The number of bits of a task's number beside a time.
const CHECK_BITS: u32 = 20;
const CHECK: u64 = (1 << CHECK_BITS) - 1;
/// The greatest number of tasks in the map.
const MAX_MOVED: usize = 1 << 20;

/// The words of the tasks that have a place, one after the other. Each word names its task, so
/// words of different tasks are never taken for those of one.
#[derive(Debug)]
#[repr(align(32))]
struct Place {
    /// The number of the task and its location; 0 if there is none.
    spawned: AtomicU64,
    /// The number of its parent, and the lowest bits of its own.
    parent: AtomicU64,
    /// The number of the last task that has ended here.
    ended: AtomicU64,
    /// When a task was woken, and the lowest bits of its number; 0 after the poll that followed.
    woken: AtomicU64,
}

/// The identities of the tasks that live, and of the latest that have ended.
///
/// Numbers are given in order, so tasks that are spawned at the same time have different places. If
/// two share one after all, one of them may stay unknown.
#[derive(Debug)]
pub(crate) struct TaskTable {
    /// The place of a task is its number modulo the length, a power of two.
    places: Box<[Place]>,
    moved_count: AtomicUsize,
    moved: Mutex<Moved>,
}

/// Tasks that have a name, or whose place another task has taken.
#[derive(Debug, Default)]
struct Moved {
    tasks: HashMap<u64, Task>,
    /// Those of them that have ended, in this order.
    ended: VecDeque<u64>,
}

impl TaskTable {
    /// Makes a table with places for `capacity` tasks.
    pub(crate) fn new(capacity: usize) -> Self {
        let word = || AtomicU64::new(0);
        let place = |_| Place {
            spawned: word(),
            parent: word(),
            ended: word(),
            woken: word(),
        };
        Self {
            places: (0..capacity.next_power_of_two()).map(place).collect(),
            moved_count: AtomicUsize::new(0),
            moved: Mutex::ranked(Rank::leaf("recorder tasks"), Moved::default()),
        }
    }

    #[inline]
    fn place(&self, task: u64) -> &Place {
        &self.places[task as usize & (self.places.len() - 1)]
    }

    /// Adds a task that is spawned at `time`, in ticks; `None` if that does not matter.
    #[inline]
    pub(crate) fn spawned(
        &self,
        task: u64,
        location: StringId,
        parent: Option<u64>,
        time: Option<u64>,
    ) {
        let task = task & MAX_OPERAND;
        let place = self.place(task);
        // ORDERING: none. A task that ends at this moment may be taken for one that lives.
        let former = place.spawned.load(Ordering::Relaxed);
        // ORDERING: as above.
        if former != 0 && former >> LOW_BITS != place.ended.load(Ordering::Relaxed) {
            self.make_room(place, former);
        }
        let parent = parent.unwrap_or(NO_PARENT) << LOW_BITS | task & LOW;
        // ORDERING: none, each word names its task. A spawn happens before the polls of its task.
        place.parent.store(parent, Ordering::Relaxed);
        // ORDERING: as above.
        place
            .woken
            .store(time.map_or(0, |time| packed(task, time)), Ordering::Relaxed);
        let spawned = task << LOW_BITS | u64::from(location.number());
        // ORDERING: Release pairs with the load in `ended`: a thread that does not find its task
        // here sees that the map has it.
        place.spawned.store(spawned, Ordering::Release);
    }

    /// Moves the task of a place to the map. If it ends at this moment, it stays there.
    #[cold]
    fn make_room(&self, place: &Place, spawned: u64) {
        let mut moved = self.moved.lock();
        if moved.tasks.len() < MAX_MOVED {
            let task = spawned >> LOW_BITS;
            moved.tasks.insert(task, identity(spawned, place));
            // ORDERING: the store of the place's next task publishes it.
            self.moved_count.store(moved.tasks.len(), Ordering::Relaxed);
        }
    }

    /// Sets the name of a task that has just been spawned on this thread.
    pub(crate) fn named(&self, task: u64, name: StringId) {
        let task = task & MAX_OPERAND;
        let place = self.place(task);
        // ORDERING: none, this thread has stored it.
        let spawned = place.spawned.load(Ordering::Relaxed);
        let has_place = spawned >> LOW_BITS == task;
        let mut moved = self.moved.lock();
        if moved.tasks.len() < MAX_MOVED || moved.tasks.contains_key(&task) {
            let known = moved.tasks.entry(task).or_default();
            if has_place {
                *known = identity(spawned, place);
            }
            known.name = Some(name);
            // ORDERING: the next store publishes it.
            self.moved_count.store(moved.tasks.len(), Ordering::Relaxed);
            if has_place {
                // ORDERING: Release pairs with the load in `ended`, as in `spawned`.
                place.spawned.store(0, Ordering::Release);
            }
        }
    }

    /// Notes that a task has ended. Its identity is kept until as many tasks as the table has
    /// places were spawned after it.
    #[inline]
    pub(crate) fn ended(&self, task: u64) {
        let task = task & MAX_OPERAND;
        let place = self.place(task);
        // ORDERING: Acquire pairs with the stores in `spawned` and `named`.
        if place.spawned.load(Ordering::Acquire) >> LOW_BITS == task {
            // ORDERING: none. The next task of the place may still move this one to the map.
            place.ended.store(task, Ordering::Relaxed);
        } else if self.has_moved() {
            self.moved_ended(task);
        }
    }

    #[inline]
    fn has_moved(&self) -> bool {
        // ORDERING: the caller has read a word that was stored after the count.
        self.moved_count.load(Ordering::Relaxed) != 0
    }

    #[cold]
    fn moved_ended(&self, task: u64) {
        let mut moved = self.moved.lock();
        if moved.tasks.contains_key(&task) {
            moved.ended.push_back(task);
        }
        if moved.ended.len() > self.places.len() {
            let oldest = moved.ended.pop_front();
            oldest.map(|task| moved.tasks.remove(&task));
            // ORDERING: none. It only becomes less.
            self.moved_count.store(moved.tasks.len(), Ordering::Relaxed);
        }
    }

    /// Returns the identity of a task, if it is known.
    pub(crate) fn get(&self, task: u64) -> Option<Task> {
        let place = self.place(task);
        // ORDERING: Acquire pairs with the stores in `spawned` and `named`: the words of the task,
        // or those of a later one, are there.
        let spawned = place.spawned.load(Ordering::Acquire);
        if spawned != 0 && spawned >> LOW_BITS == task {
            return Some(identity(spawned, place));
        }
        self.moved.lock().tasks.get(&task).cloned()
    }

    /// Returns the number of tasks in the map.
    #[cfg(all(test, not(raddle_loom)))]
    pub(crate) fn moved(&self) -> usize {
        self.moved.lock().tasks.len()
    }

    /// Forgets when tasks were woken.
    pub(crate) fn forget_wakes(&self) {
        for place in &self.places {
            // ORDERING: none. A task that is woken at this moment may be forgotten too.
            place.woken.store(0, Ordering::Relaxed);
        }
    }

    /// Notes that a task is woken at `time`, in ticks.
    #[inline]
    pub(crate) fn woken(&self, task: u64, time: u64) {
        let word = packed(task, time);
        // ORDERING: none. A wake happens before the poll that it causes.
        self.place(task).woken.store(word, Ordering::Relaxed);
    }

    /// Returns for how many ticks a task that is polled at `time` has been woken, 0 if that is
    /// unknown.
    #[inline]
    pub(crate) fn take_wait(&self, task: u64, time: u64) -> u64 {
        // Always there, since the length is a power of two.
        let Some(place) = self.places.get(task as usize & (self.places.len() - 1)) else {
            return 0;
        };
        // ORDERING: none, as in `woken`.
        let word = place.woken.load(Ordering::Relaxed);
        if word == 0 || (word ^ task) & CHECK != 0 {
            return 0;
        }
        // ORDERING: none. The next wake of the task comes after this.
        place.woken.store(0, Ordering::Relaxed);
        packed(task, time).wrapping_sub(word) >> CHECK_BITS
    }
}

/// Returns the identity in the words of a place.
fn identity(spawned: u64, place: &Place) -> Task {
    // ORDERING: the caller has acquired the words of the task, or holds them by its own stores.
    let parent = place.parent.load(Ordering::Relaxed);
    let is_of_task = parent & LOW == spawned >> LOW_BITS & LOW;
    let parent = Some(parent >> LOW_BITS).filter(|&parent| is_of_task && parent != NO_PARENT);
    Task {
        location: StringId::new((spawned & LOW) as u32),
        name: None,
        parent,
    }
}

/// A time and the lowest bits of a task's number.
#[inline]
fn packed(task: u64, time: u64) -> u64 {
    time << CHECK_BITS | task & CHECK
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
