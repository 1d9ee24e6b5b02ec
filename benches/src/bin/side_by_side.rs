//! Measures the scheduler workloads on every runtime in turn, round by round, in one process. A
//! comparison may quote these figures.
#![forbid(unsafe_code)]

use std::io::Result;

use clap::Parser as _;
use raddle_benches::executors::{
    AsyncExecutor, Raddle, RaddleSharded, RaddleShared, Tokio, TokioThreadpool,
};
use raddle_benches::ready;
use raddle_benches::record::{Case, Figure, Section};
use raddle_benches::sheet::{Options, Sheet, micros};
use raddle_benches::workloads::{WORKLOADS, run};

fn main() -> Result<()> {
    let options = Options::parse();
    let mut sheet = Sheet::new(Section::Scheduler, &options);
    for workers in options.workers(&[1, 2]) {
        let contestants = ready!(
            workers, |runtime, workload: &'static str| vec![micros(|| run(workload, &runtime))];
            Raddle, Tokio, TokioThreadpool, AsyncExecutor, RaddleShared, RaddleSharded
        );
        for workload in WORKLOADS {
            let case = Case::with(workload, "workers", workers);
            sheet.compare(&case, &[Figure::less("time", "us")], &contestants, workload);
        }
    }
    sheet.finish()
}
