use super::*;

/// Returns the steps among the next `steps` that have a tick, if each step takes `poll`.
fn due(ticks: &Ticks, steps: u32, poll: Duration) -> Vec<(u32, Due)> {
    let before = ticks.busy_at_last_poll.get();
    (1..=steps)
        .filter(|_| ticks.step())
        .map(|step| (step, ticks.take(|| Some(before + poll * step))))
        .collect()
}

fn steps_of(due: &[(u32, Due)], kind: impl Fn(&Due) -> bool) -> Vec<u32> {
    let of_kind = due.iter().filter(|(_, due)| kind(due));
    of_kind.map(|&(step, _)| step).collect()
}

#[test]
fn fast_polls_have_their_ticks_at_the_configured_intervals() {
    let ticks = Ticks::new(31, 61);
    let due = due(&ticks, 200, Duration::from_nanos(100));
    assert_eq!(
        steps_of(&due, |due| due.injection),
        [31, 62, 93, 124, 155, 186]
    );
    assert_eq!(steps_of(&due, |due| due.events), [61, 122, 183]);
}

#[test]
fn both_ticks_may_be_due_at_once() {
    let ticks = Ticks::new(2, 4);
    let due = due(&ticks, 4, Duration::ZERO);
    let both = Due {
        injection: true,
        events: true,
    };
    assert_eq!(due.last(), Some(&(4, both)));
}

/// tokio 5720.
#[test]
fn slow_polls_shorten_the_intervals() {
    let ticks = Ticks::new(31, 61);
    let poll = Duration::from_micros(250);
    let _ = due(&ticks, 61, poll);
    let due = due(&ticks, 100, poll);
    for kind in [|due: &Due| due.events, |due: &Due| due.injection] {
        let steps = steps_of(&due, kind);
        // The distance is at most twice the target, because the interval is doubled to see whether
        // polls have become faster.
        let max_steps = (2 * TARGET.as_micros() / poll.as_micros()) as u32;
        assert!(steps[0] <= max_steps, "{steps:?}");
        assert!(
            steps.windows(2).all(|pair| pair[1] - pair[0] <= max_steps),
            "{steps:?}"
        );
    }
}

#[test]
fn polls_longer_than_the_target_have_a_tick_each() {
    let ticks = Ticks::new(31, 61);
    let poll = Duration::from_millis(5);
    let _ = due(&ticks, 61, poll);
    let due = due(&ticks, 10, poll);
    let each: Vec<u32> = (1..=10).collect();
    assert_eq!(steps_of(&due, |due| due.events), each);
    assert_eq!(steps_of(&due, |due| due.injection), each);
}

#[test]
fn the_intervals_grow_back_when_polls_are_fast_again() {
    let ticks = Ticks::new(31, 61);
    let _ = due(&ticks, 61, Duration::from_millis(5));
    let _ = due(&ticks, 200, Duration::from_nanos(100));
    assert_eq!(ticks.scaled.get(), 61);
}

#[test]
fn without_a_measured_time_the_intervals_do_not_change() {
    let ticks = Ticks::new(3, 5);
    let due: Vec<u32> = (1..=20)
        .filter(|_| ticks.step() && ticks.take(|| None).events)
        .collect();
    assert_eq!(due, [5, 10, 15, 20]);
}

#[test]
fn a_requested_tick_is_next_and_delays_no_other_tick() {
    let ticks = Ticks::new(3, 5);
    let mut injection = Vec::new();
    let mut events = Vec::new();
    for step in 1..=12 {
        if step == 2 || step == 9 {
            ticks.force_tick();
        }
        if ticks.step() {
            let due = ticks.take(|| None);
            injection.extend(due.injection.then_some(step));
            events.extend(due.events.then_some(step));
        }
    }
    assert_eq!(injection, [3, 6, 9, 12]);
    assert_eq!(events, [2, 7, 9]);
}

#[test]
fn a_nested_step_counts_unless_the_next_step_has_a_tick() {
    let ticks = Ticks::new(4, 6);
    assert!(ticks.nested_step() && ticks.nested_step() && ticks.nested_step());
    for _ in 0..2 {
        assert!(!ticks.nested_step());
    }
    assert!(ticks.step());
    assert!(ticks.take(|| None).injection);
    assert!(ticks.nested_step());
    assert!(!ticks.nested_step(), "the next step has a tick for events");
}

#[test]
fn the_interval_shrinks_in_proportion_to_the_time_above_the_target() {
    let ticks = Ticks::new(31, 61);
    ticks.scale(2 * TARGET);
    assert_eq!(ticks.scaled.get(), 30);
    // The interval grows while the measured time is short enough.
    ticks.scale(3 * TARGET);
    assert_eq!(ticks.scaled.get(), 60);
    ticks.scale(103 * TARGET);
    assert_eq!(ticks.scaled.get(), 1);
}
