//! What a service did when it was slow: a flight recorder that the hooks of a runtime write to.
//!
//! One task of the program makes a call that blocks in the middle of a poll. The report names the
//! place where that task is spawned, with its longest poll at the top. The hooks tell the recorder
//! of spawns, polls and parked workers, and not of wakes, so the scheduling delay of the report is
//! that of first polls.
//!
//! ```sh
//! cargo run --example flight_recorder -- recording.raddle
//! cargo run -p raddle-recording -- perfetto recording.raddle > trace.perfetto
//! ```
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use raddle::runtime::{Builder, TaskMeta};
use raddle_recorder::{Options, Recorder};
use raddle_recording::analysis::Report;
use raddle_recording::{EndReason, Event, PollResult, Recording};

thread_local! {
    /// The number of the worker whose thread this is.
    static WORKER: Cell<u32> = const { Cell::new(0) };
}

fn main() -> io::Result<()> {
    let recording = record(Duration::from_millis(50))?;
    print!("{}", Report::of(&recording));
    if let Some(path) = std::env::args_os().nth(1) {
        recording.write_to(File::create(path)?)?;
    }
    Ok(())
}

/// Runs some tasks of which one blocks its worker for `block`, and returns what happened.
pub(crate) fn record(block: Duration) -> io::Result<Recording> {
    let recorder = Recorder::new(Options::default());
    let mut builder = Builder::new_multi_thread();
    attach(&mut builder, &recorder);
    let runtime = builder.worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let blocking = raddle::spawn(async move { std::thread::sleep(block) });
        let others: Vec<_> = (0..100)
            .map(|_| raddle::spawn(raddle::task::yield_now()))
            .collect();
        for task in others.into_iter().chain([blocking]) {
            task.await.map_err(io::Error::other)?;
        }
        io::Result::Ok(())
    })?;
    // Its threads end, so the last events are recorded, too.
    drop(runtime);
    Ok(recorder.snapshot())
}

/// Makes the runtimes of a builder write to a recorder.
fn attach(builder: &mut Builder, recorder: &Recorder) {
    let on_event = |event: fn(u64) -> Event| {
        let recorder = recorder.clone();
        move |task: &TaskMeta<'_>| recorder.record(event(number(task)))
    };
    let spawns = recorder.clone();
    builder
        .on_task_spawn(move |task| spawns.record_spawn(number(task), task.spawned_at()))
        .on_before_task_poll(on_event(|task| Event::PollStarted { task }))
        .on_after_task_poll(on_event(|task| Event::PollFinished {
            task,
            result: PollResult::Pending,
        }))
        .on_task_terminate(on_event(|task| Event::TaskEnded {
            task,
            reason: EndReason::Completed,
        }));

    let workers = AtomicU32::new(0);
    let [parks, unparks] = [(); 2].map(|()| recorder.clone());
    builder
        .on_thread_start(move || WORKER.set(workers.fetch_add(1, Ordering::Relaxed)))
        .on_thread_park(move || {
            parks.record_kernel_delays();
            parks.record(Event::WorkerParked {
                worker: WORKER.get(),
            });
        })
        .on_thread_unpark(move || {
            unparks.record(Event::WorkerUnparked {
                worker: WORKER.get(),
            });
        });
}

fn number(task: &TaskMeta<'_>) -> u64 {
    NonZeroU64::from(task.id()).get()
}
