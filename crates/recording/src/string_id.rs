//! The ids of strings.

/// The greatest id.
const MAX: u32 = (1 << 24) - 1;

/// The number of a string in the table of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StringId(u32);

impl StringId {
    /// The id of a string that the table had no room for.
    pub const UNKNOWN: Self = Self(0);

    /// Makes an id, or `None` if `number` has more than 24 bits.
    pub fn new(number: u32) -> Option<Self> {
        (number <= MAX).then_some(Self(number))
    }

    /// Returns the number.
    #[inline]
    pub fn number(self) -> u32 {
        self.0
    }
}
