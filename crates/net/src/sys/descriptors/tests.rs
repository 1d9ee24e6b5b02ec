use std::mem::ManuallyDrop;

use super::*;

/// Writes a control message with as many descriptors, and reads it back. No system call is made, so
/// that this also runs under Miri.
fn round_trip(count: usize) -> Vec<RawFd> {
    let mut control = Control::EMPTY;
    let mut message = header(&mut libc::iovec {
        iov_base: std::ptr::null_mut(),
        iov_len: 0,
    });
    // SAFETY: the numbers are only copied.
    let descriptors: Vec<BorrowedFd<'_>> = (0..count)
        .map(|number| unsafe { BorrowedFd::borrow_raw(1000 + number as RawFd) })
        .collect();
    write_control(&mut message, &mut control, &descriptors).unwrap();
    // SAFETY: the message was just written. What is made of its numbers is never dropped.
    let read = unsafe { read_control(&message) };
    let read: Vec<_> = read.into_iter().map(ManuallyDrop::new).collect();
    read.iter().map(|fd| fd.as_raw_fd()).collect()
}

#[test]
fn what_was_written_is_read_back() {
    for count in [1, 2, 3, MAX_DESCRIPTORS] {
        let expected: Vec<RawFd> = (1000..).take(count).collect();
        assert_eq!(round_trip(count), expected);
    }
}

#[test]
fn too_many_descriptors_are_refused() {
    // SAFETY: the numbers are not used.
    let descriptors = unsafe { [BorrowedFd::borrow_raw(1000); MAX_DESCRIPTORS + 1] };
    let mut message = header(&mut libc::iovec {
        iov_base: std::ptr::null_mut(),
        iov_len: 0,
    });
    let mut control = Control::EMPTY;
    let error = write_control(&mut message, &mut control, &descriptors).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert!(message.msg_control.is_null());
}

#[test]
fn a_message_without_control_has_no_descriptors() {
    let message = header(&mut libc::iovec {
        iov_base: std::ptr::null_mut(),
        iov_len: 0,
    });
    // SAFETY: there is no control message.
    assert!(unsafe { read_control(&message) }.is_empty());
}
