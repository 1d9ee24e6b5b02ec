//! The default action of a signal that has a handler.

use std::ffi::c_int;
use std::mem::zeroed;
use std::ptr;

/// Returns whether the signal has its default action: no handler, and not ignored.
pub(super) fn is_set(kind: c_int) -> bool {
    // SAFETY: the structure has only integers, pointers and optional functions, for which zero is
    // valid.
    let mut action: libc::sigaction = unsafe { zeroed() };
    // SAFETY: the system writes to `action`, which is valid during the call, and reads nothing.
    let result = unsafe { libc::sigaction(kind, ptr::null(), &raw mut action) };
    result == 0 && action.sa_sigaction == libc::SIG_DFL
}

/// Takes the default action: ends or stops the process, or does nothing. Only the handler of the
/// signal may call it.
///
/// The system takes the action, so there is no table of signals here: the action is restored, the
/// signal raised, and, if the process continues, the handler installed again. All calls are on
/// POSIX's list of async-signal-safe functions.
pub(super) fn take(kind: c_int) {
    // SAFETY: as in `is_set`.
    let (mut default, mut handler): (libc::sigaction, libc::sigaction) =
        unsafe { (zeroed(), zeroed()) };
    default.sa_sigaction = libc::SIG_DFL;
    // SAFETY: both structures are valid during the call.
    if unsafe { libc::sigaction(kind, &raw const default, &raw mut handler) } != 0 {
        return;
    }
    // SAFETY: a set of signals is an integer or an array of integers.
    let (mut only, mut former): (libc::sigset_t, libc::sigset_t) = unsafe { (zeroed(), zeroed()) };
    // SAFETY: the sets are valid during the calls. The signal is blocked on this thread, whose
    // handler calls this; the mask is restored at once. The raised signal is delivered before
    // `raise` returns.
    unsafe {
        libc::sigemptyset(&raw mut only);
        libc::sigaddset(&raw mut only, kind);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const only, &raw mut former);
        libc::raise(kind);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const former, ptr::null_mut());
    }
    // If another thread was here at the same time, it has found the handler and installs it again.
    if handler.sa_sigaction != libc::SIG_DFL {
        // SAFETY: the handler was installed before, with these flags.
        unsafe { libc::sigaction(kind, &raw const handler, ptr::null_mut()) };
    }
}
