use std::future::ready;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;

fn at_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the accept is pending"),
    }
}

/// Runs `accept_retrying` with an accept that fails with these codes in turn and then succeeds, and
/// with sleeps that take no time. Returns the result and the pauses.
fn accept_after(codes: &[i32]) -> (io::Result<()>, Vec<u64>) {
    let mut script = codes.iter();
    let mut pauses = Vec::new();
    let accept = || {
        ready(match script.next() {
            Some(&code) => Err(io::Error::from_raw_os_error(code)),
            None => Ok(()),
        })
    };
    let sleep = |pause: Duration| {
        pauses.push(u64::try_from(pause.as_millis()).unwrap());
        ready(())
    };
    let result = at_once(accept_retrying(accept, sleep));
    (result, pauses)
}

/// The errors of the manual page accept(2), of a firewall and of a full selector.
#[test]
fn each_error_of_accept_is_retried_delayed_or_returned() {
    let of_one_connection = [
        libc::ECONNABORTED,
        libc::ECONNRESET,
        libc::EHOSTDOWN,
        libc::EHOSTUNREACH,
        libc::EINTR,
        libc::ENETDOWN,
        libc::ENETUNREACH,
        libc::ENOPROTOOPT,
        libc::EPROTO,
        libc::ETIMEDOUT,
    ];
    let (result, pauses) = accept_after(&of_one_connection);
    result.unwrap();
    assert_eq!(pauses, []);

    for wanting in [
        libc::EMFILE,
        libc::ENFILE,
        libc::ENOBUFS,
        libc::ENOMEM,
        libc::ENOSPC,
        libc::EPERM,
    ] {
        let (result, pauses) = accept_after(&[wanting]);
        result.unwrap();
        assert_eq!(pauses, [5]);
    }

    for lasting in [libc::EBADF, libc::EINVAL, libc::ENOTSOCK, libc::EOPNOTSUPP] {
        let (result, pauses) = accept_after(&[libc::ECONNABORTED, lasting]);
        assert_eq!(result.unwrap_err().raw_os_error(), Some(lasting));
        assert_eq!(pauses, []);
    }
}

#[test]
fn pauses_after_failed_accepts_double_up_to_a_second() {
    let (result, pauses) = accept_after(&[libc::EMFILE; 10]);
    result.unwrap();
    assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
    // An error of a single connection in between does not change the pauses.
    let (_, pauses) = accept_after(&[libc::EMFILE, libc::ECONNABORTED, libc::EMFILE]);
    assert_eq!(pauses, [5, 10]);
}

#[test]
fn an_error_of_another_kind_is_returned() {
    let accept = || ready(Err::<(), _>(io::Error::other("the runtime has shut down")));
    assert!(at_once(accept_retrying(accept, |_| ready(()))).is_err());
}
