use super::*;

#[test]
fn the_numbers_of_a_schedstat_are_run_time_delay_and_slices() {
    assert_eq!(delayed("2012345 68738 17\n"), Some(68_738));
    assert_eq!(delayed("2012345"), None);
}

#[test]
fn switches_are_found_in_the_status_of_a_thread() {
    let status = "Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
    assert_eq!(field(status, "voluntary_ctxt_switches:"), Some(12));
    assert_eq!(field(status, "nonvoluntary_ctxt_switches:"), Some(3));
    assert_eq!(field(status, "Threads:"), None);
}

#[test]
fn only_changed_counts_become_events() {
    let former = Counts {
        delayed: 5,
        voluntary: 2,
        involuntary: 1,
    };
    assert_eq!(events(former, former), [None, None]);
    let counts = Counts {
        delayed: 9,
        voluntary: 2,
        involuntary: 4,
    };
    let switches = Event::ContextSwitches {
        voluntary: 0,
        involuntary: 3,
    };
    let delay = Event::ThreadDelayed { nanos: 4 };
    assert_eq!(events(former, counts), [Some(delay), Some(switches)]);
}

#[test]
fn a_thread_that_blocks_has_voluntary_switches() {
    let mut delays = Delays::default();
    // The first reading has no earlier one to compare with.
    assert_eq!(delays.read().count(), 0);
    std::thread::sleep(INTERVAL);
    let is_switch =
        |event| matches!(event, Event::ContextSwitches { voluntary, .. } if voluntary > 0);
    assert!(delays.read().any(is_switch));
    assert!(thread_id() > 0);
}

#[test]
fn delays_are_not_read_before_their_interval_has_passed() {
    let mut delays = Delays {
        next: Some(Instant::now() + Duration::from_secs(3_600)),
        ..Delays::default()
    };
    assert_eq!(delays.read().count(), 0);
    assert!(delays.files.is_none());
}
