//! A place for a value that is written once.

use std::mem::MaybeUninit;

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::sync::atomic::{AtomicU32, Ordering};

/// The slot has no value.
const EMPTY: u32 = 0;
/// A thread writes the value. Ended by `SET`, by that thread.
const WRITING: u32 = 1;
/// The value is written, and stays until the slot is borrowed exclusively.
const SET: u32 = 2;

/// Empty, or a value that does not change while the slot is shared.
///
/// Which thread may access the value:
/// 1. in `EMPTY` none: there is no value;
/// 2. in `WRITING` only the thread that set this state;
/// 3. in `SET` every thread may read it;
/// 4. code that holds the slot exclusively may do anything.
pub(crate) struct OnceSlot<T> {
    state: AtomicU32,
    value: UnsafeCell<MaybeUninit<T>>,
}

impl<T> OnceSlot<T> {
    #[cfg(not(raddle_loom))]
    pub(crate) const fn new() -> Self {
        Self {
            state: AtomicU32::new(EMPTY),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    #[cfg(raddle_loom)]
    pub(crate) fn new() -> Self {
        Self {
            state: AtomicU32::new(EMPTY),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    #[cfg(not(raddle_loom))]
    pub(crate) const fn with_value(value: T) -> Self {
        Self {
            state: AtomicU32::new(SET),
            value: UnsafeCell::new(MaybeUninit::new(value)),
        }
    }

    #[cfg(raddle_loom)]
    pub(crate) fn with_value(value: T) -> Self {
        Self {
            state: AtomicU32::new(SET),
            value: UnsafeCell::new(MaybeUninit::new(value)),
        }
    }

    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        // ORDERING: Acquire pairs with `set`: the value has been written.
        self.state.load(Ordering::Acquire) == SET
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        self.is_set().then(|| {
            self.value.with(|value| {
                // SAFETY: rule 3; the value is initialised, and it changes only while the slot is
                // borrowed exclusively, which this borrow prevents.
                unsafe { (*value).assume_init_ref() }
            })
        })
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.is_set().then(|| {
            self.value.with_mut(|value| {
                // SAFETY: rule 4, and the value is initialised.
                unsafe { (*value).assume_init_mut() }
            })
        })
    }

    /// Takes the value out, and leaves the slot empty.
    pub(crate) fn take(&mut self) -> Option<T> {
        if !self.is_set() {
            return None;
        }
        // ORDERING: the slot is borrowed exclusively.
        self.state.store(EMPTY, Ordering::Relaxed);
        Some(self.value.with_mut(|value| {
            // SAFETY: rule 4; the value was initialised, and is not read again in the state
            // `EMPTY`.
            unsafe { (*value).assume_init_read() }
        }))
    }

    /// Sets the value. Returns it if the slot has a value or another thread is writing one.
    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        // ORDERING: the slot is new, or unchanged since it was last borrowed exclusively.
        let empty =
            self.state
                .compare_exchange(EMPTY, WRITING, Ordering::Relaxed, Ordering::Relaxed);
        if empty.is_err() {
            return Err(value);
        }
        self.value.with_mut(|place| {
            // SAFETY: rule 2: the exchange above succeeds for one thread only.
            unsafe { (*place).write(value) };
        });
        // ORDERING: Release pairs with `is_set`.
        self.state.store(SET, Ordering::Release);
        Ok(())
    }
}

impl<T> Drop for OnceSlot<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

// SAFETY: a shared slot gives out `&T` (so `T: Sync`), and a value that was set on one thread may
// be taken or dropped on another (so `T: Send`).
unsafe impl<T: Send + Sync> Sync for OnceSlot<T> {}
// SAFETY: the slot owns its value.
unsafe impl<T: Send> Send for OnceSlot<T> {}

impl<T: std::fmt::Debug> std::fmt::Debug for OnceSlot<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

/// Writes the constructors, getters and traits of a cell, a struct with the field `slot` and others
/// that the caller gives a value.
macro_rules! slot_cell {
    ($Cell:ident { $($field:ident: $value:expr,)+ }) => {
        impl<T> $Cell<T> {
            /// Makes an empty cell.
            pub fn new() -> Self {
                Self::with_slot(OnceSlot::new())
            }

            /// Makes a cell that holds `value`, if there is one.
            pub fn new_with(value: Option<T>) -> Self {
                Self::with_slot(value.map_or_else(OnceSlot::new, OnceSlot::with_value))
            }

            /// Makes an empty cell, for a static. This function does not exist under loom.
            #[cfg(not(raddle_loom))]
            pub const fn const_new() -> Self {
                Self {
                    slot: OnceSlot::new(),
                    $($field: $value,)+
                }
            }

            /// Makes a cell that holds `value`, for a static. This function does not exist under
            /// loom.
            #[cfg(not(raddle_loom))]
            pub const fn const_new_with(value: T) -> Self {
                Self {
                    slot: OnceSlot::with_value(value),
                    $($field: $value,)+
                }
            }

            fn with_slot(slot: OnceSlot<T>) -> Self {
                Self {
                    slot,
                    $($field: $value,)+
                }
            }

            /// Returns whether the cell holds a value.
            pub fn initialized(&self) -> bool {
                self.slot.is_set()
            }

            /// Returns the value, if there is one.
            pub fn get(&self) -> Option<&T> {
                self.slot.get()
            }

            /// Consumes the cell and returns the value.
            pub fn into_inner(mut self) -> Option<T> {
                self.slot.take()
            }
        }

        impl<T> Default for $Cell<T> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<T: std::fmt::Debug> std::fmt::Debug for $Cell<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($Cell)).field(&self.get()).finish()
            }
        }

        impl<T: Clone> Clone for $Cell<T> {
            fn clone(&self) -> Self {
                Self::new_with(self.get().cloned())
            }
        }

        impl<T: PartialEq> PartialEq for $Cell<T> {
            fn eq(&self, other: &Self) -> bool {
                self.get() == other.get()
            }
        }

        impl<T: Eq> Eq for $Cell<T> {}

        impl<T> From<T> for $Cell<T> {
            fn from(value: T) -> Self {
                Self::new_with(Some(value))
            }
        }
    };
}

pub(crate) use slot_cell;

#[cfg(all(test, not(raddle_loom)))]
mod tests;
