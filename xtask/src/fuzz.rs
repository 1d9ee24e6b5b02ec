//! `cargo xtask fuzz`: runs the machines of `raddle-proof` under libFuzzer with AddressSanitizer.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{nightly, steps, workspace};

/// The workspace of the fuzz targets.
const MANIFEST: &str = "xtask/proof/fuzz/Cargo.toml";
const CORPUS: &str = "xtask/proof/fuzz/corpus";

const TARGETS: [&str; 4] = ["task", "queue", "timer", "reactor"];

/// The flags of cargo-fuzz: counters of branches, and tracing of comparisons.
const FLAGS: &str = "--cfg fuzzing --cfg raddle_sanitize -Zsanitizer=address \
                     -Cunsafe-allow-abi-mismatch=sanitizer -Ccodegen-units=1 \
                     -Cpasses=sancov-module \
                     -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                     -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Fuzz only this target
    #[arg(value_parser = TARGETS)]
    target: Option<String>,

    /// Seconds for each target
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u32,

    /// Replace the corpus by the fewest inputs that reach the same branches
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let host = nightly::host()?;
    let build = format!("build --release --manifest-path {MANIFEST} --target {host}");
    let mut build = nightly::cargo("fuzz", &build);
    steps::run("fuzz build", build.env("RUSTFLAGS", FLAGS))?;
    let programs = workspace::target().join("fuzz").join(host).join("release");
    let is_chosen = |target: &&str| args.target.as_ref().is_none_or(|only| only == target);
    let mut targets = TARGETS.into_iter().filter(is_chosen);
    targets.try_for_each(|target| fuzz(&programs.join(target), target, args))
}

/// Fuzzes a target. Its findings are kept for the next run, outside the tree.
fn fuzz(program: &Path, target: &str, args: &Args) -> Result<()> {
    let work = workspace::target().join("fuzz/work").join(target);
    let found = work.join("found");
    fs::create_dir_all(&found).context("cannot make a directory for what is found")?;
    let corpus = workspace::root().join(CORPUS).join(target);
    let program = |options: &str| {
        let mut command = Command::new(program);
        command.current_dir(workspace::root());
        command.args(options.split(' '));
        command
    };
    let limits = "-timeout=20 -rss_limit_mb=2048 -max_len=600";
    let seconds = args.seconds;
    let mut command = program(&format!(
        "{limits} -print_final_stats=1 -verbosity=0 -max_total_time={seconds}"
    ));
    command.arg(format!("-artifact_prefix={}/", work.display()));
    steps::run(&format!("fuzz {target}"), command.args([&found, &corpus]))?;
    if args.keep {
        let fewest = corpus.with_extension("fewest");
        fs::create_dir_all(&fewest)?;
        // Merge by branches, not by the number of times that each is taken: this leaves a few files
        // instead of hundreds.
        let mut merge = program("-set_cover_merge=1 -use_counters=0");
        merge.args([&fewest, &found, &corpus]);
        steps::run(&format!("fuzz {target}, merge"), &mut merge)?;
        fs::remove_dir_all(&corpus)?;
        fs::rename(&fewest, &corpus)?;
    }
    Ok(())
}
