//! Large futures and closures, which are moved to the heap once.

use std::any;

/// The size in bytes up to which a future or a closure is stored in the task itself.
///
/// A function that passes a value on by value may copy it, and has a copy in its stack frame. A
/// build without optimizations copies it in each function. So a larger value goes to the heap in
/// the first function that a user calls, and from there on moves as a pointer.
pub const MAX_INLINE_SIZE: usize = if cfg!(debug_assertions) {
    2 * 1024
} else {
    16 * 1024
};

/// Evaluates an expression with a variable, whose value is moved to the heap first if it is larger
/// than [`MAX_INLINE_SIZE`].
///
/// The arguments are the variable and its type, the function that moves it (`Box::pin` for a
/// future, `Box::new` for a closure) and the expression. The expression is compiled for one of the
/// two types only.
///
/// # Examples
///
/// ```
/// use std::future::Future;
///
/// use raddle_task::box_if_large;
///
/// fn size_in_task<F: Future>(future: F) -> usize {
///     box_if_large!(future: F, Box::pin => size_of_val(&future))
/// }
///
/// assert_eq!(size_in_task(std::future::ready([7_u8; 100])), 101);
/// assert_eq!(size_in_task(std::future::ready([7_u8; 100_000])), size_of::<usize>());
/// ```
#[macro_export]
macro_rules! box_if_large {
    ($value:ident: $type:ty, $move_to_heap:path => $expression:expr) => {
        if const { ::core::mem::size_of::<$type>() > $crate::MAX_INLINE_SIZE } {
            let $value = $move_to_heap($value);
            $crate::note_boxed(&*$value);
            $expression
        } else {
            $expression
        }
    };
}

/// The type of what a user has spawned, which may be a future or a closure. The task may have a
/// pointer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnMeta {
    type_name: &'static str,
    size: usize,
}

impl SpawnMeta {
    /// Returns the description of a type.
    #[inline(always)]
    pub fn of<T>() -> Self {
        Self {
            type_name: any::type_name::<T>(),
            size: size_of::<T>(),
        }
    }

    /// Returns the type's name.
    pub fn type_name(self) -> &'static str {
        self.type_name
    }

    /// Returns the size in bytes of a value of the type.
    pub fn size(self) -> usize {
        self.size
    }
}
