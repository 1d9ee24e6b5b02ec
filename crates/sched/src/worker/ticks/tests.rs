use super::*;

/// A worker whose polls take some time each.
struct Timed {
    ticks: Ticks,
    busy: Duration,
}

impl Timed {
    fn new(event_interval: Option<u32>) -> Self {
        Self {
            ticks: Ticks::new(31, event_interval),
            busy: Duration::ZERO,
        }
    }

    /// Returns the steps among the next `steps` that have a tick, if each step takes `poll`.
    fn due(&mut self, steps: u32, poll: Duration) -> Vec<(u32, Due)> {
        let mut due = Vec::new();
        for step in 1..=steps {
            if self.ticks.step() {
                due.push((step, self.ticks.take(Some(self.busy))));
            }
            self.busy += poll;
        }
        due
    }
}

fn steps_of(due: &[(u32, Due)], kind: impl Fn(&Due) -> bool) -> Vec<u32> {
    let of_kind = due.iter().filter(|(_, due)| kind(due));
    of_kind.map(|&(step, _)| step).collect()
}

fn distances(steps: &[u32]) -> Vec<u32> {
    steps.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

const FAST: Duration = Duration::from_nanos(100);

#[test]
fn fast_polls_have_their_ticks_at_the_configured_intervals() {
    let mut timed = Timed::new(Some(61));
    let _grown = timed.due(100, FAST);
    let due = timed.due(200, FAST);
    let assert_distances = |expected: &[u32], steps: Vec<u32>| {
        let distances = distances(&steps);
        assert!(distances.len() > 1 && distances.iter().all(|it| expected.contains(it)));
    };
    // The driver is polled at every second tick of the injection queue.
    assert_distances(&[31, 30], steps_of(&due, |due| due.injection));
    assert_distances(&[61], steps_of(&due, |due| due.events));
    assert_eq!(due.len(), steps_of(&due, |due| due.injection).len());
}

#[test]
fn by_default_the_driver_is_polled_about_once_a_millisecond() {
    let mut timed = Timed::new(None);
    let poll = Duration::from_micros(2);
    let _grown = timed.due(1_000, poll);
    let due = timed.due(10_000, poll);
    let distances = distances(&steps_of(&due, |due| due.events));
    assert!(!distances.is_empty());
    assert!(
        distances.iter().all(|it| (500..=531).contains(it)),
        "{distances:?}"
    );
}

#[test]
fn both_ticks_may_be_due_at_once() {
    let ticks = Ticks::new(2, Some(4));
    let due = (0..4).filter(|_| ticks.step()).map(|_| ticks.take(None));
    let both = Due {
        injection: true,
        events: true,
    };
    assert_eq!(due.last(), Some(both));
}

/// tokio 5720.
#[test]
fn slow_polls_shorten_the_intervals() {
    for event_interval in [None, Some(61)] {
        let mut timed = Timed::new(event_interval);
        let poll = Duration::from_micros(150);
        let _first = timed.due(31, poll);
        let due = timed.due(100, poll);
        let max = (2 * TARGET.as_micros()).div_ceil(poll.as_micros()) as u32;
        for kind in [|due: &Due| due.events, |due: &Due| due.injection] {
            let distances = distances(&steps_of(&due, kind));
            assert!(
                distances.len() > 1 && distances.iter().all(|it| *it <= max),
                "{distances:?}"
            );
        }
    }
}

/// Two tasks in slow polls, and one between them that is fast.
#[test]
fn a_fast_poll_between_slow_ones_does_not_lengthen_the_intervals() {
    let mut timed = Timed::new(None);
    let slow = Duration::from_millis(5);
    let _first = timed.due(35, slow);
    for _ in 0..10 {
        assert!(timed.due(1, FAST).iter().any(|(_, due)| due.events));
        assert_eq!(timed.due(1, slow).len(), 1);
        assert!(timed.due(1, slow).iter().any(|(_, due)| due.events));
    }
}

/// From the first tick on. Before every second step the worker takes from its own queue first.
#[test]
fn polls_longer_than_the_target_have_a_tick_each() {
    let slow = Duration::from_millis(5);
    let mut timed = Timed::new(None);
    for fast in [0, 1000] {
        let _fast = timed.due(fast, FAST);
        let due = timed.due(50, slow);
        for (kind, distance) in [
            ((|due| due.events) as fn(&Due) -> bool, 1),
            (|due| due.injection, 2),
        ] {
            let steps = steps_of(&due, kind);
            assert!(
                steps[0] <= 33 && distances(&steps).iter().all(|it| *it == distance),
                "{steps:?}"
            );
        }
    }
}

#[test]
fn polls_are_slow_if_none_fits_into_the_target() {
    let mut timed = Timed::new(None);
    assert!(!timed.ticks.has_slow_polls());
    let _slow = timed.due(33, Duration::from_millis(5));
    assert!(timed.ticks.has_slow_polls());
    let _fast = timed.due(3, FAST);
    assert!(!timed.ticks.has_slow_polls());
}

/// A few fast polls may be followed by slow ones.
#[test]
fn intervals_grow_by_no_more_than_twice_at_a_time() {
    let mut timed = Timed::new(None);
    let _slow = timed.due(40, 2 * TARGET);
    let steps = steps_of(&timed.due(100, FAST), |_| true);
    let distances = distances(&steps);
    assert!(distances.len() > 4);
    assert!(
        distances.windows(2).all(|pair| pair[1] <= 2 * pair[0]),
        "{distances:?}"
    );
}

#[test]
fn slow_polls_shorten_an_interval_that_has_begun() {
    let ticks = Ticks::new(31, Some(10));
    let due_at = |steps: u32, busy| {
        for step in 1..=steps {
            assert_eq!(ticks.step(), step == steps, "step {step}");
        }
        ticks.take(Some(busy))
    };
    assert!(due_at(10, Duration::ZERO).events);
    // Two such steps fit into the target, and 21 steps are left to the tick of the injection queue.
    assert!(due_at(10, 5 * TARGET).events);
    assert!(due_at(2, 6 * TARGET).injection);
}

/// A poll of the driver that takes long would otherwise be repeated before each step.
#[test]
fn the_time_of_a_driver_poll_does_not_count() {
    let mut timed = Timed::new(None);
    let (mut ticks, mut driver_polls) = (0, 0);
    for _ in 0..10_000 {
        let due = timed.due(1, FAST);
        ticks += due.len();
        if due.iter().any(|(_, due)| due.events) {
            driver_polls += 1;
            timed.busy += 2 * TARGET;
            timed.ticks.restart_clock(timed.busy);
        }
    }
    assert_eq!(driver_polls, 10_000 * FAST.as_nanos() / TARGET.as_nanos());
    assert_eq!(ticks, 10_000 / 31);
}

#[test]
fn without_a_measured_time_the_intervals_do_not_change() {
    for (configured, interval) in [(Some(5), 5), (None, 61)] {
        let ticks = Ticks::new(3, configured);
        let due: Vec<u32> = (1..=4 * interval)
            .filter(|_| ticks.step() && ticks.take(None).events)
            .collect();
        assert_eq!(due, [1, 2, 3, 4].map(|tick| tick * interval));
    }
}

#[test]
fn a_requested_tick_is_next_and_delays_no_other_tick() {
    let ticks = Ticks::new(3, Some(5));
    let mut injection = Vec::new();
    let mut events = Vec::new();
    for step in 1..=12 {
        if step == 2 || step == 9 {
            ticks.force_tick();
        }
        if ticks.step() {
            let due = ticks.take(None);
            injection.extend(due.injection.then_some(step));
            events.extend(due.events.then_some(step));
        }
    }
    assert_eq!(injection, [3, 6, 9, 12]);
    assert_eq!(events, [2, 7, 9]);
}

#[test]
fn a_nested_step_counts_unless_the_next_step_has_a_tick() {
    let ticks = Ticks::new(4, Some(6));
    assert!(ticks.nested_step() && ticks.nested_step() && ticks.nested_step());
    for _ in 0..2 {
        assert!(!ticks.nested_step());
    }
    assert!(ticks.step());
    assert!(ticks.take(None).injection);
    assert!(ticks.nested_step());
    assert!(!ticks.nested_step(), "the next step has a tick for events");
}
