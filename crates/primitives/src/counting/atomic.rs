//! Atomic words that count their operations.

use std::fmt;
use std::sync::atomic::Ordering;

use super::ledger::event;
use super::tag::{Tag, Tagged};

/// Counts an event with the name `fence`, and calls std's fence.
pub fn fence(order: Ordering) {
    event("fence");
    std::sync::atomic::fence(order);
}

/// Defines one type: the operations of every word, and the read-modify-writes that this word has.
macro_rules! word {
    ($name:ident $(<$t:ident>)?, $value:ty, [$($update:ident),*]) => {
        /// std's word of the same name, with counted operations.
        pub struct $name $(<$t>)? {
            word: std::sync::atomic::$name $(<$t>)?,
            tag: Tag,
        }

        impl $(<$t>)? $name $(<$t>)? {
            /// Makes a word with a value.
            #[track_caller]
            pub fn new(value: $value) -> Self {
                Self {
                    word: std::sync::atomic::$name::new(value),
                    tag: Tag::made_here(),
                }
            }

            /// Reads the value.
            pub fn load(&self, order: Ordering) -> $value {
                self.tag.load();
                self.word.load(order)
            }

            /// Writes a value.
            pub fn store(&self, value: $value, order: Ordering) {
                self.tag.store();
                self.word.store(value, order);
            }

            /// Replaces the value, and returns the old one.
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.tag.read_modify_write();
                self.word.swap(value, order)
            }

            /// Replaces the value if it is `current`.
            ///
            /// # Errors
            ///
            /// Returns the current value if it is not `current`.
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.tag.read_modify_write();
                self.word.compare_exchange(current, new, success, failure)
            }

            /// Like [`compare_exchange`](Self::compare_exchange). It never fails spuriously, so
            /// counts are the same on each machine.
            ///
            /// # Errors
            ///
            /// Returns the current value if it is not `current`.
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Replaces the value by the result of `update`, and tries again if another thread has
            /// changed the value meanwhile.
            ///
            /// # Errors
            ///
            /// Returns the value if `update` returned `None`.
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut current = self.load(fetch);
                while let Some(new) = update(current) {
                    match self.compare_exchange(current, new, set, fetch) {
                        Ok(old) => return Ok(old),
                        Err(actual) => current = actual,
                    }
                }
                Err(current)
            }

            $(
                /// Changes the value as std's method of this name does, and returns the old one.
                pub fn $update(&self, value: $value, order: Ordering) -> $value {
                    self.tag.read_modify_write();
                    self.word.$update(value, order)
                }
            )*

            /// Returns the value, which no other thread can access.
            pub fn get_mut(&mut self) -> &mut $value {
                self.word.get_mut()
            }

            /// Returns the value, which no other thread can access.
            pub fn into_inner(self) -> $value {
                self.word.into_inner()
            }
        }

        impl $(<$t>)? fmt::Debug for $name $(<$t>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.word.fmt(f)
            }
        }

        impl $(<$t>)? Tagged for $name $(<$t>)? {
            #[expect(private_interfaces, reason = "only this crate calls it")]
            fn tag(&self) -> &Tag {
                &self.tag
            }
        }
    };
}

/// Defines a type of numbers, which have a default.
macro_rules! number {
    ($name:ident, $value:ty) => {
        word!(
            $name,
            $value,
            [
                fetch_add, fetch_sub, fetch_and, fetch_or, fetch_xor, fetch_min, fetch_max
            ]
        );

        impl Default for $name {
            #[track_caller]
            fn default() -> Self {
                Self::new(0)
            }
        }
    };
}

number!(AtomicU32, u32);
number!(AtomicU64, u64);
number!(AtomicUsize, usize);
word!(AtomicBool, bool, [fetch_and, fetch_or, fetch_xor]);
word!(AtomicPtr<T>, *mut T, []);

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> Self {
        Self::new(false)
    }
}
