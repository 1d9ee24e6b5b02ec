//! The watchdog takes stacks without an effect on the thread: on its system calls, its signal mask
//! and its signal stack.

use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use raddle::runtime::watchdog::Report;
use raddle::runtime::{Builder, Runtime};

use crate::watchdog::{LIMIT, THRESHOLD, assert_stack_names, next, slow_poll, watched, workers};

/// The time for which the calls block, in milliseconds.
const MILLIS: i64 = 600;

static TIMEOUT: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: MILLIS * 1_000_000,
};

/// Calls `call`, and returns the error if it was interrupted.
#[inline(never)]
fn a_function_that_calls(call: fn() -> i64) -> io::Result<()> {
    let start = Instant::now();
    let result = std::hint::black_box(call());
    let error = io::Error::last_os_error();
    assert!(start.elapsed() >= Duration::from_millis(MILLIS as u64 * 9 / 10));
    match result < 0 && error.kind() == io::ErrorKind::Interrupted {
        true => Err(error),
        false => Ok(()),
    }
}

fn nanosleep() -> i64 {
    // SAFETY: the call reads and writes local variables and a static.
    i64::from(unsafe { libc::nanosleep(&TIMEOUT, std::ptr::null_mut()) })
}

fn poll() -> i64 {
    // SAFETY: the call reads and writes local variables and a static.
    i64::from(unsafe { libc::poll(std::ptr::null_mut(), 0, MILLIS as i32) })
}

fn ppoll() -> i64 {
    let none = std::ptr::null_mut();
    // SAFETY: the call reads and writes local variables and a static.
    i64::from(unsafe { libc::ppoll(none, 0, &TIMEOUT, std::ptr::null()) })
}

fn select() -> i64 {
    let mut timeout = libc::timeval {
        tv_sec: 0,
        tv_usec: MILLIS * 1000,
    };
    let none = std::ptr::null_mut();
    // SAFETY: the call reads and writes local variables and a static.
    i64::from(unsafe { libc::select(0, none, none, none, &mut timeout) })
}

fn epoll_wait() -> i64 {
    // SAFETY: the calls read and write local variables and a static; the descriptor is closed
    // before the return.
    unsafe {
        let epoll = libc::epoll_create1(libc::EPOLL_CLOEXEC);
        let mut event = std::mem::zeroed();
        let result = libc::epoll_wait(epoll, &mut event, 1, MILLIS as i32);
        let error = io::Error::last_os_error().raw_os_error();
        libc::close(epoll);
        *libc::__errno_location() = error.unwrap_or(0);
        i64::from(result)
    }
}

fn semtimedop() -> i64 {
    // SAFETY: the calls read and write local variables and a static; the semaphore is removed
    // before the return.
    unsafe {
        let semaphore = libc::semget(libc::IPC_PRIVATE, 1, 0o600);
        let mut operation = libc::sembuf {
            sem_num: 0,
            sem_op: -1,
            sem_flg: 0,
        };
        let number = libc::SYS_semtimedop;
        let result = libc::syscall(number, semaphore, &raw mut operation, 1, &raw const TIMEOUT);
        let error = io::Error::last_os_error().raw_os_error();
        libc::semctl(semaphore, 0, libc::IPC_RMID);
        *libc::__errno_location() = error.unwrap_or(0);
        result
    }
}

fn futex() -> i64 {
    let word = 0_u32;
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the call reads and writes local variables and a static.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            &raw const word,
            operation,
            0,
            &raw const TIMEOUT,
        )
    }
}

fn recv() -> i64 {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let timeout = Duration::from_millis(MILLIS as u64);
    socket.set_read_timeout(Some(timeout)).unwrap();
    match socket.recv(&mut [0; 8]) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => -1,
        _ => 0,
    }
}

/// Each of these calls ended early with `EINTR` when the stack was taken.
#[test]
fn slow_polls_in_system_calls_have_a_stack_and_are_not_interrupted() {
    let (runtime, reports) = watched(&mut workers(1), THRESHOLD);
    // The unwind information of the program is read before the first report.
    let reports = std::sync::Arc::new(std::sync::Mutex::new(reports));
    let first = std::sync::Arc::clone(&reports);
    let task = runtime.spawn(async move { drop(slow_poll(&first.lock().unwrap())) });
    runtime.block_on(task).unwrap();
    let reports = reports.lock().unwrap();
    type Call = (&'static str, fn() -> i64);
    let calls: [Call; 8] = [
        ("nanosleep", nanosleep),
        ("poll", poll),
        ("ppoll", ppoll),
        ("select", select),
        ("epoll_wait", epoll_wait),
        ("semtimedop", semtimedop),
        ("futex", futex),
        ("recv", recv),
    ];
    for (name, call) in calls {
        let task = runtime.spawn(async move { a_function_that_calls(call) });
        let result = runtime.block_on(task).unwrap();
        assert!(result.is_ok(), "{name}: {result:?}");
        assert_stack_names(&slow_poll(&reports), "a_function_that_calls");
    }
}

/// A thread that runs for short times between such calls is read while it is blocked.
#[test]
fn a_slow_poll_of_many_short_sleeps_is_not_interrupted() {
    let (runtime, reports) = watched(&mut workers(1), THRESHOLD);
    let sleep = libc::timespec {
        tv_sec: 0,
        tv_nsec: 500_000,
    };
    let reports = std::sync::Arc::new(std::sync::Mutex::new(reports));
    for _ in 0..20 {
        let reports = std::sync::Arc::clone(&reports);
        let task = runtime.spawn(async move {
            let reports = reports.lock().unwrap();
            loop {
                // SAFETY: the call reads a local variable.
                let result = unsafe { libc::nanosleep(&sleep, std::ptr::null_mut()) };
                assert_eq!(result, 0, "interrupted");
                if let Ok(Report::SlowPoll(poll)) = reports.try_recv() {
                    return poll;
                }
            }
        });
        let poll = runtime.block_on(task).unwrap();
        assert!(poll.stack().is_some(), "{poll}");
    }
}

/// Blocks all signals on the calling thread, as programs do that read signals from a descriptor.
fn block_all_signals() {
    // SAFETY: the first call initializes the set that the second one reads.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigfillset(&mut set);
        libc::pthread_sigmask(libc::SIG_SETMASK, &set, std::ptr::null_mut());
    }
}

fn is_blocked(signal: i32) -> bool {
    // SAFETY: the first call initializes the set that the second one reads.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut set);
        libc::sigismember(&set, signal) == 1
    }
}

#[inline(never)]
fn a_function_that_computes(is_done: impl Fn() -> bool) {
    while !std::hint::black_box(is_done()) {
        std::hint::spin_loop();
    }
}

/// Waits without blocking for the report of the poll that calls it.
fn compute_until_reported(reports: &mpsc::Receiver<Report>) -> Report {
    let report = std::cell::OnceCell::new();
    let end = Instant::now() + LIMIT;
    a_function_that_computes(|| {
        if let Ok(found) = reports.try_recv() {
            let _ = report.set(found);
        }
        report.get().is_some() || Instant::now() > end
    });
    report.into_inner().expect("the poll is not reported")
}

/// Runs `body` on a thread that blocks all signals; the threads that it starts inherit that.
fn with_blocked_signals(body: impl FnOnce() + Send + 'static) {
    let thread = thread::spawn(|| {
        block_all_signals();
        body();
    });
    thread.join().unwrap();
}

#[track_caller]
fn assert_has_stack(report: &Report) {
    let Report::SlowPoll(poll) = report else {
        panic!("expected a slow poll, got {report}");
    };
    assert_stack_names(poll, "a_function_that_computes");
}

#[test]
fn a_runtime_that_is_built_with_blocked_signals_has_stacks() {
    with_blocked_signals(|| {
        let (runtime, reports) = watched(&mut workers(1), THRESHOLD);
        let task = runtime.spawn(async move {
            let report = compute_until_reported(&reports);
            assert_has_stack(&report);
            // The other signals stay blocked.
            (is_blocked(libc::SIGURG), is_blocked(libc::SIGTERM))
        });
        assert_eq!(runtime.block_on(task).unwrap(), (false, true));
        assert!(is_blocked(libc::SIGURG), "the thread is not of the runtime");
    });
}

#[test]
fn a_thread_in_block_on_gets_its_signal_mask_back() {
    let check = |runtime: Runtime, reports: mpsc::Receiver<Report>| {
        for _ in 0..2 {
            let report = runtime.block_on(async { compute_until_reported(&reports) });
            assert_has_stack(&report);
            assert!(is_blocked(libc::SIGURG));
            // The end of the poll.
            assert!(matches!(
                reports.recv_timeout(LIMIT),
                Ok(Report::SlowPollEnded(_))
            ));
        }
        let panics = std::panic::AssertUnwindSafe(async { panic!("in the future") });
        let result = std::panic::catch_unwind(|| runtime.block_on(panics.0));
        assert!(result.is_err());
        assert!(is_blocked(libc::SIGURG));
    };
    with_blocked_signals(move || {
        for builder in [&mut workers(1), &mut Builder::new_current_thread()] {
            let (runtime, reports) = watched(builder, THRESHOLD);
            check(runtime, reports);
        }
    });
}

/// The watchdog waited half a second for a thread that blocks the signal, and did not see the polls
/// of other threads meanwhile.
#[test]
fn a_poll_whose_stack_cannot_be_taken_hides_no_other_poll() {
    let (runtime, reports) = watched(&mut workers(2), THRESHOLD);
    let (stop, stopped) = mpsc::channel::<()>();
    let blocks = runtime.spawn(async move {
        block_all_signals();
        a_function_that_computes(|| stopped.try_recv() == Err(mpsc::TryRecvError::Disconnected));
    });
    let Some(Report::SlowPoll(poll)) = next(&reports, LIMIT) else {
        panic!("expected a slow poll");
    };
    let reason = poll.missing_stack().unwrap_or("there is one");
    assert!(reason.contains("SIGURG"), "{reason}");
    assert!(poll.to_string().contains(reason), "{poll}");
    // Each of the next polls lasts until it is reported.
    let task = runtime.spawn(async move {
        for _ in 0..5 {
            slow_poll(&reports);
            raddle::task::yield_now().await;
        }
    });
    runtime.block_on(task).unwrap();
    drop(stop);
    runtime.block_on(blocks).unwrap();
}

/// The registers alone need more than such a stack on many processors; the process died.
#[test]
fn a_small_signal_stack_of_the_application_is_not_used() {
    let (runtime, reports) = watched(&mut workers(1), THRESHOLD);
    let task = runtime.spawn(async move {
        let mut memory = vec![0_u8; libc::MINSIGSTKSZ];
        let small = libc::stack_t {
            ss_sp: memory.as_mut_ptr().cast(),
            ss_flags: 0,
            ss_size: memory.len(),
        };
        // SAFETY: zeros are a value of this structure of integers and a pointer.
        let mut former: libc::stack_t = unsafe { std::mem::zeroed() };
        // SAFETY: `memory` lives until the former stack is restored below.
        assert_eq!(unsafe { libc::sigaltstack(&small, &mut former) }, 0);
        let report = compute_until_reported(&reports);
        // SAFETY: the former stack is that of std, which lives as long as the thread.
        let restored = unsafe { libc::sigaltstack(&former, std::ptr::null_mut()) };
        assert_eq!(restored, 0);
        assert!(memory.iter().all(|&byte| byte == 0), "the stack was used");
        report
    });
    assert_has_stack(&runtime.block_on(task).unwrap());
}
