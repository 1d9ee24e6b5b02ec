//! Selectors, and what programs wake them by.

use std::time::Duration;

use libc::{c_int, c_short, c_uint, epoll_event, nfds_t, pollfd};

use super::{Waits, arg, last_error, operate, returned, status, system, system4};
use crate::context;
use crate::kernel::epoll::Epoll;
use crate::kernel::files::{Counter, Kind};
use crate::kernel::threads::{Place, Woken};
use crate::kernel::{Errno, Result, nanos};

#[unsafe(no_mangle)]
extern "C" fn epoll_create1(flags: c_int) -> c_int {
    // SAFETY: the argument is a number.
    let fd = unsafe { system4(libc::SYS_epoll_create1, arg(flags), 0, 0, 0) as c_int };
    if fd >= 0 {
        context::call(|engine, caller| {
            let mut kernel = engine.kernel.lock();
            let kind = Kind::Epoll(Epoll::default());
            let file = kernel.files.open(fd, caller, kind, false);
            // The first is made for the runtime of the host.
            let host = &mut kernel.hosts[caller.host];
            if host.boot == caller.boot {
                host.driver.get_or_insert(file);
            }
        });
    }
    fd
}

#[unsafe(no_mangle)]
extern "C" fn epoll_create(_size: c_int) -> c_int {
    epoll_create1(0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_ctl(
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    let result = operate(epoll, Waits::Never, |kernel, file, _| {
        // SAFETY: as the caller of the C function promises. It may be null when it is not needed.
        let event = unsafe { event.as_ref() };
        let (events, data) = event.map_or((0, 0), |event| (event.events, event.u64));
        if kernel.files.find(fd).is_none() {
            // The system knows whether it can be watched. Its selector is never asked.
            let event = event.map_or(0, |event| (&raw const *event).expose_provenance());
            // SAFETY: as the caller of the C function promises.
            let result = unsafe {
                system4(
                    libc::SYS_epoll_ctl,
                    arg(epoll),
                    arg(operation),
                    arg(fd),
                    event,
                )
            };
            if result != 0 {
                return Err(last_error());
            }
        }
        kernel.control(file, operation, fd, events, data)
    });
    match result {
        Some(result) => status(result),
        // SAFETY: the arguments are the caller's.
        None => unsafe {
            let (epoll, operation, fd) = (arg(epoll), arg(operation), arg(fd));
            system4(
                libc::SYS_epoll_ctl,
                epoll,
                operation,
                fd,
                event.expose_provenance(),
            ) as c_int
        },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    limit: c_int,
    timeout: c_int,
) -> c_int {
    let take = || {
        operate(epoll, Waits::Never, |kernel, file, _| {
            if limit <= 0 {
                return Err(Errno(libc::EINVAL));
            }
            let mut count = 0;
            kernel.take_events(file, limit as usize, |ready, data| {
                let event = epoll_event {
                    events: ready,
                    u64: data,
                };
                // SAFETY: as the caller of the C function promises, there is room for `limit`.
                unsafe { events.add(count).write(event) };
                count += 1;
            })
        })
    };
    match wait(
        take,
        |kernel| kernel.files.find(epoll).map(Place::File),
        timeout,
    ) {
        Some(result) => returned(result.map(|count| count as i64)) as c_int,
        // SAFETY: the arguments are the caller's.
        None => unsafe {
            let (epoll, limit, timeout) = (arg(epoll), arg(limit), arg(timeout));
            let arguments = [epoll, events.expose_provenance(), limit, timeout, 0, 8];
            system(libc::SYS_epoll_pwait, arguments) as c_int
        },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    limit: c_int,
    timeout: c_int,
    signals: *const libc::sigset_t,
) -> c_int {
    if signals.is_null() || context::clocks().is_some() {
        // SAFETY: the arguments are the caller's. No signals come in a simulation.
        return unsafe { epoll_wait(epoll, events, limit, timeout) };
    }
    let (epoll, limit, timeout) = (arg(epoll), arg(limit), arg(timeout));
    let arguments = [
        epoll,
        events.expose_provenance(),
        limit,
        timeout,
        signals.expose_provenance(),
        8,
    ];
    // SAFETY: the arguments are the caller's.
    unsafe { system(libc::SYS_epoll_pwait, arguments) as c_int }
}

/// Calls `take` until it finds something or the time is over, which is given in milliseconds. A
/// negative one is none.
fn wait(
    mut take: impl FnMut() -> Option<Result<usize>>,
    mut place: impl FnMut(&mut crate::kernel::Kernel) -> Option<Place>,
    timeout: c_int,
) -> Option<Result<usize>> {
    let mut end = None;
    loop {
        let taken = take()?;
        if timeout == 0 || taken != Ok(0) {
            return Some(taken);
        }
        let is_over = context::call(|engine, caller| {
            let mut kernel = engine.kernel.lock();
            let now = kernel.now;
            let time = Duration::from_millis(u64::try_from(timeout).unwrap_or(0));
            let end = *end.get_or_insert(now.saturating_add(nanos(time)));
            let place = place(&mut kernel);
            drop(kernel);
            let Some(place) = place else { return true };
            let left = (timeout > 0).then(|| Duration::from_nanos(end.saturating_sub(now)));
            engine.block(caller, place, left, |_| true) == Some(Woken::TimedOut)
        })?;
        if is_over {
            return take();
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn eventfd(number: c_uint, flags: c_int) -> c_int {
    // SAFETY: the arguments are numbers.
    let fd = unsafe { system4(libc::SYS_eventfd2, number as usize, arg(flags), 0, 0) as c_int };
    if fd >= 0 {
        context::call(|engine, caller| {
            let is_nonblocking = flags & libc::EFD_NONBLOCK != 0;
            let kind = Kind::Event(Counter {
                count: u64::from(number),
                is_semaphore: flags & libc::EFD_SEMAPHORE != 0,
            });
            engine
                .kernel
                .lock()
                .files
                .open(fd, caller, kind, is_nonblocking);
        });
    }
    fd
}

#[unsafe(no_mangle)]
unsafe extern "C" fn poll(fds: *mut pollfd, number: nfds_t, timeout: c_int) -> c_int {
    let is_simulated = context::call(|engine, caller| {
        let kernel = engine.kernel.lock();
        // SAFETY: as the caller of the C function promises.
        let fds = unsafe { slice(fds, number) };
        let mut files = fds.iter().map(|fd| kernel.files.find(fd.fd));
        files.any(|file| file.is_some()).then_some(caller.host)
    });
    let Some(host) = is_simulated.flatten() else {
        // SAFETY: the arguments are the caller's.
        return unsafe { system_poll(fds, number, timeout) };
    };
    let take = || {
        context::call(|engine, _| {
            let mut kernel = engine.kernel.lock();
            // SAFETY: as the caller of the C function promises.
            let fds = unsafe { slice(fds, number) };
            let mut ready = 0;
            for fd in fds {
                let always = libc::POLLERR | libc::POLLHUP;
                let events = match kernel.files.find(fd.fd) {
                    // The bits of `poll` and of `epoll` are the same.
                    Some(file) => kernel.readiness(file) as c_short & (fd.events | always),
                    None => system_readiness(*fd),
                };
                fd.revents = events;
                ready += usize::from(fd.revents != 0);
            }
            Ok(ready)
        })
    };
    let result = wait(take, |_| Some(Place::AnyFile(host)), timeout);
    returned(
        result
            .unwrap_or(Err(Errno(libc::EINTR)))
            .map(|count| count as i64),
    ) as c_int
}

/// What the system says of a descriptor that is not simulated: that it is none, perhaps.
fn system_readiness(mut fd: pollfd) -> c_short {
    fd.revents = 0;
    // SAFETY: the struct is an array of one.
    let _count = unsafe { system_poll(&raw mut fd, 1, 0) };
    fd.revents
}

/// `poll` by the system. Not all architectures have a call of this name.
///
/// # Safety
///
/// The array is valid.
pub(super) unsafe fn system_poll(fds: *mut pollfd, number: nfds_t, timeout: c_int) -> c_int {
    // The system writes what is left of it.
    let mut time = libc::timespec {
        tv_sec: (timeout / 1000).into(),
        tv_nsec: (timeout % 1000 * 1_000_000).into(),
    };
    let time = if timeout < 0 {
        std::ptr::null_mut()
    } else {
        &raw mut time
    };
    let arguments = [
        fds.expose_provenance(),
        number as usize,
        time.expose_provenance(),
        0,
        8,
        0,
    ];
    // SAFETY: promised by the caller. The time is valid, and there is no mask of signals.
    unsafe { system(libc::SYS_ppoll, arguments) as c_int }
}

/// # Safety
///
/// The array is valid.
unsafe fn slice<'a>(fds: *mut pollfd, number: nfds_t) -> &'a mut [pollfd] {
    match number {
        0 => &mut [],
        // SAFETY: promised by the caller.
        _ => unsafe { std::slice::from_raw_parts_mut(fds, number as usize) },
    }
}
