//! Tests of the alarm that wakes the monitor on standby.

use std::thread;
use std::time::{Duration, Instant};

use raddle_idle::Alarm;

const SOON: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_secs(10);

fn alarm() -> Alarm {
    Alarm::new().expect("Linux has timerfd")
}

#[test]
fn an_alarm_that_is_set_is_due_once() {
    let alarm = alarm();
    let start = Instant::now();
    alarm.set(SOON);
    assert!(alarm.wait(None));
    assert!(start.elapsed() >= SOON);
    alarm.notify();
    assert!(!alarm.wait(None), "the alarm was due already");
}

#[test]
fn an_alarm_that_is_set_during_a_wait_ends_it() {
    let alarm = alarm();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| alarm.wait(None));
        thread::sleep(SOON);
        assert!(!waiter.is_finished());
        alarm.set(SOON);
        assert!(waiter.join().unwrap());
    });
}

#[test]
fn a_notification_ends_the_wait_that_runs_or_the_next_one() {
    let alarm = alarm();
    alarm.set(LONG);
    alarm.notify();
    assert!(!alarm.wait(None));
    thread::scope(|scope| {
        let waiter = scope.spawn(|| alarm.wait(None));
        thread::sleep(SOON);
        assert!(
            !waiter.is_finished(),
            "the first wait used up the notification"
        );
        alarm.notify();
        assert!(!waiter.join().unwrap());
    });
}

#[test]
fn an_alarm_that_is_cleared_is_not_due() {
    let alarm = alarm();
    alarm.set(SOON);
    alarm.clear();
    // With the long pause, the alarm is due before it is cleared.
    for pause in [Duration::ZERO, 4 * SOON] {
        alarm.set(SOON);
        thread::sleep(pause);
        alarm.clear();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| alarm.wait(None));
            thread::sleep(4 * SOON);
            assert!(!waiter.is_finished());
            alarm.notify();
            assert!(!waiter.join().unwrap());
        });
    }
}

#[test]
fn a_second_thread_takes_the_alarm_after_it_is_given_back() {
    let alarm = alarm();
    assert!(alarm.take());
    assert!(!alarm.take());
    alarm.give_back();
    assert!(alarm.take());
}

#[test]
fn an_alarm_is_worth_clearing_unless_it_is_set_often() {
    let alarm = alarm();
    assert!(!alarm.is_worth_clearing(), "the alarm is not set");
    thread::sleep(SOON);
    alarm.set(LONG);
    assert!(alarm.is_worth_clearing());
    alarm.clear();
    assert!(!alarm.is_worth_clearing());
    let start = Instant::now();
    alarm.set(LONG);
    alarm.set(LONG);
    assert!(!alarm.is_worth_clearing() || start.elapsed() > Duration::from_millis(2));
    thread::sleep(SOON);
    alarm.set(Duration::from_nanos(1));
    assert!(alarm.is_worth_clearing());
    assert!(alarm.wait(None));
    assert!(
        !alarm.is_worth_clearing(),
        "an alarm that was due need not be cleared"
    );
}
