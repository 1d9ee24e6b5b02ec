//! Values by number.

use ::std::fmt;

/// Values with their numbers, in ascending order of the numbers.
///
/// It is for numbers that [`Numbers`](crate::Numbers) gives out, so that most values are inserted
/// at the end. A value is found by binary search; an insertion or a removal moves the values after
/// it. It takes a fraction of the time that a `BTreeMap` takes to compile.
///
/// ```
/// use raddle_primitives::ByNumber;
///
/// let mut names = ByNumber::default();
/// names.insert(7, "seven");
/// names.insert(3, "three");
/// assert_eq!(names.insert(7, "sept"), Some("seven"));
/// assert_eq!(names.remove(3), Some("three"));
/// assert_eq!(names.pop_first(), Some("sept"));
/// ```
pub struct ByNumber<T>(Vec<(u64, T)>);

impl<T> ByNumber<T> {
    fn find(&self, number: u64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&number, |entry| entry.0)
    }

    /// Stores a value and returns the one that had the number.
    pub fn insert(&mut self, number: u64, value: T) -> Option<T> {
        match self.find(number) {
            Ok(at) => Some(::std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (number, value));
                None
            }
        }
    }

    /// Returns the value with the number.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let at = self.find(number).ok()?;
        Some(&mut self.0[at].1)
    }

    /// Removes the value with the number.
    pub fn remove(&mut self, number: u64) -> Option<T> {
        let at = self.find(number).ok()?;
        Some(self.0.remove(at).1)
    }

    /// Removes the value with the smallest number.
    pub fn pop_first(&mut self) -> Option<T> {
        if self.0.is_empty() {
            return None;
        }
        Some(self.0.remove(0).1)
    }

    /// Returns how many values there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the values.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|entry| &entry.1)
    }

    /// Iterates over the values.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|entry| &mut entry.1)
    }

    /// Iterates over the values, which it takes.
    pub fn into_values(self) -> impl Iterator<Item = T> {
        self.0.into_iter().map(|entry| entry.1)
    }
}

impl<T> Default for ByNumber<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: fmt::Debug> fmt::Debug for ByNumber<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ByNumber").field(&self.0).finish()
    }
}
