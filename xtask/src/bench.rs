//! `cargo xtask bench`: runs the benchmarks on Raddle and on other runtimes, and makes their
//! report.

mod programs;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::steps::{self, cargo};
use crate::{counting, ecosystem, workspace};
use programs::{ASYNC_COST, ECOSYSTEM, POLICIES, QUEUE, SCALING, SCHED, names};

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
    /// Returns the numbers of workers, separated by commas.
    fn worker_list(&self) -> String {
        let workers: Vec<_> = self.workers.iter().map(u16::to_string).collect();
        workers.join(",")
    }

    /// Returns the workload of the scheduler that is requested, if one is.
    fn workload(&self) -> Option<&str> {
        self.name.as_deref().filter(|name| !names().contains(name))
    }
}

/// Accepts a name that is a single directory name.
fn kept_name(text: &str) -> Result<String, String> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    match !text.is_empty() && !text.starts_with('.') && text.chars().all(plain) {
        true => Ok(text.to_owned()),
        false => Err("use letters, digits, ., - and _ in a name".to_owned()),
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if let Some(name) = &args.compare {
        ensure!(
            directory().join("saved").join(name).exists(),
            "nothing is saved under {name}; run with --save {name} first"
        );
    }
    let mut build = cargo("build --release -p raddle-benches --bins");
    steps::run("build", &mut build)?;
    if args.name.as_deref().is_none_or(|name| name == ECOSYSTEM) {
        ecosystem::build_servers()?;
    }
    let mut failed = Vec::new();
    // The others run all the same.
    let mut run = |step: &str, command: &mut Command| {
        let result = steps::run(step, command);
        if let Err(error) = &result {
            println!("{error:#}");
            failed.push(step.to_owned());
        }
        result.is_ok()
    };
    if !args.side_by_side && !args.quick {
        for (bench, mut command) in criterion(args) {
            run(&format!("{bench}, criterion"), &mut command);
        }
    }
    let records = directory().join("run");
    if args.name.is_none() && records.exists() {
        fs::remove_dir_all(&records).context("cannot remove the last records")?;
    }
    let runs = programs::runs(args);
    for (place, it) in (1..).zip(&runs) {
        let record = records.join(format!("{}.json", it.step));
        if record.exists() {
            fs::remove_file(&record)?;
        }
        let mut program = of_benches(it.bin);
        program.args(&it.args).arg("--json").arg(record);
        if it.bin == ECOSYSTEM {
            program.args(ecosystem::servers());
        }
        if it.bin == SCALING {
            // The file in which the counting build writes its counts.
            let counts = directory().join("counts.json");
            if !run("count", &mut counting::count(&counts, &it.args)) {
                continue;
            }
            program.arg("--counts").arg(counts);
            if args.name.is_some() && !args.quick {
                program.arg("--docs").arg(workspace::root().join("docs"));
            }
        }
        let step = &it.step;
        run(&format!("{place} of {}: {step}", runs.len()), &mut program);
    }
    steps::run("report", &mut report(args))?;
    ensure!(
        failed.is_empty(),
        "the report is incomplete, since these failed: {}",
        failed.join(", ")
    );
    Ok(())
}

/// The directories of the records, of the saved records and of the report.
fn directory() -> PathBuf {
    workspace::target().join("raddle-bench")
}

fn report(args: &Args) -> Command {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let mut command = of_benches("report");
    command.arg("--directory").arg(directory());
    command.args(["--command", &format!("cargo xtask {}", words.join(" "))]);
    command.args(args.save.iter().flat_map(|name| ["--save", name]));
    command.args(args.compare.iter().flat_map(|name| ["--compare", name]));
    command
}

fn of_benches(bin: &str) -> Command {
    cargo(format!(
        "run --release --quiet -p raddle-benches --bin {bin} --"
    ))
}

/// Returns the requested criterion benchmarks.
fn criterion(args: &Args) -> Vec<(&'static str, Command)> {
    let name = args.name.as_deref();
    let workload = args.workload();
    let is_wanted = |bench: &&str| {
        name.is_none_or(|name| name == *bench) || (*bench == SCHED && workload.is_some())
    };
    let benches = [SCHED, QUEUE, POLICIES, ASYNC_COST].into_iter();
    let command = |bench: &'static str| {
        let file = bench.replace('-', "_");
        let mut command = cargo(format!("bench -p raddle-benches --bench {file} --"));
        // There are some 160 benchmarks: one more second for each takes three minutes in total.
        command.args(["--warm-up-time", "0.5", "--measurement-time", "2"]);
        command.args(["--nresamples", "10000"]);
        if bench == SCHED {
            command.args(workload);
            if !args.workers.is_empty() {
                command.env("RADDLE_BENCH_WORKERS", args.worker_list());
            }
        }
        (bench, command)
    };
    benches.filter(is_wanted).map(command).collect()
}
