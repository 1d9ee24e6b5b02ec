//! An event in 16 bytes.

use crate::Event;
use crate::event::{MAX_OPERAND, Parts};

/// Bits of a record's time.
const TIME_BITS: u32 = 56;
/// Bits of a record's operand, below the argument.
const OPERAND_BITS: u32 = MAX_OPERAND.count_ones();

/// An event and its time, in two words: what a recorder keeps in memory.
///
/// | word | bits | |
/// |---|---|---|
/// | first | 0 to 7 | the kind of the event; 0 is none |
/// | | 8 to 63 | the time, in units of the recorder's clock |
/// | second | 0 to 39 | the operand: a task, a job, a worker, a count |
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
        let parts = Parts::of(event);
        Self([
            time << (u64::BITS - TIME_BITS) | u64::from(parts.kind),
            u64::from(parts.argument) << OPERAND_BITS | parts.operand,
        ])
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

    /// The event, or `None` if the words are not those of an event.
    pub fn event(self) -> Option<Event> {
        let [first, second] = self.0;
        Parts {
            kind: first as u8,
            operand: second & MAX_OPERAND,
            argument: (second >> OPERAND_BITS) as u32,
        }
        .event()
    }
}
