//! Invalid configurations, and threads that the system refuses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{POLICIES, config, config_of, message_of};
use raddle_sched::{Config, Pool};

#[test]
fn a_pool_without_workers_is_refused() {
    for policy in POLICIES {
        let message = message_of(|| drop(Pool::start(config_of(policy, 0), None)));
        assert_eq!(
            message,
            "a scheduler cannot have 0 workers; set Config::workers from 1 to 65535"
        );
    }
}

#[test]
#[should_panic(expected = "set Config::workers from 1 to 65535")]
fn too_many_workers_are_refused() {
    drop(Pool::start(config(65_536), None));
}

#[test]
fn too_many_spare_workers_are_refused() {
    for max_spare_workers in [65_536, usize::MAX - 1, usize::MAX] {
        let config = Config {
            max_spare_workers,
            handoff: Some(Arc::new(drop)),
            ..config(1)
        };
        let message = message_of(|| drop(Pool::start(config, None)));
        let advice = "set Config::max_spare_workers to 65535 or less";
        assert!(message.contains(advice), "{message}");
    }
}

#[test]
#[should_panic(expected = "set Config::global_queue_interval to 1 or more")]
fn an_interval_of_zero_is_refused() {
    let config = Config {
        global_queue_interval: 0,
        ..config(1)
    };
    drop(Pool::start(config, None));
}

/// No system gives a thread a stack of nearly the whole address space.
#[test]
fn a_thread_that_the_system_refuses_is_an_error() {
    let error = Pool::start(
        Config {
            thread_stack_size: Some(usize::MAX / 16 * 15),
            ..config(3)
        },
        None,
    )
    .unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with("the system refused a worker thread: "));
    let advice = "; raise the limit of threads, or ask for fewer workers or a smaller stack";
    assert!(message.ends_with(advice), "{message}");
}

/// The third thread cannot start, because its name function panics. The first two are joined.
#[test]
fn a_start_that_fails_half_way_joins_the_threads_it_started() {
    let ended = Arc::new(AtomicUsize::new(0));
    let (asked, counted) = (AtomicUsize::new(0), ended.clone());
    let config = Config {
        thread_name: Arc::new(move || {
            assert!(asked.fetch_add(1, Ordering::SeqCst) < 2, "no more names");
            "named".to_owned()
        }),
        around_worker: Some(Arc::new(move |_, run| {
            assert_eq!(std::thread::current().name(), Some("named"));
            run();
            counted.fetch_add(1, Ordering::SeqCst);
        })),
        ..config(4)
    };
    let message = message_of(|| drop(Pool::start(config, None)));
    assert_eq!(message, "no more names");
    assert_eq!(ended.load(Ordering::SeqCst), 2);
}

/// The third thread cannot start, because its name is invalid. The first two are joined.
#[test]
fn a_name_with_a_zero_byte_is_refused() {
    let ended = Arc::new(AtomicUsize::new(0));
    let (asked, counted) = (AtomicUsize::new(0), ended.clone());
    let config = Config {
        thread_name: Arc::new(move || match asked.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => "named".to_owned(),
            _ => "na\0med".to_owned(),
        }),
        around_worker: Some(Arc::new(move |_, run| {
            run();
            counted.fetch_add(1, Ordering::SeqCst);
        })),
        ..config(4)
    };
    let error = Pool::start(config, None).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("zero byte"), "{error}");
    assert_eq!(ended.load(Ordering::SeqCst), 2);
}
