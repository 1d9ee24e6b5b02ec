//! Accepting despite temporary errors.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::time::Duration;

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The reaction to an error of `accept`.
#[derive(Debug, PartialEq, Eq)]
enum Remedy {
    /// The error concerns one connection, which was closed: accept the next one.
    GoOn,
    /// A resource or a permission is missing, perhaps temporarily: the same call would fail again
    /// at once.
    Pause,
    /// The error is permanent.
    GiveUp,
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
        match remedy(&error) {
            Remedy::GoOn => {}
            Remedy::Pause => {
                sleep(pause).await;
                pause = LONGEST_PAUSE.min(pause * 2);
            }
            Remedy::GiveUp => return Err(error),
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

fn remedy(error: &io::Error) -> Remedy {
    match error.kind() {
        ErrorKind::ConnectionAborted
        | ErrorKind::ConnectionReset
        | ErrorKind::HostUnreachable
        | ErrorKind::Interrupted
        | ErrorKind::NetworkDown
        | ErrorKind::NetworkUnreachable
        | ErrorKind::TimedOut => Remedy::GoOn,
        ErrorKind::OutOfMemory | ErrorKind::PermissionDenied | ErrorKind::StorageFull => {
            Remedy::Pause
        }
        _ => error.raw_os_error().map_or(Remedy::GiveUp, remedy_of_code),
    }
}

/// Returns the remedy for an error that std has no kind for.
#[cfg(unix)]
fn remedy_of_code(code: i32) -> Remedy {
    match code {
        libc::EPROTO | libc::ENOPROTOOPT | libc::EHOSTDOWN => Remedy::GoOn,
        #[cfg(any(target_os = "linux", target_os = "android"))]
        libc::ENONET => Remedy::GoOn,
        libc::EMFILE | libc::ENFILE | libc::ENOBUFS => Remedy::Pause,
        _ => Remedy::GiveUp,
    }
}

/// Returns the remedy for an error that std has no kind for.
#[cfg(not(unix))]
fn remedy_of_code(code: i32) -> Remedy {
    /// `WSAEMFILE` and `WSAENOBUFS`.
    const WANTING: [i32; 2] = [10024, 10055];
    /// `WSAENOTCONN`, of a connection that was reset before it was accepted (Wine).
    const OF_ONE_CONNECTION: i32 = 10057;
    match code {
        OF_ONE_CONNECTION => Remedy::GoOn,
        _ if WANTING.contains(&code) => Remedy::Pause,
        _ => Remedy::GiveUp,
    }
}

#[cfg(all(test, unix, not(raddle_loom)))]
mod tests;
