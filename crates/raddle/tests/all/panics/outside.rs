//! What the panics say of operations that need a runtime or its timers, where these are missing.

use std::future::pending;

use raddle::io::AsyncWriteExt;
use raddle::runtime::{Builder, Handle, Runtime};
use raddle::time::{self, Duration, Instant};

use super::{Case, SOON, outside};
use crate::common::panic_message;

const NO_RUNTIME: &str = "no runtime on this thread; call this";
/// The arguments of `block_on` are evaluated outside of the runtime.
const NO_RUNTIME_FOR_TIMER: &str = "no timers on this thread, which is outside a runtime; create \
    the timer inside `rt.block_on(async { sleep(duration).await })` or after \
    `let _guard = rt.enter()`; without a runtime, enter a raddle_timer::Handle";

/// Functions that need timers when they are called.
const TIMERS: &[Case] = &[
    ("sleep", || drop(time::sleep(SOON))),
    ("sleep of zero", || drop(time::sleep(Duration::ZERO))),
    ("sleep_until", || drop(time::sleep_until(Instant::now()))),
    ("timeout", || drop(time::timeout(SOON, pending::<()>()))),
    ("timeout_at", || {
        drop(time::timeout_at(Instant::now(), pending::<()>()));
    }),
    ("interval", || drop(time::interval(SOON))),
    ("interval_at", || {
        drop(time::interval_at(Instant::now(), SOON));
    }),
];

/// Functions that need a runtime, with or without drivers, when they are called or polled.
const OTHERS: &[Case] = &[
    ("spawn", || drop(raddle::spawn(pending::<()>()))),
    ("Handle::current", || drop(Handle::current())),
    ("spawn_blocking", || {
        drop(raddle::task::spawn_blocking(|| ()))
    }),
    ("File::open", || outside(raddle::fs::File::open("/"))),
    ("read_dir", || outside(raddle::fs::read_dir("/"))),
    ("stdout", || {
        outside(async { raddle::io::stdout().write(b"x").await.map(drop) });
    }),
];

fn assert_each_says(what: &str, cases: &[Case]) {
    for (name, run) in cases {
        let message = panic_message(run);
        assert!(message.contains(what), "{name}: {message}");
    }
}

/// A runtime of each kind, with the drivers that `enable` enables.
pub(super) fn runtimes(enable: impl Fn(&mut Builder) -> &mut Builder) -> [Runtime; 2] {
    let mut builders = [Builder::new_multi_thread(), Builder::new_current_thread()];
    builders
        .each_mut()
        .map(|builder| enable(builder.worker_threads(1)).build().unwrap())
}

#[test]
fn creating_a_timer_without_enable_time_panics_and_names_the_remedy() {
    assert_each_says(NO_RUNTIME_FOR_TIMER, TIMERS);
    let enabled = Builder::new_current_thread().enable_all().build().unwrap();
    let _outer = enabled.enter();
    for runtime in runtimes(Builder::enable_io) {
        let _guard = runtime.enter();
        assert_each_says("enable_time", TIMERS);
    }
}

/// The runtime has timers, but is not entered yet when the argument is evaluated.
#[test]
fn a_timer_in_the_arguments_of_block_on_names_the_async_block() {
    let blocks: [fn(&Runtime); 4] = [
        |runtime| runtime.block_on(time::sleep(SOON)),
        |runtime| runtime.block_on(time::sleep_until(Instant::now())),
        |runtime| drop(runtime.block_on(time::timeout(SOON, pending::<()>()))),
        |runtime| {
            runtime.block_on(time::interval(SOON).tick());
        },
    ];
    for runtime in runtimes(Builder::enable_all) {
        for block in blocks {
            assert_eq!(panic_message(|| block(&runtime)), NO_RUNTIME_FOR_TIMER);
        }
        runtime.block_on(async { time::sleep(SOON).await });
    }
}

#[test]
fn spawning_or_opening_a_file_outside_a_runtime_panics_and_names_the_remedy() {
    assert_each_says(NO_RUNTIME, OTHERS);
}

/// A `bind` that panics leaves no file at the socket's path.
#[test]
#[cfg(unix)]
fn a_bind_that_panics_leaves_the_port_free() {
    use raddle::net::{UnixDatagram, UnixListener};

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    panic_message(|| UnixListener::bind(&path).map(drop));
    panic_message(|| UnixDatagram::bind(&path).map(drop));
    assert!(!path.exists());
}

#[test]
#[should_panic(expected = "guards of Runtime::enter were dropped out of order")]
fn guards_of_two_runtimes_that_are_dropped_out_of_order_panic() {
    let [first, second] = [(); 2].map(|()| Builder::new_current_thread().build().unwrap());
    let outer = first.enter();
    let _inner = second.enter();
    drop(outer);
}
