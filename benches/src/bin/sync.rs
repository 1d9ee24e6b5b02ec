//! Measures channels and locks in turn, round by round, with Raddle and with Tokio as executor, in
//! one process. A comparison may quote these figures.
#![forbid(unsafe_code)]

use std::io::Result;
use std::time::Instant;

use clap::Parser;
use raddle_benches::executors::{Executor, Raddle, Tokio};
use raddle_benches::record::Section;
use raddle_benches::sheet::{Case, Figure, Options, Sheet};
use raddle_benches::sync::{Load, workloads};
use raddle_benches::timing::on_worker;

#[derive(Parser)]
#[command(about = "Runs each workload of channels and locks with each library in turn")]
struct Args {
    /// The number of worker threads
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    /// Measure only the workloads whose names begin with this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,

    #[command(flatten)]
    options: Options,
}

/// Runs a load in a task, and returns the nanoseconds per operation.
fn measure<E: Executor>(runtime: &E, load: Load<E::Spawner>) -> f64 {
    let spawner = runtime.spawner();
    on_worker(runtime, async move {
        let start = Instant::now();
        let operations = load(spawner).await;
        start.elapsed().as_nanos() as f64 / operations as f64
    })
}

fn compare<E: Executor>(args: &Args, sheet: &mut Sheet) -> Result<()>
where
    E::Spawner: Sync,
{
    let runtime = E::new(args.workers.into());
    for workload in workloads::<E::Spawner>() {
        let named = |only: &String| workload.name.starts_with(only.as_str());
        if args.only.as_ref().is_none_or(named) {
            let (name, workers) = (workload.name, args.workers);
            let title = format!("{name}, on {}, {workers} workers", E::NAME);
            let names: Vec<_> = workload.loads.iter().map(|(library, _)| *library).collect();
            let figures = [Figure::less("time an operation", "ns")];
            sheet.measure(&Case::new(title), &figures, &names, |contestant| {
                Ok([measure(&runtime, workload.loads[contestant].1)])
            })?;
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut sheet = Sheet::new(Section::Sync, &args.options);
    compare::<Raddle>(&args, &mut sheet)?;
    compare::<Tokio>(&args, &mut sheet)?;
    sheet.finish()
}
