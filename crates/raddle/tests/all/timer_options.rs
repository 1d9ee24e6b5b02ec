//! The resolution of the timers, and a clock that counts suspended time.

use std::time::Duration;

use crate::common::{builders, current_thread, multi_thread, panic_message};
use raddle::runtime::Builder;
use raddle::time::{Instant, interval, sleep, timeout};

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// With both options, with and without sockets.
fn each_option(test: impl Fn(&mut Builder)) {
    type Set = fn(&mut Builder) -> &mut Builder;
    let options: [Set; 3] = [
        |builder| builder.timer_resolution(us(10)),
        |builder| builder.include_suspended_time(true),
        |builder| builder.timer_resolution(us(1)).include_suspended_time(true),
    ];
    for option in options {
        for mut builder in builders() {
            test(option(&mut builder));
        }
        let mut without_io = Builder::new_current_thread();
        test(option(without_io.enable_time()));
    }
}

#[test]
fn timers_are_never_early() {
    each_option(|builder| {
        builder.build().unwrap().block_on(async {
            for micros in [0, 1, 100, 999, 1_001, 2_300] {
                let wait = us(micros);
                let start = Instant::now();
                sleep(wait).await;
                assert!(start.elapsed() >= wait, "{wait:?}");
                let elapsed = raddle::spawn(async move {
                    let start = Instant::now();
                    let never = std::future::pending::<()>();
                    timeout(wait, never).await.unwrap_err();
                    start.elapsed()
                });
                assert!(elapsed.await.unwrap() >= wait, "{wait:?}");
            }
            let mut ticks = interval(us(200));
            let first = ticks.tick().await;
            assert_eq!(ticks.tick().await, first + us(200));
        });
    });
}

/// The shortest of many sleeps shows how precise they can be; the others may have been interrupted.
/// With the default, none is shorter than a millisecond.
#[test]
#[cfg(any(target_os = "linux", target_os = "android"))]
fn sleeps_can_be_shorter_than_a_millisecond() {
    each_option(|builder| {
        builder.timer_resolution(us(10));
        let shortest = builder.build().unwrap().block_on(async {
            let task = raddle::spawn(async {
                let mut shortest = Duration::MAX;
                for _ in 0..1_000 {
                    let start = std::time::Instant::now();
                    sleep(us(100)).await;
                    shortest = shortest.min(start.elapsed());
                }
                shortest
            });
            task.await.unwrap()
        });
        assert!(shortest < us(900), "{builder:?}: {shortest:?}");
    });
}

#[test]
fn a_paused_clock_counts_in_the_resolution() {
    let mut builder = current_thread();
    builder.start_paused(true).timer_resolution(us(1));
    builder.build().unwrap().block_on(async {
        let start = Instant::now();
        sleep(us(17)).await;
        assert_eq!(start.elapsed(), us(17));
    });
}

#[test]
fn a_resolution_that_does_not_divide_a_millisecond_panics() {
    for resolution in [0, 300, 2_000].map(us) {
        let mut builder = multi_thread();
        let message = panic_message(|| {
            builder.timer_resolution(resolution);
        });
        assert!(
            message.contains("does not divide a millisecond"),
            "{message}"
        );
    }
}

#[cfg(target_os = "linux")]
mod descriptors {
    use std::fs;

    use super::*;
    use crate::common::own_process::in_own_process;
    use raddle::runtime::Policy;

    /// The clocks of the timers of the system that this process has.
    fn clocks() -> Vec<String> {
        let infos = fs::read_dir("/proc/self/fdinfo").unwrap();
        // A descriptor may be closed meanwhile: that of the directory is.
        let infos = infos.filter_map(|info| fs::read_to_string(info.unwrap().path()).ok());
        let clocks = infos.filter_map(|info| {
            let clock = info.lines().find_map(|line| line.strip_prefix("clockid:"));
            clock.map(|clock| clock.trim().to_owned())
        });
        clocks.collect()
    }

    /// A timer of `CLOCK_BOOTTIME` fires when the system resumes.
    #[test]
    fn only_a_runtime_with_an_option_has_a_timer_of_the_system() {
        in_own_process(
            "timer_options::descriptors::only_a_runtime_with_an_option_has_a_timer_of_the_system",
            || {
                let monotonic = libc::CLOCK_MONOTONIC.to_string();
                let boot_time = libc::CLOCK_BOOTTIME.to_string();
                let clocks_of = |builder: &mut Builder| {
                    let _runtime = builder.build().unwrap();
                    clocks()
                };
                for mut builder in [multi_thread(), current_thread()] {
                    assert!(clocks_of(&mut builder).is_empty());
                    builder.timer_resolution(us(500));
                    assert_eq!(clocks_of(&mut builder), [monotonic.as_str()]);
                    builder.include_suspended_time(true);
                    assert_eq!(clocks_of(&mut builder), [boot_time.as_str()]);
                    builder.timer_resolution(us(1_000));
                    assert_eq!(clocks_of(&mut builder), [boot_time.as_str()]);
                    builder.include_suspended_time(false);
                    assert!(clocks_of(&mut builder).is_empty());
                }
                let mut sharded = multi_thread();
                sharded.scheduler(Policy::Sharded).timer_resolution(us(500));
                assert_eq!(clocks_of(&mut sharded), [monotonic.as_str(); 2]);
                let mut without_timers = Builder::new_current_thread();
                without_timers.enable_io().timer_resolution(us(500));
                assert!(clocks_of(&mut without_timers).is_empty());
                assert!(clocks().is_empty());
            },
        );
    }
}
