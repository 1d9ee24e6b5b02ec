//! Names of shared words and locks, for the counting build.

#[cfg(raddle_count)]
pub(crate) use crate::counting::Tag;

/// Gives a word or a lock the name under which the counting build counts its operations. In other
/// builds it returns the value unchanged.
///
/// Words with the same name are counted together. A word without a name is counted under the line
/// of source that creates it.
///
/// ```
/// use raddle_primitives::named;
/// use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
///
/// let parked = named("number of parked workers", AtomicUsize::new(0));
/// assert_eq!(parked.load(Ordering::Relaxed), 0);
/// ```
#[cfg(not(raddle_count))]
#[inline(always)]
pub fn named<T>(_name: &'static str, value: T) -> T {
    value
}

/// Gives a word or a lock the name under which its operations are counted.
///
/// Words with the same name are counted together. A word without a name is counted under the line
/// of source that creates it.
#[cfg(raddle_count)]
pub fn named<T: crate::counting::Tagged>(name: &'static str, value: T) -> T {
    value.tag().rename(name);
    value
}

/// Counts an event that is no operation on a word, such as an attempt to steal. Only the counting
/// build counts it.
///
/// ```
/// use raddle_primitives::count_event;
///
/// /// Takes a task from another worker, if it has one.
/// fn steal(victim: &mut Vec<u32>) -> Option<u32> {
///     count_event("steal attempt");
///     victim.pop()
/// }
///
/// assert_eq!(steal(&mut vec![7]), Some(7));
/// ```
#[inline(always)]
pub fn count_event(_name: &'static str) {
    #[cfg(raddle_count)]
    crate::counting::event(_name);
}

/// The data that the counting build keeps beside a lock; empty in this build.
#[cfg(not(any(raddle_loom, raddle_count)))]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tag;

#[cfg(not(any(raddle_loom, raddle_count)))]
impl Tag {
    #[inline(always)]
    pub(crate) const fn here() -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) const fn ranked(_: crate::rank::Rank) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn lock(self) {}

    #[inline(always)]
    pub(crate) fn fail_to_lock(self) {}
}
