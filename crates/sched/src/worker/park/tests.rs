use super::*;
use crate::config::Config;
use crate::id::Id;
use crate::shared::Shared;
use crate::worker::Worker;

/// Two workers of a pool that trust each other. The second was in the driver last.
fn trusted() -> [Worker; 2] {
    let config = Config {
        workers: 2,
        ..Config::default()
    };
    let (shared, workers) = Shared::new(Id::next(), 0, config, None, Order::Slot);
    for worker in &workers {
        let core = worker.core();
        core.keep_time();
        (1..=1_000).for_each(|micros| poll_until(core, Duration::from_micros(micros)));
    }
    shared.set_host(Some(1));
    workers.try_into().expect("there are two")
}

/// A poll, after which the worker has been busy for so long in all.
fn poll_until(core: &Core, busy: Duration) {
    core.counters.polls.add(1);
    core.counters.pace.note(busy, core.counters.polls.get());
}

#[test]
fn the_driver_is_left_to_a_host_that_runs_and_is_trusted() {
    let [parks, host] = trusted();
    assert!(parks.core().leaves_driver_to_another());
    assert!(!host.core().leaves_driver_to_another());
    poll_until(host.core(), Duration::from_secs(1));
    assert!(!parks.core().leaves_driver_to_another());
}

/// As it is while it parks, having found the driver taken, or looks after the others.
#[test]
fn the_driver_is_not_left_to_a_host_that_is_listed_but_awake() {
    let [parks, host] = trusted();
    let index = host.core().index;
    let _ = host.core().shared.idle.transition_to_parked(index, false);
    assert!(!host.core().remote().parker.is_parked());
    assert!(!parks.core().leaves_driver_to_another());
    let _ = host.core().shared.idle.transition_to_running(index);
    assert!(parks.core().leaves_driver_to_another());
}
