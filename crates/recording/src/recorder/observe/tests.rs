use std::sync::Arc;
use std::thread;

use raddle_sched::{Config, CurrentThread, yield_now};

use super::*;
use crate::EndReason;
use crate::recorder::RecorderOptions;

fn scheduler(options: RecorderOptions) -> (CurrentThread, Recorder) {
    let recorder = Recorder::new(options);
    let config = Config {
        observer: Some(Arc::new(recorder.clone())),
        ..Config::default()
    };
    (CurrentThread::new(config, None), recorder)
}

fn few_places() -> RecorderOptions {
    RecorderOptions {
        task_places: 16,
        ..RecorderOptions::default()
    }
}

/// Runs 1,000 tasks, a hundred at a time, beside one that lives until the end.
fn run_tasks(scheduler: &CurrentThread) {
    let lives = scheduler.handle().spawn(std::future::pending::<()>());
    for _ in 0..10 {
        scheduler.block_on(async {
            let spawn = |_| scheduler.handle().spawn(yield_now());
            for task in (0..100).map(spawn).collect::<Vec<_>>() {
                task.await.unwrap();
            }
        });
    }
    lives.abort();
}

#[test]
fn the_table_forgets_tasks_that_have_ended() {
    let check = |recorder: &Recorder| {
        // Those whose places were taken before they ended, up to the number of places.
        let moved = recorder.tasks().moved();
        assert!(moved <= 16 + 2, "{moved} tasks are kept");
    };
    let (scheduler, recorder) = scheduler(few_places());
    run_tasks(&scheduler);
    check(&recorder);
    recorder.stop();
    run_tasks(&scheduler);
    check(&recorder);

    // The only ring belongs to another thread.
    let (scheduler, recorder) = self::scheduler(RecorderOptions {
        max_threads: 1,
        ..few_places()
    });
    let other = recorder.clone();
    thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let (ready, is_ready) = std::sync::mpsc::channel();
        scope.spawn(move || {
            other.record(Event::DriverStarted);
            ready.send(()).unwrap();
            let _ended = receiver.recv();
        });
        is_ready.recv().unwrap();
        run_tasks(&scheduler);
        drop(sender);
    });
    assert!(recorder.refused_threads() > 0);
    check(&recorder);
}

#[test]
fn schedulers_that_alternate_on_one_thread_keep_the_ends_of_their_polls() {
    let [first, second] = [(); 2].map(|()| scheduler(RecorderOptions::default()));
    let mut ids = Vec::new();
    for _ in 0..3 {
        let inner = || {
            let task = second.0.handle().spawn(yield_now());
            second.0.block_on(task).unwrap();
        };
        let task = first.0.handle().spawn(async move {
            yield_now().await;
            yield_now().await;
        });
        ids.push(number(task.id()));
        first.0.block_on(task).unwrap();
        inner();
    }
    let count = |recorder: &Recorder, wanted: &dyn Fn(Event) -> bool| {
        let all = recorder.snapshot().by_time();
        all.iter().filter(|(_, entry)| wanted(entry.event)).count()
    };
    let rescheduled = |event: Event| {
        let result = crate::PollResult::Rescheduled;
        matches!(event, Event::PollFinished { task: 1.., result: is } if is == result)
    };
    assert_eq!(count(&first.1, &rescheduled), 6);
    assert_eq!(count(&second.1, &rescheduled), 3);
    for task in ids {
        let reason = EndReason::Completed;
        let ended = |event| event == Event::TaskEnded { task, reason };
        assert_eq!(count(&first.1, &ended), 1);
    }
}
