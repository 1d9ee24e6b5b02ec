//! The stacks of the threads of models. loom maps one for each thread of each execution, which
//! takes the system almost as long as the rest of the execution: here they are used again.
//!
//! A program of models has these definitions instead of the C library's.
#![allow(unsafe_code, reason = "functions of the C library")]

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;

/// More than a model has threads.
const KEPT: usize = 8;

struct Stacks {
    /// The size of the stack that was mapped last.
    size: Cell<usize>,
    /// The address and the size of each one that is not in use, or null.
    free: [Cell<(*mut c_void, usize)>; KEPT],
}

std::thread_local! {
    static STACKS: Stacks = const {
        Stacks {
            size: Cell::new(0),
            free: [const { Cell::new((ptr::null_mut(), 0)) }; KEPT],
        }
    };
}

impl Stacks {
    fn take(&self, size: usize) -> Option<*mut c_void> {
        self.size.set(size);
        let found = self.free.iter().find(|it| it.get().1 == size)?;
        Some(found.replace((ptr::null_mut(), 0)).0)
    }

    /// Returns whether it is kept.
    fn keep(&self, stack: *mut c_void, size: usize) -> bool {
        let place = self.free.iter().find(|it| it.get().0.is_null());
        let place = place.filter(|_| size == self.size.get());
        place.inspect(|it| it.set((stack, size))).is_some()
    }
}

/// # Safety
///
/// As for the system call; the content of a stack may be any.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    at: *mut c_void,
    size: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    if flags & libc::MAP_STACK != 0 {
        if let Some(stack) = STACKS.with(|stacks| stacks.take(size)) {
            return stack;
        }
    }
    // SAFETY: promised by the caller.
    let mapped =
        unsafe { libc::syscall(libc::SYS_mmap, at, size, protection, flags, file, offset) };
    ptr::with_exposed_provenance_mut(mapped as usize)
}

/// # Safety
///
/// As for the system call.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(at: *mut c_void, size: usize) -> c_int {
    if STACKS.with(|stacks| stacks.keep(at, size)) {
        return 0;
    }
    // SAFETY: promised by the caller.
    unsafe { libc::syscall(libc::SYS_munmap, at, size) as c_int }
}
