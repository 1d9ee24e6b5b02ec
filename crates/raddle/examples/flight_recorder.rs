//! What a service did when it was slow: the flight recorder of its runtime.
//!
//! One task of the program makes a call that blocks in the middle of a poll. The report names the
//! place where that task is spawned, with its longest poll at the top.
//!
//! ```sh
//! cargo run --features flight-recorder --example flight_recorder -- recording.raddle
//! cargo run -p raddle-recording -- perfetto recording.raddle > trace.perfetto
//! ```
#![forbid(unsafe_code)]

use std::fs::File;
use std::io;
use std::time::Duration;

use raddle::runtime::Builder;
use raddle::runtime::flight_recorder::RecorderOptions;
use raddle::runtime::flight_recorder::recording::{Recording, analysis::AnalysisReport};

fn main() -> io::Result<()> {
    let recording = record(Duration::from_millis(50))?;
    print!("{}", AnalysisReport::of(&recording));
    if let Some(path) = std::env::args_os().nth(1) {
        recording.write_to(File::create(path)?)?;
    }
    Ok(())
}

/// Runs some tasks, one of which blocks its worker for `block`, and returns what happened.
pub(crate) fn record(block: Duration) -> io::Result<Recording> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .flight_recorder(RecorderOptions::default())
        .build()?;
    let recorder = runtime.handle().flight_recorder();
    let recorder = recorder.ok_or_else(|| io::Error::other("the builder was asked for it"))?;
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
    // Ends the threads, so that their last events are recorded too.
    drop(runtime);
    Ok(recorder.snapshot())
}
