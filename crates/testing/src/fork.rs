//! Forks without exec.

/// Runs `f` in a forked child and returns the status with which `waitpid` reports its end: zero if
/// `f` returned true, 256 if it returned false or panicked.
pub fn in_forked_child(f: impl FnOnce() -> bool) -> i32 {
    // SAFETY: glibc keeps its own locks usable in the child, which leaves by `_exit`; `f` uses
    // nothing that another thread of the parent may have locked.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_or(false);
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!passed)) };
    }
    assert!(child > 0, "{}", std::io::Error::last_os_error());
    let mut status = 0;
    // SAFETY: `child` is this process's child and `status` is its own.
    let waited = unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(waited, child);
    status
}
