//! Clocks and sleeps.

use std::time::Duration;

use libc::{c_int, clockid_t, timespec};

use super::{NANOS, arg, returned, set_errno, system4};
use crate::context;
use crate::kernel::Errno;
use crate::kernel::threads::Place;

/// What one call of `sched_yield` takes, and many reads of the clock: a thread that waits by
/// calling them again and again must let the time pass.
const YIELD: Duration = Duration::from_micros(1);

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, into: *mut timespec) -> c_int {
    if context::spins_on_clocks() {
        sleep(YIELD);
    }
    let nanos = match (context::clocks(), clock) {
        (Some(clocks), libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE) => clocks.realtime,
        (
            Some(clocks),
            libc::CLOCK_MONOTONIC
            | libc::CLOCK_MONOTONIC_COARSE
            | libc::CLOCK_MONOTONIC_RAW
            | libc::CLOCK_BOOTTIME,
        ) => clocks.monotonic,
        _ => {
            // SAFETY: the arguments are the caller's.
            let result = unsafe {
                system4(
                    libc::SYS_clock_gettime,
                    arg(clock),
                    into.expose_provenance(),
                    0,
                    0,
                )
            };
            return result as c_int;
        }
    };
    // SAFETY: as the caller of the C function promises.
    unsafe { into.write(to_timespec(nanos)) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gettimeofday(into: *mut libc::timeval, zone: *mut libc::timezone) -> c_int {
    let Some(clocks) = context::clocks() else {
        // SAFETY: the arguments are the caller's.
        let result = unsafe {
            system4(
                libc::SYS_gettimeofday,
                into.expose_provenance(),
                zone.expose_provenance(),
                0,
                0,
            )
        };
        return result as c_int;
    };
    let time = libc::timeval {
        tv_sec: (clocks.realtime / NANOS) as _,
        tv_usec: (clocks.realtime % NANOS / 1000) as _,
    };
    // SAFETY: as the caller of the C function promises.
    unsafe { into.write(time) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn time(into: *mut libc::time_t) -> libc::time_t {
    let mut now = to_timespec(0);
    // SAFETY: `now` is writable.
    unsafe { clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
    if !into.is_null() {
        // SAFETY: as the caller of the C function promises.
        unsafe { into.write(now.tv_sec) };
    }
    now.tv_sec
}

fn to_timespec(nanos: u64) -> timespec {
    timespec {
        tv_sec: (nanos / NANOS) as _,
        tv_nsec: (nanos % NANOS) as _,
    }
}

/// Reads a time that a caller has passed.
///
/// # Safety
///
/// The pointer is null or valid.
pub(super) unsafe fn duration(of: *const timespec) -> Option<Duration> {
    // SAFETY: promised by the caller.
    let of = unsafe { of.as_ref() }?;
    Some(Duration::new(
        of.tv_sec.try_into().ok()?,
        of.tv_nsec.try_into().ok()?,
    ))
}

/// Sleeps in virtual time, if the thread runs a host.
fn sleep(time: Duration) -> bool {
    context::call(|engine, caller| {
        engine.block(caller, Place::Sleep, Some(time), |_| true);
    })
    .is_some()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn nanosleep(wanted: *const timespec, left: *mut timespec) -> c_int {
    // SAFETY: as the caller of the C function promises.
    if unsafe { duration(wanted) }.is_some_and(sleep) {
        return 0;
    }
    // SAFETY: as above.
    unsafe {
        system4(
            libc::SYS_nanosleep,
            wanted.expose_provenance(),
            left.expose_provenance(),
            0,
            0,
        ) as c_int
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    wanted: *const timespec,
    left: *mut timespec,
) -> c_int {
    // SAFETY: as the caller of the C function promises.
    if let (Some(until), Some(clocks)) = (unsafe { duration(wanted) }, context::clocks()) {
        let now = match clock {
            libc::CLOCK_REALTIME => clocks.realtime,
            _ => clocks.monotonic,
        };
        let wait = match flags & libc::TIMER_ABSTIME {
            0 => until,
            _ => until.saturating_sub(Duration::from_nanos(now)),
        };
        if sleep(wait) {
            return 0;
        }
    }
    let (clock, flags) = (arg(clock), arg(flags));
    // SAFETY: as above.
    let result = unsafe {
        system4(
            libc::SYS_clock_nanosleep,
            clock,
            flags,
            wanted.expose_provenance(),
            left.expose_provenance(),
        )
    };
    // Unlike others, this function returns the error.
    match result {
        0 => 0,
        _ => super::last_error().0,
    }
}

#[unsafe(no_mangle)]
extern "C" fn usleep(micros: libc::useconds_t) -> c_int {
    let wanted = to_timespec(u64::from(micros) * 1000);
    // SAFETY: the time is valid, and the other pointer may be null.
    unsafe { nanosleep(&raw const wanted, std::ptr::null_mut()) }
}

#[unsafe(no_mangle)]
extern "C" fn sched_yield() -> c_int {
    if sleep(YIELD) {
        return 0;
    }
    // SAFETY: the call has no arguments.
    unsafe { system4(libc::SYS_sched_yield, 0, 0, 0, 0) as c_int }
}

/// Timers that a selector reports are not simulated.
#[unsafe(no_mangle)]
extern "C" fn timerfd_create(clock: c_int, flags: c_int) -> c_int {
    let refused = context::call(|engine, _| {
        engine
            .kernel
            .lock()
            .record_unsimulated("a timer of the system, by timerfd_create".to_owned());
        Err(Errno(libc::ENOSYS))
    });
    match refused {
        Some(refused) => returned::<i64>(refused) as c_int,
        None => {
            // SAFETY: the arguments are numbers.
            unsafe { system4(libc::SYS_timerfd_create, arg(clock), arg(flags), 0, 0) as c_int }
        }
    }
}

/// The processors that a host has: as many as its workers.
#[unsafe(no_mangle)]
unsafe extern "C" fn sched_getaffinity(
    process: libc::pid_t,
    size: usize,
    set: *mut libc::cpu_set_t,
) -> c_int {
    let workers = context::call(|engine, caller| engine.workers_of(caller.host));
    let Some(workers) = workers else {
        // SAFETY: the arguments are the caller's.
        let result = unsafe {
            system4(
                libc::SYS_sched_getaffinity,
                arg(process),
                size,
                set.expose_provenance(),
                0,
            )
        };
        if result < 0 {
            return -1;
        }
        // SAFETY: the set has `size` bytes, as the caller promises, of which the system has written
        // the first.
        unsafe {
            set.cast::<u8>()
                .add(result as usize)
                .write_bytes(0, size - result as usize)
        };
        return 0;
    };
    if workers > size * 8 {
        set_errno(libc::EINVAL);
        return -1;
    }
    // SAFETY: the set has `size` bytes, as the caller promises.
    let bytes = unsafe {
        set.cast::<u8>().write_bytes(0, size);
        std::slice::from_raw_parts_mut(set.cast::<u8>(), size)
    };
    for worker in 0..workers {
        bytes[worker / 8] |= 1 << (worker % 8);
    }
    0
}
