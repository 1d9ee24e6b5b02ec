//! The way of packets between hosts: how long they take, and which are lost or held.

use std::collections::BTreeMap;
use std::time::Duration;

use super::nanos;
use crate::random::Random;

/// How long a packet is on its way.
///
/// ```
/// use std::time::Duration;
///
/// use raddle_sim::{Latency, millis};
///
/// let lan = Latency::Fixed(Duration::from_micros(500));
/// let wide_area = Latency::Uniform { min: millis(20), max: millis(80) };
/// // Most packets take little more than the least time, and a few much more.
/// let mobile = Latency::Exponential { min: millis(30), mean: millis(60) };
/// # let _ = (lan, wide_area, mobile);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latency {
    /// Always the same time.
    Fixed(Duration),
    /// Each time between the two is as likely.
    Uniform {
        /// The least time.
        min: Duration,
        /// The longest time.
        max: Duration,
    },
    /// The least time, and an exponentially distributed time above it, so that the mean is `mean`.
    Exponential {
        /// The least time.
        min: Duration,
        /// The mean, above the least time.
        mean: Duration,
    },
}

/// What packets from one host to another go through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// How long a packet is on its way.
    pub latency: Latency,
    /// The probability that a packet is lost.
    pub loss: f64,
    /// The probability that a datagram arrives twice.
    pub duplication: f64,
    /// How many bytes go through in a second. `None`: any number at once.
    pub bytes_per_second: Option<u64>,
}

impl Default for Link {
    /// 0.5 ms, no loss, any bandwidth.
    fn default() -> Self {
        Self {
            latency: Latency::Fixed(Duration::from_micros(500)),
            loss: 0.0,
            duplication: 0.0,
            bytes_per_second: None,
        }
    }
}

/// The time of a packet that a host sends to itself.
const LOOPBACK: u64 = 5_000;

/// Whether a packet arrives, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives after this time, in nanoseconds.
    Arrives(u64),
    Lost,
    /// It waits until the link is released.
    Held,
}

/// The links between the hosts of a simulation.
pub(crate) struct Links {
    default: Link,
    /// Those that differ, by the numbers of the sender and the receiver.
    special: BTreeMap<(usize, usize), Link>,
    /// How many faults cut each way.
    cuts: BTreeMap<(usize, usize), u32>,
    /// How many faults hold each way.
    holds: BTreeMap<(usize, usize), u32>,
    /// Until when the bytes that were sent keep a link busy.
    busy_until: BTreeMap<(usize, usize), u64>,
}

impl Links {
    pub(crate) fn new() -> Self {
        Self {
            default: Link::default(),
            special: BTreeMap::new(),
            cuts: BTreeMap::new(),
            holds: BTreeMap::new(),
            busy_until: BTreeMap::new(),
        }
    }

    pub(crate) fn set_default(&mut self, link: Link) {
        self.default = link;
    }

    pub(crate) fn set(&mut self, from: usize, to: usize, link: Link) {
        self.special.insert((from, to), link);
    }

    fn link(&self, from: usize, to: usize) -> &Link {
        let is_plain = self.special.is_empty();
        let special = (!is_plain).then(|| self.special.get(&(from, to))).flatten();
        special.unwrap_or(&self.default)
    }

    pub(crate) fn cut(&mut self, from: usize, to: usize) {
        *self.cuts.entry((from, to)).or_default() += 1;
    }

    pub(crate) fn heal(&mut self, from: usize, to: usize) {
        lower(&mut self.cuts, from, to);
    }

    pub(crate) fn hold(&mut self, from: usize, to: usize) {
        *self.holds.entry((from, to)).or_default() += 1;
    }

    /// Returns whether packets pass again.
    pub(crate) fn release(&mut self, from: usize, to: usize) -> bool {
        lower(&mut self.holds, from, to);
        !self.is_held(from, to)
    }

    pub(crate) fn is_held(&self, from: usize, to: usize) -> bool {
        !self.holds.is_empty() && self.holds.contains_key(&(from, to))
    }

    /// Whether a fault holds or cuts any link.
    pub(crate) fn has_faults(&self) -> bool {
        !self.holds.is_empty() || !self.cuts.is_empty()
    }

    pub(crate) fn is_cut(&self, from: usize, to: usize) -> bool {
        !self.cuts.is_empty() && self.cuts.contains_key(&(from, to))
    }

    /// Whether no fault cuts or holds this way.
    pub(crate) fn passes(&self, from: usize, to: usize) -> bool {
        from == to || !self.is_cut(from, to) && !self.holds.contains_key(&(from, to))
    }

    /// Decides about a packet of so many bytes that is sent at `now`.
    pub(crate) fn send(
        &mut self,
        random: &mut Random,
        (from, to): (usize, usize),
        bytes: usize,
        now: u64,
    ) -> Fate {
        if from == to {
            return Fate::Arrives(LOOPBACK);
        }
        if self.is_cut(from, to) {
            return Fate::Lost;
        }
        if self.is_held(from, to) {
            return Fate::Held;
        }
        let link = *self.link(from, to);
        if link.loss > 0.0 && random.chance(link.loss) {
            return Fate::Lost;
        }
        let mut time = link.latency.draw(random);
        if let Some(bytes_per_second) = link.bytes_per_second {
            let busy = self.busy_until.entry((from, to)).or_default();
            let takes = bytes as u64 * 1_000_000_000 / bytes_per_second.max(1);
            *busy = now.max(*busy) + takes;
            time += *busy - now;
        }
        Fate::Arrives(time)
    }

    /// Whether a datagram arrives a second time.
    pub(crate) fn duplicates(&self, random: &mut Random, from: usize, to: usize) -> bool {
        let duplication = self.link(from, to).duplication;
        duplication > 0.0 && random.chance(duplication)
    }
}

fn lower(counts: &mut BTreeMap<(usize, usize), u32>, from: usize, to: usize) {
    if let Some(count) = counts.get_mut(&(from, to)) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&(from, to));
        }
    }
}

impl Latency {
    fn draw(self, random: &mut Random) -> u64 {
        match self {
            Self::Fixed(time) => nanos(time),
            Self::Uniform { min, max } => {
                let (min, max) = (nanos(min), nanos(max));
                min + random.below(max.saturating_sub(min) + 1)
            }
            Self::Exponential { min, mean } => {
                let above = nanos(mean).saturating_sub(nanos(min)) as f64;
                nanos(min) + (-random.fraction().ln() * above) as u64
            }
        }
    }
}
