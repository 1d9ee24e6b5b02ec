//! Makes a record and a page of the documentation from the counts of the counting build.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use clap::Parser;
use raddle_benches::record::Section;
use raddle_benches::report::{Report, renew};
use raddle_benches::scaling;
use raddle_benches::sheet::{Case, Options, Sheet};
use raddle_scaling::{Counts, Figure};

#[derive(Parser)]
#[command(
    about = "Records what the counting build has counted; cargo xtask bench scaling runs both"
)]
struct Args {
    /// The file of the counts
    #[arg(long, value_name = "FILE")]
    counts: PathBuf,

    /// Also update scaling.md in this directory, and its plot
    #[arg(long, value_name = "DIR")]
    docs: Option<PathBuf>,

    #[command(flatten)]
    options: Options,
}

/// The figures of the plot.
const PLOTTED: [Figure; 4] = [
    Figure::CommonWrites,
    Figure::Transfers,
    Figure::Attempts,
    Figure::OfAPark,
];

fn main() -> Result<()> {
    let args = Args::parse();
    let counts = Counts::read(&args.counts)?;
    let rounds = args.options.rounds();
    let mut sheet = Sheet::new(Section::Scaling, &args.options);
    let loads = counts.loads();
    let figures = Figure::ALL.map(scaling::figure);
    for workers in counts.workers() {
        let case = Case::with(scaling::TITLE, "workers", workers);
        // The sheet begins with a round that it does not count.
        let mut round = vec![0; loads.len()];
        sheet.measure(&case, &figures, &loads, |load| {
            let place = round[load].max(1) - 1;
            round[load] += 1;
            let mut runs = counts.of(loads[load], workers);
            let run = runs
                .nth(place)
                .ok_or_else(|| Error::other(format!("fewer than {rounds} rounds were counted")))?;
            // A figure without a divisor is drawn as zero.
            Ok(Figure::ALL.map(|figure| run.figure(figure).unwrap_or(0.0)))
        })?;
    }
    if let Some(directory) = &args.docs {
        document(&counts, &sheet, directory)?;
    }
    sheet.finish()
}

fn document(counts: &Counts, sheet: &Sheet, directory: &Path) -> Result<()> {
    let page = directory.join("scaling.md");
    renew(&page, "counts", &scaling::tables(counts))?;
    let report = Report::new(String::new(), vec![sheet.record()], None);
    let plot = report.picture(scaling::TITLE, &PLOTTED.map(Figure::name));
    let plot = plot.ok_or_else(|| Error::other("there are no curves of one number of workers"))?;
    fs::write(directory.join("scaling.svg"), plot)
}
