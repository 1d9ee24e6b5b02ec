//! Makes the page and the summary from the records of the other programs.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use raddle_benches::exit;
use raddle_benches::record::Record;
use raddle_benches::report::{Report, Saved, renew};

#[derive(Parser)]
#[command(about = "Makes the report of what the other programs have recorded")]
struct Args {
    /// The directory of the report, with the records in its subdirectory run
    #[arg(long, value_name = "DIR")]
    directory: PathBuf,

    /// The command that the report shows as its own
    #[arg(long, value_name = "TEXT", default_value = "cargo xtask bench")]
    command: String,

    /// Keep the records under this name
    #[arg(long, value_name = "NAME")]
    save: Option<String>,

    /// Compare the ratios with those kept under this name
    #[arg(long, value_name = "NAME")]
    compare: Option<String>,

    /// Also update the tables of benchmarks.md in this directory, and its two curves
    #[arg(long, value_name = "DIR")]
    docs: Option<PathBuf>,
}

/// The curves of the documentation: the file, the beginning of the title, and the figure.
const PICTURES: [(&str, &str, &str); 2] = [
    ("bench-tasks.svg", "tasks spawned", "time a task"),
    ("bench-sleepers.svg", "tasks that sleep", "CPU a sleeper"),
];

fn main() -> ExitCode {
    exit("report", Args::parse().run())
}

impl Args {
    fn run(&self) -> Result<()> {
        let run = self.directory.join("run");
        let records = Record::read_all(&run)?;
        if records.is_empty() {
            let text = format!("nothing is recorded in {}", run.display());
            return Err(Error::other(text));
        }
        let saved = self.compare.as_ref().map(|name| self.saved(name));
        let saved = saved.transpose()?;
        if let Some(name) = &self.save {
            keep(&run, &self.kept(name))?;
        }
        let report = Report::new(self.command.clone(), records, saved);
        print!("{}", report.summary());
        let page = self.directory.join("report.html");
        fs::write(&page, report.page())?;
        println!("report: {}", page.display());
        if let Some(directory) = &self.docs {
            document(&report, directory)?;
        }
        Ok(())
    }

    fn kept(&self, name: &str) -> PathBuf {
        self.directory.join("saved").join(name)
    }

    fn saved(&self, name: &str) -> Result<Saved> {
        let directory = self.kept(name);
        let records = Record::read_all(&directory)?;
        if records.is_empty() {
            let text = format!(
                "nothing is kept in {}; run with --save {name} before",
                directory.display()
            );
            return Err(Error::other(text));
        }
        let name = name.to_owned();
        Ok(Saved { name, records })
    }
}

/// Copies the records. Replaces records that were kept under the name before.
fn keep(run: &Path, kept: &Path) -> Result<()> {
    if kept.exists() {
        fs::remove_dir_all(kept)?;
    }
    fs::create_dir_all(kept)?;
    for entry in fs::read_dir(run)? {
        let path = entry?.path();
        if let Some(name) = path.file_name() {
            fs::copy(&path, kept.join(name))?;
        }
    }
    Ok(())
}

fn document(report: &Report, directory: &Path) -> Result<()> {
    let page = directory.join("benchmarks.md");
    renew(&page, "figures", &report.tables())?;
    for (file, title, figure) in PICTURES {
        let picture = report.picture(title, &[figure]);
        let none = || Error::other(format!("no curve of {title} was recorded"));
        fs::write(directory.join(file), picture.ok_or_else(none)?)?;
    }
    Ok(())
}
