use std::thread;

use super::*;

/// The durations of a worker.
fn read(times: &WorkerTimes) -> (SampledTimes, SampledTimes) {
    let mut read = (SampledTimes::default(), SampledTimes::default());
    times.add_to(&mut read.0, &mut read.1);
    read
}

fn sampler() -> (Sampler, Arc<WorkerTimes>) {
    let times = Arc::new(WorkerTimes::default());
    let probes = Arc::new(Probes::new(Epoch::now()));
    (Sampler::new(0, probes, times.clone()), times)
}

#[test]
fn a_duration_is_in_the_first_bucket_whose_bound_it_does_not_exceed() {
    let mut times = SampledTimes::default();
    for nanos in [0, 1_000, 1_001, 10_000_000_000, 10_000_000_001] {
        times.record(Duration::from_nanos(nanos), 2);
    }
    let counts: Vec<_> = times.buckets().collect();
    assert_eq!(counts.len(), 23);
    assert_eq!(counts[0], (Some(Duration::from_micros(1)), 4));
    assert_eq!(counts[1], (Some(Duration::from_micros(2)), 2));
    assert_eq!(counts[21], (Some(Duration::from_secs(10)), 2));
    assert_eq!(counts[22], (None, 2));
    assert_eq!(times.count(), 10);
    assert_eq!(times.sum(), Duration::from_nanos(2 * 20_000_002_002));
}

#[test]
fn all_events_that_are_far_apart_are_measured_and_one_of_128_that_are_close() {
    let random = Cell::new(7);
    for (distance, expected) in [
        (4_000, 1.0),
        (1_000_000_000, 1.0),
        (1_000, 4.0),
        (20, 128.0),
    ] {
        let countdown = Countdown::new();
        let (mut measured, mut weights) = (0, 0);
        for event in 1..=1_000_000 {
            if countdown.is_due() {
                measured += 1;
                weights += countdown.restart(event * distance, &random);
            }
        }
        let mean = 1e6 / f64::from(measured);
        let range = 0.9 * expected..1.1 * expected;
        assert!(range.contains(&mean), "one of {mean} at {distance} ns");
        assert!((999_744..=1_000_000).contains(&weights), "{weights}");
    }
}

/// Otherwise a burst of wakes in the poll after a long one would all be measured.
#[test]
fn a_burst_after_a_pause_is_sampled_after_few_events() {
    let (countdown, random) = (Countdown::new(), Cell::new(7));
    let mut now = 1_000_000_000;
    let measured = (0..1_000).filter(|_| {
        now += 30;
        let is_due = countdown.is_due();
        if is_due {
            now += 70;
            let _weight = countdown.restart(now, &random);
        }
        is_due
    });
    assert!(measured.count() < 40);
}

#[test]
fn the_weights_add_up_to_the_polls_and_to_the_wakes() {
    let (sampler, times) = sampler();
    for task in 1..=10_000 {
        if sampler.measures_wait() {
            sampler.measure_wait(task);
        }
        if sampler.measures_poll(task) {
            if let Some(poll) = sampler.begin_poll(task) {
                sampler.end_poll(poll);
            }
        }
    }
    let (polls, delays) = read(&times);
    for times in [polls, delays] {
        assert!(
            (9_745..=10_000).contains(&times.count()),
            "{}",
            times.count()
        );
    }
}

/// Otherwise the delays of an overloaded runtime would be those of the first tasks of each burst.
#[test]
fn tasks_that_share_an_entry_are_measured_by_chance_with_the_weight_of_all() {
    let mut chosen = [0; 8];
    for round in 0..4_000 {
        let probes = Probes::new(Epoch::now());
        let tasks = (0..8).map(|number| 1 + number * SLOTS as u64);
        // At equal distances, which are no random numbers.
        for (now, task) in (1_000 + 13 * round..).step_by(60).zip(tasks.clone()) {
            probes.put(task, 3, now);
        }
        let taken = tasks.map(|task| probes.take(task));
        let taken: Vec<_> = taken.enumerate().filter(|(_, it)| it.is_some()).collect();
        assert_eq!(taken.len(), 1);
        assert_eq!(taken[0].1.unwrap().1, 24);
        chosen[taken[0].0] += 1;
    }
    // 500 each, with a deviation of 21.
    assert!(
        chosen.iter().all(|count| (350..650).contains(count)),
        "{chosen:?}"
    );
}

#[test]
fn no_wait_is_lost_or_invented_while_threads_put_and_take() {
    const TASKS: u64 = 20_000;
    let probes = Arc::new(Probes::new(Epoch::now()));
    let threads = (0..3_u64).map(|thread| {
        let probes = probes.clone();
        thread::spawn(move || {
            let mut weights = 0;
            for number in 0..TASKS {
                // Each id is of one thread, and each entry of all of them.
                let task = 1 + thread * SLOTS as u64 + number % 4 + number / 4 * 4 * SLOTS as u64;
                let before = probes.now();
                probes.put(task, 1, before);
                if let Some((since, weight)) = probes.take(task) {
                    assert!(since >= before, "the time is that of another wait");
                    weights += weight;
                }
            }
            weights
        })
    });
    let threads: Vec<_> = threads.collect();
    let taken: u64 = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .sum();
    let left: u64 = probes
        .weights
        .iter()
        .map(|it| it.load(Ordering::Relaxed))
        .sum();
    assert_eq!(taken + left, 3 * TASKS);
}
