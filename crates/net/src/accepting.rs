//! Accepting despite temporary errors.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::time::Duration;

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// The reaction to an error of `accept`.
#[derive(Debug, PartialEq, Eq)]
enum ErrorAction {
    /// The error concerns one connection, which was closed: accept the next one.
    AcceptNext,
    /// A resource or a permission is missing, perhaps temporarily: the same call would fail again
    /// at once.
    Pause,
    /// The error is permanent.
    Fail,
}

/// Calls `accept` until it returns a connection or a permanent error.
pub(crate) async fn accept_retrying<T, A, S>(
    mut accept: impl FnMut() -> A,
    mut sleep: impl FnMut(Duration) -> S,
) -> io::Result<T>
where
    A: Future<Output = io::Result<T>>,
    S: Future<Output = ()>,
{
    let mut pause = FIRST_PAUSE;
    loop {
        let error = match accept().await {
            Ok(accepted) => return Ok(accepted),
            Err(error) => error,
        };
        match action_of(&error) {
            ErrorAction::AcceptNext => {}
            ErrorAction::Pause => {
                sleep(pause).await;
                pause = MAX_PAUSE.min(pause * 2);
            }
            ErrorAction::Fail => return Err(error),
        }
    }
}

/// Names the system call in the error if the system does not have it; other errors are unchanged.
#[cold]
pub(crate) fn explained(error: io::Error) -> io::Error {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if error.raw_os_error() == Some(libc::ENOSYS) {
        return io::Error::new(
            error.kind(),
            format!("the system or its filter of system calls refuses accept4: {error}; allow it"),
        );
    }
    error
}

fn action_of(error: &io::Error) -> ErrorAction {
    match error.kind() {
        ErrorKind::ConnectionAborted
        | ErrorKind::ConnectionReset
        | ErrorKind::HostUnreachable
        | ErrorKind::Interrupted
        | ErrorKind::NetworkDown
        | ErrorKind::NetworkUnreachable
        | ErrorKind::TimedOut => ErrorAction::AcceptNext,
        ErrorKind::OutOfMemory | ErrorKind::PermissionDenied | ErrorKind::StorageFull => {
            ErrorAction::Pause
        }
        _ => error
            .raw_os_error()
            .map_or(ErrorAction::Fail, action_of_code),
    }
}

/// Returns the action for an error that std has no kind for.
#[cfg(unix)]
fn action_of_code(code: i32) -> ErrorAction {
    match code {
        libc::EPROTO | libc::ENOPROTOOPT | libc::EHOSTDOWN => ErrorAction::AcceptNext,
        #[cfg(any(target_os = "linux", target_os = "android"))]
        libc::ENONET => ErrorAction::AcceptNext,
        libc::EMFILE | libc::ENFILE | libc::ENOBUFS => ErrorAction::Pause,
        _ => ErrorAction::Fail,
    }
}

/// Returns the action for an error that std has no kind for.
#[cfg(not(unix))]
fn action_of_code(code: i32) -> ErrorAction {
    /// `WSAEMFILE` and `WSAENOBUFS`.
    const RESOURCE_ERRORS: [i32; 2] = [10024, 10055];
    /// `WSAENOTCONN`, of a connection that was reset before it was accepted (Wine).
    const CONNECTION_ERROR: i32 = 10057;
    match code {
        CONNECTION_ERROR => ErrorAction::AcceptNext,
        _ if RESOURCE_ERRORS.contains(&code) => ErrorAction::Pause,
        _ => ErrorAction::Fail,
    }
}

#[cfg(all(test, unix, not(raddle_loom)))]
mod tests;
