use super::*;

const POLL: Duration = Duration::from_micros(8);

/// A average after `spells` of three polls of [`POLL`] each.
struct History {
    average: PollAverage,
    busy: Duration,
    polls: u64,
}

impl History {
    fn new(spells: u64) -> Self {
        let mut history = Self {
            average: PollAverage::default(),
            busy: Duration::ZERO,
            polls: 0,
        };
        (0..spells).for_each(|_| history.sample(3, 3 * POLL));
        history
    }

    fn sample(&mut self, polls: u64, time: Duration) {
        self.busy += time;
        self.polls += polls;
        self.average.note(self.busy, self.polls);
    }
}

#[test]
fn a_new_worker_is_not_keeping_up() {
    assert!(!History::new(0).average.keeps_up(1));
    assert!(!History::new(MIN_SAMPLES - 1).average.keeps_up(1));
    assert!(History::new(MIN_SAMPLES).average.keeps_up(1));
}

#[test]
fn the_mean_approaches_the_time_of_a_poll() {
    let mean = History::new(100).average.mean_poll_time();
    assert!(mean.abs_diff(POLL) < POLL / 100, "{mean:?}");
}

#[test]
fn a_worker_keeps_up_with_the_tasks_that_it_runs_within_the_delay() {
    let average = History::new(MIN_SAMPLES).average;
    assert!(average.keeps_up(12));
    assert!(!average.keeps_up(13));
}

#[test]
fn one_slow_poll_ends_keeping_up() {
    let mut history = History::new(2 * MIN_SAMPLES);
    history.sample(3, 3 * POLL + MAX_EXCESS + POLL);
    (1..MIN_SAMPLES).for_each(|_| {
        history.sample(3, 3 * POLL);
        assert!(!history.average.keeps_up(1));
    });
    // The mean is what it was again too.
    history.sample(3, 3 * POLL);
    assert!(history.average.keeps_up(12));
}

#[test]
fn a_worker_whose_polls_are_all_long_is_not_keeping_up() {
    let mut history = History::new(0);
    (0..2 * MIN_SAMPLES).for_each(|_| history.sample(1, 2 * LONG_POLL));
    assert!(!history.average.keeps_up(1));
}

#[test]
fn a_sample_without_a_poll_is_ignored() {
    let mut history = History::new(MIN_SAMPLES);
    history.sample(0, Duration::from_secs(1));
    assert!(history.average.keeps_up(12));
    assert_eq!(
        history.average.mean_poll_time(),
        History::new(MIN_SAMPLES).average.mean_poll_time()
    );
}

#[test]
fn a_sample_is_regular_up_to_a_fixed_time_above_the_prediction() {
    let mut history = History::new(MIN_SAMPLES);
    history.sample(1_000, 1_000 * POLL);
    assert!(
        history.average.keeps_up(12),
        "many polls take long together"
    );
    let mean = history.average.mean_poll_time();
    history.sample(3, 3 * mean + MAX_EXCESS);
    assert!(history.average.keeps_up(1));
    let mean = history.average.mean_poll_time();
    history.sample(3, 3 * mean + MAX_EXCESS + Duration::from_nanos(1));
    assert!(!history.average.keeps_up(1));
}

#[test]
fn a_mean_below_that_of_a_long_poll_is_short() {
    let nanosecond = Duration::from_nanos(1);
    for (mean, keeps_up) in [(LONG_POLL - nanosecond, true), (LONG_POLL, false)] {
        let mut history = History::new(0);
        // The average begins at zero.
        history.sample(1, mean * (EWMA_WEIGHT as u32 + 1));
        (0..MIN_SAMPLES).for_each(|_| history.sample(1, mean));
        assert_eq!(history.average.mean_poll_time(), mean);
        assert_eq!(history.average.keeps_up(1), keeps_up);
    }
}

#[test]
fn polls_are_long_that_took_more_than_a_long_poll_each() {
    assert!(!PollAverage::is_long(3 * LONG_POLL, 3));
    assert!(PollAverage::is_long(
        3 * LONG_POLL + Duration::from_nanos(1),
        3
    ));
    assert!(!PollAverage::is_long(Duration::ZERO, 0));
    assert!(PollAverage::is_long(Duration::from_nanos(1), 0));
}
