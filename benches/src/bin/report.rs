//! Makes the report from the records of the other programs.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Result;
use std::path::PathBuf;

use clap::Parser;
use raddle_benches::record::Record;
use raddle_benches::report::{Report, renew};

#[derive(Parser)]
#[command(about = "Makes the report of what the other programs have recorded")]
struct Args {
    /// The directory of the report, with the records in its subdirectory run
    #[arg(long, value_name = "DIR")]
    directory: PathBuf,

    /// Save the records under this name
    #[arg(long, value_name = "NAME")]
    save: Option<String>,

    /// Compare the ratios with those saved under this name
    #[arg(long, value_name = "NAME")]
    compare: Option<String>,

    /// Also update the tables of benchmarks.md in this directory, its two curves, and the tables of
    /// ../README.md and cost-of-async.md
    #[arg(long, value_name = "DIR")]
    docs: Option<PathBuf>,
}

/// The curves of the documentation: the file, the beginning of the title, and the figure.
const PICTURES: [(&str, &str, &str); 2] = [
    ("bench-tasks.svg", "tasks spawned", "time a task"),
    ("bench-sleepers.svg", "tasks that sleep", "CPU a sleeper"),
];

fn main() -> Result<()> {
    let args = Args::parse();
    let run = args.directory.join("run");
    let saved = |name: &String| args.directory.join("saved").join(name);
    let records = Record::read_all(&run)?;
    let compared = match &args.compare {
        None => None,
        Some(name) => Some((name.clone(), Record::read_all(&saved(name))?)),
    };
    let report = Report::new(records, compared);
    if let Some(name) = &args.save {
        let directory = saved(name);
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        fs::create_dir_all(&directory)?;
        for entry in fs::read_dir(run)? {
            let entry = entry?;
            fs::copy(entry.path(), directory.join(entry.file_name()))?;
        }
    }
    print!("{}", report.summary());
    let page = args.directory.join("report.md");
    fs::write(&page, report.page())?;
    println!("report: {}", page.display());
    if let Some(docs) = &args.docs {
        renew(&docs.join("benchmarks.md"), &report.documented())?;
        renew(&docs.join("../README.md"), &report.first())?;
        if let Some(costs) = report.costs() {
            renew(&docs.join("cost-of-async.md"), &costs)?;
        }
        for (file, title, figure) in PICTURES {
            report.draw_curve(title, figure, &docs.join(file))?;
        }
    }
    Ok(())
}
