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
fn a_thread_that_waits_is_woken_by_what_is_announced() {
    assert!(matches!(wait_against(Finish::announce), Waited::Finished));
    let waited = wait_against(Finish::announce_handoff);
    assert!(matches!(waited, Waited::HandedOff));
}

#[test]
fn what_was_announced_ends_a_wait_without_time() {
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
