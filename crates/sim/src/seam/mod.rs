//! Where real and virtual part: the functions of the C library by which programs reach the system.
//!
//! A test binary that links this crate has these definitions instead of the C library's. On a
//! thread that runs code of a simulated host they call the [kernel](crate::kernel) of the
//! simulation; on all others, and for descriptors that are not simulated, they make the system
//! call.
#![allow(
    unsafe_code,
    reason = "functions of the C library, with pointers of their callers"
)]

mod address;
mod buffers;
mod descriptors;
mod files;
mod groups;
mod messages;
mod names;
mod pipes;
mod random;
mod selectors;
mod sockets;
mod threads;
mod time;

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

use libc::{c_int, c_long, c_void};

use crate::context;
use crate::engine::Engine;
use crate::kernel::files::{FileId, Kind};
use crate::kernel::threads::{Place, Woken};
use crate::kernel::{Caller, Errno, Kernel, Result};

pub(crate) use pipes::system_readiness;
pub(crate) use threads::begin;

const NANOS: u64 = 1_000_000_000;

/// Lets the process have as many descriptors as the system allows: each host has several.
pub(crate) fn raise_descriptor_limit() {
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: the first call writes the limit, and the second reads it.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, limit.as_mut_ptr()) == 0 {
            let mut limit = limit.assume_init();
            limit.rlim_cur = limit.rlim_max;
            let _refused = libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Finds the C library's own definition.
fn next(name: &CStr) -> *mut c_void {
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    assert!(!found.is_null(), "the C library has no {name:?}");
    found
}

type Syscall = unsafe extern "C" fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long;

/// Makes a system call by the C library's `syscall`, which sets `errno`.
///
/// # Safety
///
/// As for the system call.
unsafe fn system(number: c_long, arguments: [usize; 6]) -> c_long {
    static SYSCALL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    // ORDERING: all threads find the same function, and nothing else depends on it.
    let mut function = SYSCALL.load(Ordering::Relaxed);
    if function.is_null() {
        function = next(c"syscall");
        // ORDERING: as above.
        SYSCALL.store(function, Ordering::Relaxed);
    }
    let [one, two, three, four, five, six] = arguments;
    // SAFETY: on the architectures of this crate a function of any number of arguments gets them
    // as one of six does. The rest is promised by the caller.
    unsafe {
        let call = std::mem::transmute::<*mut c_void, Syscall>(function);
        call(number, one, two, three, four, five, six)
    }
}

/// `system` with up to four arguments.
///
/// # Safety
///
/// As for the system call.
unsafe fn system4(number: c_long, one: usize, two: usize, three: usize, four: usize) -> c_long {
    // SAFETY: promised by the caller.
    unsafe { system(number, [one, two, three, four, 0, 0]) }
}

/// A descriptor or any number as an argument of a system call.
fn arg(number: c_int) -> usize {
    number as isize as usize
}

fn set_errno(error: c_int) {
    // SAFETY: it is the place of the calling thread.
    unsafe { *libc::__errno_location() = error };
}

/// What the C function returns.
fn returned<T: Into<i64>>(result: Result<T>) -> i64 {
    match result {
        Ok(value) => value.into(),
        Err(Errno(error)) => {
            set_errno(error);
            -1
        }
    }
}

fn count(result: Result<usize>) -> isize {
    returned(result.map(|count| count as i64)) as isize
}

fn status(result: Result<()>) -> c_int {
    returned(result.map(|()| 0)) as c_int
}

/// The error of the system call that has just failed.
fn last_error() -> Errno {
    Errno(
        io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EIO),
    )
}

/// Which of the two time-outs that a program can set on a socket holds for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    Never,
    ToReceive,
    ToSend,
}

/// Runs an operation of a simulated descriptor, again each time when it would block and may.
/// `None`: the descriptor is not simulated, or the thread runs no host.
fn operate<R>(
    fd: c_int,
    waits: Waits,
    mut operation: impl FnMut(&mut Kernel, FileId, Caller) -> Result<R>,
) -> Option<Result<R>> {
    context::call(|engine, caller| {
        let mut kernel = engine.kernel.lock();
        let file = kernel.files.find(fd)?;
        loop {
            let opened = kernel.files.get(file);
            let (owner, may_wait) = (opened.owner, !opened.is_nonblocking);
            let is_socket = matches!(opened.kind, Kind::Tcp(_) | Kind::Udp(_));
            if is_socket && !kernel.is_alive(owner) {
                return Some(Err(Errno(libc::ECONNABORTED)));
            }
            let result = operation(&mut kernel, file, owner);
            let would_block = matches!(result, Err(Errno(libc::EAGAIN)));
            if !(would_block && may_wait) || waits == Waits::Never {
                return Some(result);
            }
            drop(kernel);
            if let Err(error) = wait_for(fd, file, waits, engine, caller) {
                return Some(Err(error));
            }
            kernel = engine.kernel.lock();
        }
    })
    .flatten()
}

/// Waits until an operation of a descriptor may be tried again.
#[cold]
fn wait_for(
    fd: c_int,
    file: FileId,
    waits: Waits,
    engine: &Arc<Engine>,
    caller: Caller,
) -> Result<()> {
    let time_out = time_out(fd, waits);
    if engine.block(caller, Place::File(file), time_out, |_| true) == Some(Woken::TimedOut) {
        return Err(Errno(libc::EAGAIN));
    }
    match engine.kernel.lock().files.find(fd) == Some(file) {
        true => Ok(()),
        false => Err(Errno(libc::EBADF)),
    }
}

/// The time-out that the program has set on a socket: the system's socket keeps it.
fn time_out(fd: c_int, waits: Waits) -> Option<Duration> {
    let option = match waits {
        Waits::Never => return None,
        Waits::ToReceive => libc::SO_RCVTIMEO,
        Waits::ToSend => libc::SO_SNDTIMEO,
    };
    let time: libc::timeval = socket_option(fd, libc::SOL_SOCKET, option)?;
    let time = Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    (!time.is_zero()).then_some(time)
}

/// Reads an option of the system's socket.
fn socket_option<T: Copy>(fd: c_int, level: c_int, option: c_int) -> Option<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut length = size_of::<T>() as libc::socklen_t;
    let arguments = [
        arg(fd),
        arg(level),
        arg(option),
        value.as_mut_ptr().expose_provenance(),
        (&raw mut length).expose_provenance(),
        0,
    ];
    // SAFETY: the call writes at most `length` bytes. The values of the options that are read here
    // are plain numbers, for which each pattern of bits is valid.
    unsafe {
        let is_read = system(libc::SYS_getsockopt, arguments) == 0;
        is_read.then(|| value.assume_init())
    }
}
