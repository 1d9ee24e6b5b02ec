use super::*;

const POLL: Duration = Duration::from_micros(8);

/// The average of several samples, with the totals that it was given.
struct History {
    average: PollAverage,
    busy: Duration,
    polls: u64,
}

impl History {
    /// Makes the average of `samples` samples, each of three polls of [`POLL`].
    fn new(samples: u64) -> Self {
        let mut history = Self {
            average: PollAverage::default(),
            busy: Duration::ZERO,
            polls: 0,
        };
        (0..samples).for_each(|_| history.sample(3, 3 * POLL));
        history
    }

    fn sample(&mut self, polls: u64, time: Duration) {
        self.busy += time;
        self.polls += polls;
        self.average.update(self.busy, self.polls);
    }
}

#[test]
fn the_mean_approaches_the_time_of_a_poll() {
    let mean = History::new(100).average.mean_poll_time();
    assert!(mean.abs_diff(POLL) < POLL / 100, "{mean:?}");
}

#[test]
fn a_sample_counts_as_many_times_as_it_has_polls() {
    let mut history = History::new(0);
    // The average begins at zero.
    history.sample(1, POLL);
    assert_eq!(history.average.mean_poll_time(), POLL / 10);
    let mut history = History::new(0);
    history.sample(9, 9 * POLL);
    assert_eq!(history.average.mean_poll_time(), POLL / 2);
}

#[test]
fn a_sample_without_a_poll_is_ignored() {
    let mut history = History::new(100);
    let mean = history.average.mean_poll_time();
    history.sample(0, Duration::from_secs(1));
    assert_eq!(history.average.mean_poll_time(), mean);
}
