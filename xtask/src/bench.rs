//! `cargo xtask bench`: the benchmarks, on Raddle and on other runtimes, and the
//! report of them.

mod programs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::counting;
use crate::ecosystem;
use crate::steps::{self, Steps, cargo};
use crate::workspace;
use programs::{ASYNC_COST, ECOSYSTEM, POLICIES, QUEUE, Run, SCALING, SCHED, names};

#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    #[arg(help = format!("Run one part of the report ({}), or one workload of the scheduler", names().join(", ")))]
    name: Option<String>,

    /// Run fewer and shorter rounds and no criterion: rough figures in a few minutes
    #[arg(long)]
    quick: bool,

    /// Numbers of worker threads, separated by commas [default: 1,2,4,8 for the scheduler, else 2]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=64))]
    workers: Vec<u16>,

    /// Skip criterion: run only the interleaved rounds that give the ratios
    #[arg(long)]
    side_by_side: bool,

    /// Save the records under this name
    #[arg(long, value_name = "NAME", value_parser = kept_name)]
    save: Option<String>,

    /// Compare the ratios with the records that were saved under this name
    #[arg(long, value_name = "NAME", value_parser = kept_name)]
    compare: Option<String>,
}

impl Args {
    /// The numbers of workers, with commas.
    fn worker_list(&self) -> String {
        let workers: Vec<_> = self.workers.iter().map(u16::to_string).collect();
        workers.join(",")
    }
}

/// Accepts a name that is one directory.
fn kept_name(text: &str) -> Result<String, String> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    match !text.is_empty() && !text.starts_with('.') && text.chars().all(plain) {
        true => Ok(text.to_owned()),
        false => Err("use letters, digits, ., - and _ in a name".to_owned()),
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let root = workspace::root();
    let target = workspace::target(&root);
    let directory = target.join("raddle-bench");
    if let Some(name) = &args.compare {
        let kept = directory.join("saved").join(name);
        ensure!(
            kept.exists(),
            "nothing is saved under {name}; run with --save {name} first"
        );
    }
    steps::summarized(|steps| {
        let build = ["build", "--release", "-p", "raddle-benches", "--bins"];
        let mut build = cargo(&root, &build);
        steps.run("build", &mut build)?;
        if args.name.as_deref().is_none_or(|name| name == ECOSYSTEM) {
            ecosystem::build_servers(steps, &root, &target)?;
        }
        let mut failed = Vec::new();
        if !args.side_by_side && !args.quick {
            failed.extend(criterion(steps, &root, args));
        }
        if args.name.is_none() && records(&target).exists() {
            fs::remove_dir_all(records(&target)).context("cannot remove the last records")?;
        }
        failed.extend(compare(steps, &root, &target, args)?);
        steps.run("report", &mut report(&root, &directory, args))?;
        if !failed.is_empty() {
            bail!(
                "the report is incomplete, since these failed: {}",
                failed.join(", ")
            );
        }
        Ok(())
    })
}

/// Runs the programs, each with a record of its own. Returns the ones that failed; the others
/// run all the same.
fn compare(steps: &mut Steps, root: &Path, target: &Path, args: &Args) -> Result<Vec<String>> {
    let runs = programs::runs(args);
    let records = records(target);
    let mut failed = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let record = records.join(format!("{}.json", run.step));
        if record.exists() {
            fs::remove_file(&record)?;
        }
        let name = format!("{} of {}: {}", place + 1, runs.len(), run.step);
        let mut program = program(root, target, run, &record);
        if run.bin == SCALING && args.name.is_some() && !args.quick {
            program.arg("--docs").arg(root.join("docs"));
        }
        let mut count = counting::count(root, &counts(target), &run.args);
        let counted = match run.bin {
            SCALING => steps.run("count", &mut count),
            _ => Ok(()),
        };
        if let Err(error) = counted.and_then(|()| steps.run(&name, &mut program)) {
            println!("{error:#}");
            failed.push(run.step.clone());
        }
    }
    Ok(failed)
}

/// The directory of the programs' records.
fn records(target: &Path) -> PathBuf {
    target.join("raddle-bench/run")
}

/// The file in which the counting build writes its counts.
fn counts(target: &Path) -> PathBuf {
    target.join("raddle-bench/counts.json")
}

fn program(root: &Path, target: &Path, run: &Run, record: &Path) -> Command {
    let mut command = of_benches(root, run.bin);
    command.args(&run.args).arg("--json").arg(record);
    if run.bin == ECOSYSTEM {
        command.args(ecosystem::servers(target));
    }
    if run.bin == SCALING {
        command.arg("--counts").arg(counts(target));
    }
    command
}

fn report(root: &Path, directory: &Path, args: &Args) -> Command {
    let mut command = of_benches(root, "report");
    let words: Vec<_> = std::env::args().skip(1).collect();
    let line = format!("cargo xtask {}", words.join(" "));
    command.arg("--directory").arg(directory);
    command.args(["--command", &line]);
    for (option, name) in [("--save", &args.save), ("--compare", &args.compare)] {
        if let Some(name) = name {
            command.arg(option).arg(name);
        }
    }
    command
}

fn of_benches(root: &Path, bin: &str) -> Command {
    let mut command = cargo(root, &["run", "--release", "--quiet"]);
    command.args(["-p", "raddle-benches", "--bin", bin, "--"]);
    command
}

/// Runs the criterion benchmarks, and returns the ones that failed.
fn criterion(steps: &mut Steps, root: &Path, args: &Args) -> Vec<String> {
    let mut failed = Vec::new();
    let name = args.name.as_deref();
    let workload = name.filter(|name| !names().contains(name));
    for bench in [SCHED, QUEUE, POLICIES, ASYNC_COST] {
        let mut command = cargo(root, &["bench", "-p", "raddle-benches", "--bench"]);
        command.args([bench.replace('-', "_").as_str(), "--"]);
        // Some 160 benchmarks: a second more of each is three minutes of all.
        command.args(["--warm-up-time", "0.5", "--measurement-time", "2"]);
        command.args(["--nresamples", "10000"]);
        if bench == SCHED {
            command.args(workload);
            if !args.workers.is_empty() {
                command.env("RADDLE_BENCH_WORKERS", args.worker_list());
            }
        }
        let wanted =
            name.is_none_or(|name| name == bench) || (bench == SCHED && workload.is_some());
        let step = format!("{bench}, criterion");
        if wanted && let Err(error) = steps.run(&step, &mut command) {
            println!("{error:#}");
            failed.push(step);
        }
    }
    failed
}

#[cfg(test)]
mod tests;
