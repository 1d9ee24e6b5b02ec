//! `cargo xtask bench`: runs the benchmarks on Raddle and on other runtimes, and makes their
//! report.

mod programs;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::steps::{self, cargo};
use crate::{counting, ecosystem, workspace};
pub(crate) use programs::names;
use programs::{ECOSYSTEM, QUEUE, SCALING, SCHED, SIMULATION};

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
    if args.name.as_deref() == Some(SCALING) {
        let update = match args.quick {
            true => "",
            false => "--rounds 4 --docs docs/scaling.md",
        };
        return steps::run(SCALING, &mut counting::count(update));
    }
    let runs = programs::runs(args);
    let seconds: u32 = runs.iter().map(|run| run.seconds).sum();
    let building: u32 = runs.iter().map(|run| run.building).sum();
    if args.quick {
        println!(
            "{} programs, about {} minutes, and {} for building on two cores",
            runs.len(),
            seconds.div_ceil(60),
            building.div_ceil(60)
        );
    }
    let records = directory().join("run");
    if args.name.is_none() && records.exists() {
        fs::remove_dir_all(&records).context("cannot remove the last records")?;
    }
    let mut failed = Vec::new();
    // After a failure the others run all the same.
    let mut note = |step: &str, result: Result<()>| {
        if let Err(error) = result {
            println!("{error:#}");
            failed.push(step.to_owned());
        }
    };
    if !args.side_by_side && !args.quick {
        for (bench, mut command) in criterion(args) {
            let step = format!("{bench}, criterion");
            note(&step, steps::run(&step, &mut command));
        }
    }
    for (place, run) in (1..).zip(&runs) {
        let record = records.join(format!("{}.json", run.step));
        if record.exists() {
            fs::remove_file(&record)?;
        }
        let time = match args.quick {
            true => format!(", about {} s", run.seconds),
            false => String::new(),
        };
        let name = format!("{place} of {}: {}{time}", runs.len(), run.step);
        let result = build(run.bin).and_then(|mut program| {
            program.args(&run.args).arg("--json").arg(record);
            if run.bin == ECOSYSTEM {
                ecosystem::build_servers()?;
                program.args(ecosystem::servers());
            }
            if run.bin == SIMULATION {
                let line = "build --release -p raddle-sim --example message_rate";
                steps::run("build message_rate", &mut cargo(line))?;
                program.args(ecosystem::build_simulators()?);
            }
            steps::run(&name, &mut program)
        });
        note(&run.step, result);
    }
    let mut report = build("report")?;
    report.arg("--directory").arg(directory());
    report.args(args.save.iter().flat_map(|name| ["--save", name]));
    report.args(args.compare.iter().flat_map(|name| ["--compare", name]));
    steps::run("report", &mut report)?;
    let failed = failed.join(", ");
    ensure!(
        failed.is_empty(),
        "the report is incomplete, since these failed: {failed}"
    );
    Ok(())
}

/// The directory of the records, of the saved records and of the report.
fn directory() -> PathBuf {
    workspace::target().join("raddle-bench")
}

/// Returns the requested criterion benchmarks.
fn criterion(args: &Args) -> Vec<(&'static str, Command)> {
    let is_wanted = |bench: &&str| match args.workload() {
        Some(_) => *bench == SCHED,
        None => args.name.as_deref().is_none_or(|name| name == *bench),
    };
    let command = |bench: &'static str| {
        let mut command = cargo(format!("bench -p raddle-benches --bench {bench} --"));
        // There are some 90 benchmarks: one more second for each takes two minutes in total.
        command.args(["--warm-up-time", "0.5", "--measurement-time", "2"]);
        command.args(["--nresamples", "10000"]);
        if bench == SCHED {
            command.args(args.workload());
            if !args.workers.is_empty() {
                command.env("RADDLE_BENCH_WORKERS", args.worker_list());
            }
        }
        (bench, command)
    };
    let benches = [SCHED, QUEUE].into_iter();
    benches.filter(is_wanted).map(command).collect()
}

/// Builds a program, and makes the command that runs it.
fn build(bin: &str) -> Result<Command> {
    let mut build = cargo(format!("build --release -p raddle-benches --bin {bin}"));
    steps::run(&format!("build {bin}"), &mut build)?;
    let mut command = Command::new(workspace::target().join("release").join(bin));
    command.current_dir(workspace::root());
    Ok(command)
}
