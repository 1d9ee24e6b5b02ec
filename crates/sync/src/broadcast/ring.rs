//! The ring of slots that have the values.

use std::alloc::Layout;

use raddle_primitives::sync::Mutex;

/// A ring whose number of slots is a power of two. The value at position `p`, the `p`th that was
/// sent, is in slot `p` modulo that number.
pub(super) struct Ring<T> {
    slots: Box<[Mutex<ValueSlot<T>>]>,
}

struct ValueSlot<T> {
    /// The position of the last value in this slot; `NOTHING` before the first.
    position: u64,
    /// The number of receivers that have not received the value.
    remaining: usize,
    /// Present while `remaining` is not 0.
    value: Option<T>,
}

/// The position of a slot without a value. Real positions have fewer bits.
const NOTHING: u64 = u64::MAX;

/// The content of a slot for a receiver.
pub(super) enum SlotContent<T> {
    Value(T),
    /// The slot has a newer value, at this position.
    Overwritten(u64),
}

impl<T> Ring<T> {
    /// Makes a ring of at least `capacity` slots.
    #[track_caller]
    pub(super) fn new(capacity: usize) -> Self {
        assert!(
            capacity > 0,
            "the capacity of a broadcast channel is zero; use at least 1"
        );
        let count = capacity.checked_next_power_of_two();
        let count = count.filter(|count| Layout::array::<Mutex<ValueSlot<T>>>(*count).is_ok());
        let Some(count) = count else {
            panic!("a broadcast channel cannot have {capacity} slots in memory; use less");
        };
        let slot = || {
            // UNRANKED: the value is cloned under it, which is the user's code.
            Mutex::new(ValueSlot {
                position: NOTHING,
                remaining: 0,
                value: None,
            })
        };
        Self {
            slots: std::iter::repeat_with(slot).take(count).collect(),
        }
    }

    pub(super) fn capacity(&self) -> u64 {
        self.slots.len() as u64
    }

    fn slot(&self, position: u64) -> &Mutex<ValueSlot<T>> {
        // The index is less than the number of slots, so the cast loses no bits.
        &self.slots[(position & (self.capacity() - 1)) as usize]
    }

    /// Stores a value for `remaining` receivers in its slot, and returns the value that was there.
    pub(super) fn put(&self, position: u64, remaining: usize, value: T) -> Option<T> {
        let mut slot = self.slot(position).lock();
        slot.position = position;
        slot.remaining = remaining;
        slot.value.replace(value)
    }

    /// Receives the value at a position at which one was stored.
    pub(super) fn get(&self, position: u64) -> SlotContent<T>
    where
        T: Clone,
    {
        self.visit(position, |value, is_last| match is_last {
            true => value.take(),
            false => value.clone(),
        })
    }

    /// Counts the value as received by a receiver that is dropped. Returns the value if that
    /// receiver was the last, so that the caller drops it.
    pub(super) fn skip(&self, position: u64) -> Option<T> {
        let found = self.visit(position, |value, is_last| {
            Some(is_last.then(|| value.take()).flatten())
        });
        match found {
            SlotContent::Value(value) => value,
            SlotContent::Overwritten(_) => None,
        }
    }

    /// Counts the value as received by one receiver, and then calls `look` under the lock. The
    /// count is right even if `look` panics.
    fn visit<R>(
        &self,
        position: u64,
        look: impl FnOnce(&mut Option<T>, bool) -> Option<R>,
    ) -> SlotContent<R> {
        let mut slot = self.slot(position).lock();
        if slot.position != position {
            return SlotContent::Overwritten(slot.position);
        }
        slot.remaining -= 1;
        let is_last = slot.remaining == 0;
        let seen = look(&mut slot.value, is_last);
        SlotContent::Value(seen.expect("the value stays until the last receiver takes it"))
    }

    /// Returns whether a receiver has not received the value at a position at which one was stored.
    pub(super) fn is_wanted(&self, position: u64) -> bool {
        let slot = self.slot(position).lock();
        slot.position == position && slot.remaining > 0
    }
}
