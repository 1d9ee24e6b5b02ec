//! An event in 16 bytes.

use crate::event::{MAX_OPERAND, Parts, kind};
use crate::{Event, PollEnd};

/// The number of bits of a record's time.
const TIME_BITS: u32 = 56;
/// The number of bits of a record's operand, which is below the argument.
const OPERAND_BITS: u32 = MAX_OPERAND.count_ones();

/// An event and its time, in two words, as a recorder keeps them in memory.
///
/// | word | bits | |
/// |---|---|---|
/// | first | 0 to 7 | the kind of the event; 0 is none |
/// | | 8 to 63 | the time, in units of the recorder's clock |
/// | second | 0 to 39 | the operand: a task, a job, a message, a worker, a count |
/// | | 40 to 63 | the argument: a string, a count, a result |
///
/// # Examples
///
/// ```
/// use raddle_recording::{Event, Record};
///
/// assert_eq!(size_of::<Record>(), 16);
/// let record = Record::new(1_000, Event::TaskWoken { task: 3 });
/// assert_eq!(record.time(), 1_000);
/// assert_eq!(record.event(), Some(Event::TaskWoken { task: 3 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record([u64; 2]);

impl Record {
    /// The number of values that a record's time can have. A clock that has gone further starts
    /// again at 0.
    pub const TIMES: u64 = 1 << TIME_BITS;

    /// Makes a record. Of `time` the lowest 56 bits are kept.
    #[inline]
    pub fn new(time: u64, event: Event) -> Self {
        Self::of_parts(time, Parts::of(event))
    }

    #[inline]
    pub(crate) fn of_parts(time: u64, parts: Parts) -> Self {
        Self([
            time << (u64::BITS - TIME_BITS) | u64::from(parts.kind),
            u64::from(parts.argument) << OPERAND_BITS | parts.operand,
        ])
    }

    pub(crate) fn parts(self) -> Parts {
        let [first, second] = self.0;
        Parts {
            kind: first as u8,
            operand: second & MAX_OPERAND,
            argument: (second >> OPERAND_BITS) as u32,
        }
    }

    /// Makes the record of the start of a poll that also contains the end of the previous poll of
    /// the same thread: two events that happen one after the other and have one time.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_recording::{Event, PollEnd, Record};
    ///
    /// let record = Record::of_poll(1_000, 3, Some(PollEnd::Pending));
    /// assert_eq!(record.event(), Some(Event::PollStarted { task: 3 }));
    /// assert_eq!(record.former_poll(), Some(PollEnd::Pending));
    /// ```
    #[inline]
    pub fn of_poll(time: u64, task: u64, former: Option<PollEnd>) -> Self {
        Self::of_poll_number(time, task, PollEnd::number(former))
    }

    /// Like [`of_poll`](Self::of_poll), with the number of the end.
    #[inline]
    pub(crate) fn of_poll_number(time: u64, task: u64, former: u32) -> Self {
        Self::of_parts(time, Parts::of_number(kind::POLL_STARTED, task, former))
    }

    /// Returns how the thread's previous poll ended, if this is the start of a poll and contains
    /// that.
    pub fn former_poll(self) -> Option<PollEnd> {
        let [first, second] = self.0;
        let is_start = first as u8 == kind::POLL_STARTED;
        let number = (second >> OPERAND_BITS) as u32;
        is_start.then(|| PollEnd::from_number(number)).flatten()
    }

    /// Makes a record of the words of another.
    pub fn from_words(words: [u64; 2]) -> Self {
        Self(words)
    }

    /// The two words.
    #[inline]
    pub fn words(self) -> [u64; 2] {
        self.0
    }

    /// The time, less than [`TIMES`](Self::TIMES).
    pub fn time(self) -> u64 {
        self.0[0] >> (u64::BITS - TIME_BITS)
    }

    /// Returns the event, or `None` if the words are not those of an event.
    pub fn event(self) -> Option<Event> {
        self.parts().event()
    }
}
