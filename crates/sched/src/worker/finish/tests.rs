use super::*;

/// What ends the wait of a thread that waits when something is announced.
fn wait_against(announce: impl FnOnce(&Finish)) -> Waited {
    let finish = &Finish::default();
    let (waits, is_waiting) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(move || {
            finish.wait(|| {
                waits.send(()).expect("it is received below");
                Some(Duration::from_secs(20))
            })
        });
        is_waiting.recv().expect("it is sent above");
        // It has the lock until it waits.
        announce(finish);
        waiter.join().expect("it only waits")
    })
}

#[test]
fn an_announcement_wakes_a_waiting_thread() {
    assert!(matches!(wait_against(Finish::announce), Waited::Finished));
    let waited = wait_against(Finish::announce_handoff);
    assert!(matches!(waited, Waited::HandedOff));
}

#[test]
fn an_earlier_announcement_ends_a_wait_with_a_zero_timeout() {
    let finish = Finish::default();
    let wait = || finish.wait(|| Some(Duration::ZERO));
    assert!(matches!(wait(), Waited::TimedOut));
    finish.announce_handoff();
    assert!(matches!(wait(), Waited::HandedOff));
    assert!(matches!(wait(), Waited::TimedOut));
    finish.announce_handoff();
    finish.announce();
    assert!(matches!(wait(), Waited::Finished));
}
