use super::{Activity, Call, Status};

#[test]
fn a_blocked_call_is_read_with_its_arguments_its_stack_and_its_instruction() {
    let line = "230 0x1 0x0 0x7ffc1 0x7ffc2 0x5 0xffffffffffffffff 0x7ffe100 0x7f1c9\n";
    let call = Call {
        number: 230,
        arguments: [1, 0, 0x7ffc1, 0x7ffc2, 5, usize::MAX],
        stack: 0x7ffe100,
        instruction: 0x7f1c9,
    };
    assert_eq!(Activity::parse(line), Some(Activity::Calls(call)));
    assert_eq!(Activity::parse("running\n"), Some(Activity::Runs));
    let faults = Activity::parse("-1 0x7ffe100 0x7f1c9\n");
    assert_eq!(faults, Some(Activity::Faults));
    for line in ["", "230 0x1\n", "230 1 2 3 4 5 6 7 8\n", "sleeping\n"] {
        assert_eq!(Activity::parse(line), None, "{line}");
    }
}

#[test]
fn a_status_tells_the_switches_and_the_blocked_signals() {
    let text = "Name:\tworker\nSigBlk:\t0000000000400004\nvoluntary_ctxt_switches:\t17\n\
                nonvoluntary_ctxt_switches:\t4\n";
    let status = Status::parse(text).unwrap();
    assert_eq!(status.switches, 17);
    assert!(status.blocks(libc::SIGURG) && status.blocks(libc::SIGQUIT));
    assert!(!status.blocks(libc::SIGTERM));
    assert_eq!(Status::parse("Name:\tworker\n"), None);
}

#[test]
fn only_calls_that_certainly_restart_do() {
    let call = |number, second: i32, fourth| Call {
        number,
        arguments: [0, second as usize, 0, fourth, 0, 0],
        stack: 0,
        instruction: 0,
    };
    let private = libc::FUTEX_PRIVATE_FLAG;
    for (call, restarts) in [
        (call(libc::SYS_futex, libc::FUTEX_WAIT | private, 0), true),
        (
            call(libc::SYS_futex, libc::FUTEX_WAIT_BITSET | private, 1),
            false,
        ),
        (call(libc::SYS_wait4, 0, 0), true),
        (call(libc::SYS_fcntl, libc::F_SETLKW, 0), true),
        (call(libc::SYS_fcntl, libc::F_GETFD, 0), false),
        (call(libc::SYS_clock_nanosleep, 0, 0), false),
        (call(libc::SYS_ppoll, 0, 0), false),
        (call(libc::SYS_epoll_pwait, 0, 0), false),
        (call(libc::SYS_recvfrom, 0, 0), false),
        (call(libc::SYS_semtimedop, 0, 0), false),
    ] {
        assert_eq!(call.restarts(), restarts, "{call:?}");
    }
}
