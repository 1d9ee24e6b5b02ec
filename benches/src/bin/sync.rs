//! Measures channels and locks in turn, round by round, with Raddle and with Tokio as executor, in
//! one process. A comparison may quote these figures.
#![forbid(unsafe_code)]

use std::io::Result;
use std::time::Instant;

use clap::Parser as _;
use raddle_benches::executors::{Executor, Raddle, Tokio};
use raddle_benches::record::{Case, Figure, Section};
use raddle_benches::sheet::{Options, Sheet};
use raddle_benches::sync::{Load, workloads};
use raddle_benches::timing::on_worker;

/// Runs a load in a task, and returns the nanoseconds per operation.
fn measure<E: Executor>(runtime: &E, load: Load<E::Spawner>) -> f64 {
    let spawner = runtime.spawner();
    on_worker(runtime, async move {
        let start = Instant::now();
        let operations = load(spawner).await;
        start.elapsed().as_nanos() as f64 / operations as f64
    })
}

fn compare<E: Executor>(workers: usize, sheet: &mut Sheet)
where
    E::Spawner: Sync,
{
    let runtime = E::new(workers);
    for (name, loads) in workloads::<E::Spawner>() {
        let case = Case::new(format!("{name}, on {}, {workers} workers", E::NAME));
        let names: Vec<_> = loads.iter().map(|(library, _)| *library).collect();
        let figures = [Figure::less("time an operation", "ns")];
        sheet.measure(&case, &figures, &names, |contestant| {
            Ok([measure(&runtime, loads[contestant].1)])
        });
    }
}

fn main() -> Result<()> {
    let options = Options::parse();
    let mut sheet = Sheet::new(Section::Sync, &options);
    for workers in options.workers(&[2]) {
        compare::<Raddle>(workers, &mut sheet);
        compare::<Tokio>(workers, &mut sheet);
    }
    sheet.finish()
}
