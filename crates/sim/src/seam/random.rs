//! Random bytes, by the seed.

use libc::{c_int, c_uint, c_void, size_t, ssize_t};

use super::system4;
use crate::context;

/// Fills memory with random bytes of the simulation, if the thread runs a host.
///
/// # Safety
///
/// The memory is writable.
pub(super) unsafe fn fill(buf: *mut u8, length: usize) -> bool {
    context::call(|engine, _| {
        // Libraries ask for no bytes, once in a process, to find out whether the system has the call.
        if length == 0 {
            return;
        }
        let bytes = engine.kernel.lock().random_bytes(length);
        // SAFETY: promised by the caller.
        unsafe { buf.copy_from_nonoverlapping(bytes.as_ptr(), length) };
    })
    .is_some()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buf: *mut c_void, length: size_t, flags: c_uint) -> ssize_t {
    // SAFETY: as the caller of the C function promises.
    if unsafe { fill(buf.cast(), length) } {
        return length as ssize_t;
    }
    // SAFETY: the arguments are the caller's.
    unsafe {
        system4(
            libc::SYS_getrandom,
            buf.expose_provenance(),
            length,
            flags as usize,
            0,
        ) as ssize_t
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(buf: *mut c_void, length: size_t) -> c_int {
    // SAFETY: as the caller of the C function promises.
    match unsafe { getrandom(buf, length, 0) } {
        filled if filled == length as ssize_t => 0,
        _ => -1,
    }
}
