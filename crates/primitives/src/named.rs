//! Names of shared words and locks, for the counting build.

#[cfg(raddle_count)]
pub(crate) use crate::counting::Tag;

/// Gives a word or a lock the name under which the counting build counts its operations. In other
/// builds it returns the value unchanged.
///
/// Words with the same name are counted together. A word without a name is counted under the line
/// of source that creates it.
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
#[inline(always)]
pub fn count_event(_name: &'static str) {
    #[cfg(raddle_count)]
    crate::counting::event(_name);
}

/// The data that the counting build keeps with a lock; empty in this build.
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
