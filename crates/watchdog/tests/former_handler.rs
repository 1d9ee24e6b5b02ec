//! The program's own handler of the signal still works. The test has a process of its own, since a
//! process has one handler per signal.
#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(raddle_loom)
))]

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use raddle_sched::{Config, CurrentThread};
use raddle_watchdog::{Report, Watchdog};

static CALLS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn handler(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    CALLS.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn the_previous_handler_is_called_for_signals_of_the_watchdog_and_of_others() {
    // SAFETY: all fields of the action are set or zero, and its handler only writes an atomic word.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handler;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(
            libc::sigaction(libc::SIGURG, &action, std::ptr::null_mut()),
            0
        );
    }
    let (sender, reports) = mpsc::channel();
    let watchdog = Watchdog::start(Duration::from_millis(10), move |report| {
        drop(sender.send(report.clone()));
    });
    let config = Config {
        observer: Some(watchdog.as_ref().unwrap().observer()),
        ..Config::default()
    };
    let scheduler = CurrentThread::new(config, None);
    // It does not block: a blocked thread gets no signal.
    let limit = Instant::now() + Duration::from_secs(20);
    let report = scheduler.block_on(async {
        loop {
            match reports.try_recv() {
                Err(_) if Instant::now() < limit => std::hint::spin_loop(),
                report => return report,
            }
        }
    });
    let Ok(Report::SlowPoll(poll)) = report else {
        panic!("expected a slow poll, got {report:?}");
    };
    assert!(poll.stack().is_some());
    // The signal of another sender could have merged with that of the watchdog.
    let calls = CALLS.load(Ordering::Relaxed);
    assert_eq!(calls, 1);

    // Another process, or the system when urgent data arrives, sends the signal to the process.
    // SAFETY: the call takes two integers.
    assert_eq!(unsafe { libc::kill(libc::getpid(), libc::SIGURG) }, 0);
    let limit = Instant::now() + Duration::from_secs(20);
    while CALLS.load(Ordering::Relaxed) == calls && Instant::now() < limit {
        std::thread::yield_now();
    }
    assert_eq!(CALLS.load(Ordering::Relaxed), calls + 1);
}
