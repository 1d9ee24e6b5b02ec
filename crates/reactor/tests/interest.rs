//! What can be waited for, and what it means to the selector.
#![cfg(not(raddle_loom))]

use raddle_reactor::{Interest, Ready};

#[test]
fn interests_are_a_set_that_is_never_empty() {
    let both = Interest::READABLE | Interest::WRITABLE;
    assert!(both.is_readable() && both.is_writable() && !both.is_error() && !both.is_priority());
    assert_eq!(both.remove(Interest::WRITABLE), Some(Interest::READABLE));
    assert_eq!(both.remove(Interest::ERROR), Some(both));
    assert_eq!(both.remove(both), None);
    let mut all = both;
    all |= Interest::ERROR;
    assert_eq!(format!("{all:?}"), "READABLE | WRITABLE | ERROR");
    assert_eq!(format!("{:?}", Interest::ERROR), "ERROR");
}

#[test]
fn each_interest_is_answered_by_its_flags() {
    let read = Ready::from_interest(Interest::READABLE);
    assert_eq!(read, Ready::READABLE | Ready::READ_CLOSED);
    let write = Ready::from_interest(Interest::WRITABLE);
    assert_eq!(write, Ready::WRITABLE | Ready::WRITE_CLOSED);
    assert_eq!(Ready::from_interest(Interest::ERROR), Ready::ERROR);
    let both = Ready::from_interest(Interest::READABLE | Interest::WRITABLE);
    assert_eq!(both, read | write);
}

#[test]
#[cfg(target_os = "linux")]
fn urgent_data_is_an_interest_of_its_own() {
    assert!(Interest::PRIORITY.is_priority());
    let flags = Ready::from_interest(Interest::PRIORITY);
    assert_eq!(flags, Ready::PRIORITY | Ready::READ_CLOSED);
}
