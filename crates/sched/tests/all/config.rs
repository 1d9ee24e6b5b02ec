//! The default configuration.

use raddle_sched::{Config, Policy, UnhandledPanic};

#[test]
fn the_defaults_are_those_that_the_documentation_names() {
    let config = Config::default();
    assert_eq!(config.workers, 1);
    assert_eq!(config.policy, Policy::WorkStealing);
    assert_eq!(config.global_queue_interval, 31);
    assert_eq!(config.event_interval, None);
    assert!(config.next_task_slot && config.has_monitor);
    assert_eq!((config.thread_name)(), "raddle-worker");
    assert_eq!(config.thread_stack_size, None);
    assert_eq!(config.unhandled_panic, UnhandledPanic::Ignore);
}
