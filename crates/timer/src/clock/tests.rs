use super::*;

#[test]
fn a_clock_is_paused_at_the_next_whole_millisecond() {
    for _ in 0..100 {
        let clock = Clock::new(None);
        clock.pause();
        let after = Instant::system();
        let stopped = clock.now();
        assert_eq!(
            (stopped - clock.start()).subsec_nanos() % MILLISECOND_NANOS,
            0
        );
        assert!(stopped < after + Duration::from_nanos(u64::from(MILLISECOND_NANOS)));
    }
}

/// Another thread may resume the clock just before it is advanced.
#[test]
fn a_clock_that_runs_is_not_moved_to_a_deadline() {
    let clock = Clock::new(None);
    clock.pause();
    clock.resume();
    let deadline = clock.now() + Duration::from_secs(3_600);
    clock.advance_to(deadline);
    assert!(clock.now() < deadline);
}
