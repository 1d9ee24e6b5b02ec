//! The ids of strings.

/// The greatest id.
const MAX: u32 = (1 << 24) - 1;

/// The number of a string in the table of a recording.
///
/// # Examples
///
/// ```
/// use raddle_recording::StringId;
///
/// assert_eq!(StringId::new(3).unwrap().number(), 3);
/// assert_eq!(StringId::new(1 << 24), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StringId(u32);

impl StringId {
    /// The id of a string that the table had no room for.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_recording::{Recording, StringId};
    ///
    /// assert_eq!(Recording::default().text(StringId::UNKNOWN), "?");
    /// ```
    pub const UNKNOWN: Self = Self(0);

    /// Makes an id, or `None` if `number` has more than 24 bits.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_recording::StringId;
    ///
    /// assert!(StringId::new(7).is_some());
    /// ```
    pub fn new(number: u32) -> Option<Self> {
        (number <= MAX).then_some(Self(number))
    }

    /// The number.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_recording::StringId;
    ///
    /// assert_eq!(StringId::UNKNOWN.number(), 0);
    /// ```
    pub fn number(self) -> u32 {
        self.0
    }
}
