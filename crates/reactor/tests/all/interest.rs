//! Interests, and their flags in the selector.

use raddle_reactor::{Interest, Ready};

const FLAGS: [Ready; 6] = [
    Ready::READABLE,
    Ready::WRITABLE,
    Ready::READ_CLOSED,
    Ready::WRITE_CLOSED,
    Ready::PRIORITY,
    Ready::ERROR,
];

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
fn from_interest_returns_the_flags_of_each_interest() {
    let read = Ready::from_interest(Interest::READABLE);
    assert_eq!(read, Ready::READABLE | Ready::READ_CLOSED);
    let write = Ready::from_interest(Interest::WRITABLE);
    assert_eq!(write, Ready::WRITABLE | Ready::WRITE_CLOSED);
    assert_eq!(Ready::from_interest(Interest::ERROR), Ready::ERROR);
    let both = Ready::from_interest(Interest::READABLE | Interest::WRITABLE);
    assert_eq!(both, read | write);
}

#[test]
fn ready_all_has_exactly_the_six_flags() {
    let mut left = Ready::ALL;
    for flag in FLAGS {
        assert!(left.intersects(flag), "{flag:?}");
        left = left - flag;
    }
    assert!(left.is_empty(), "{left:?}");
}

/// A closed direction is ready, too.
#[test]
fn each_predicate_is_true_for_its_flags_only() {
    let questions = [
        (
            Ready::is_readable as fn(Ready) -> bool,
            Ready::READABLE | Ready::READ_CLOSED,
        ),
        (Ready::is_writable, Ready::WRITABLE | Ready::WRITE_CLOSED),
        (Ready::is_read_closed, Ready::READ_CLOSED),
        (Ready::is_write_closed, Ready::WRITE_CLOSED),
        (Ready::is_priority, Ready::PRIORITY),
        (Ready::is_error, Ready::ERROR),
    ];
    for (is, flags) in questions {
        for flag in FLAGS {
            assert_eq!(is(flag), flags.intersects(flag), "{flag:?} of {flags:?}");
        }
        assert!(!is(Ready::EMPTY) && !is(Ready::ALL - flags), "{flags:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn urgent_data_is_an_interest_of_its_own() {
    assert!(Interest::PRIORITY.is_priority());
    let flags = Ready::from_interest(Interest::PRIORITY);
    assert_eq!(flags, Ready::PRIORITY | Ready::READ_CLOSED);
}
