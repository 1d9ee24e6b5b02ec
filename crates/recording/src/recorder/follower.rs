//! Reads the events of a recorder repeatedly, each event once.

use crate::Recording;

use crate::recorder::Recorder;
use crate::recorder::clock::Anchor;
use crate::recorder::lane::{Polled, Positions};

/// Reads the events of a recorder in pieces, each event once. A file can therefore have more events
/// than the rings.
///
/// # Examples
///
/// ```
/// # use raddle_recording::recorder::{Recorder, RecorderOptions};
/// # use raddle_recording::Event;
/// # let recorder = Recorder::new(RecorderOptions::default());
/// let mut follower = recorder.follow();
/// recorder.record(Event::DriverStarted);
/// assert_eq!(follower.read().by_time().len(), 1);
/// // Nothing is new since then.
/// assert_eq!(follower.read().by_time().len(), 0);
/// ```
#[derive(Debug)]
pub struct Follower {
    recorder: Recorder,
    /// The next positions of each lane.
    positions: Vec<Positions>,
    /// The last reading of the clock.
    former: Anchor,
    polled: Polled,
}

impl Follower {
    pub(crate) fn new(recorder: Recorder, origin: Anchor) -> Self {
        Self {
            recorder,
            positions: Vec::new(),
            former: origin,
            polled: Polled::new(),
        }
    }

    /// Returns the events since the last call, with all strings. Threads without events are left
    /// out.
    pub fn read(&mut self) -> Recording {
        let lanes = self.recorder.lanes();
        self.positions.resize(lanes.len(), Positions::default());
        let mut all = Vec::with_capacity(lanes.len());
        for (lane, positions) in lanes.iter().zip(&mut self.positions) {
            all.push(lane.read_from(positions));
        }
        self.recorder
            .recording(&all, &mut self.former, &mut self.polled)
    }
}
