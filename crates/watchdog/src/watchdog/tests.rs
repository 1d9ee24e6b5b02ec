use std::thread;

use raddle_sched::{Config, CurrentThread};

use super::*;

#[test]
fn the_time_of_a_poll_that_has_ended_does_not_go_on() {
    let watchdog = Watchdog::start(Duration::from_secs(60), |_| {}).unwrap();
    let config = Config {
        observer: Some(watchdog.observer()),
        ..Config::default()
    };
    let found = CurrentThread::new(config, None).block_on(async {
        let shared = watchdog.shared.clone();
        let task = raddle_sched::spawn(async move { shared.registry.running() });
        task.await.unwrap()
    });
    let of_task = |it: &&ObservedActivity| it.running.activity.kind == ActivityKind::Poll;
    let found = found.iter().find(of_task).expect("the task was polled");
    let pause = Duration::from_millis(20);
    thread::sleep(pause);
    let poll = watchdog.shared.describe(found, &mut || ());
    assert!(poll.elapsed.at_least < pause, "{poll}");
}
