//! The project's own commands: `cargo xtask`.
//!
//! The checks before a commit, the commands of the benchmarks and the layout rules live here and
//! nowhere else; CI only calls them.
#![forbid(unsafe_code)]

mod api;
mod apt;
mod bench;
mod ci;
mod conformance;
mod counting;
mod differential;
mod ecosystem;
mod features;
mod fuzz;
mod loom;
mod messages;
mod mutate;
mod nightly;
mod package;
mod pages;
mod platforms;
mod programs;
mod sanitize;
mod steps;
mod stress;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Raddle's own commands"
)]
#[command(arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the checks before a commit: formatting, tidy, clippy, tests and models with small
    /// bounds; with --full what these leave out. CI runs both
    Test(test::Args),
    /// Run the loom models of one crate or of all
    Loom(loom::Args),
    /// Weaken orderings, remove fences and checks, and run the models on each change
    Mutate(mutate::Args),
    /// Run the benchmarks on Raddle and other runtimes: criterion, then side by side
    Bench(bench::Args),
    /// Run the integration tests of Tokio and its companion crates on the stand-in
    Conformance(conformance::Args),
    /// Compile crates of the ecosystem on the stand-in, and run real servers and clients
    Ecosystem(ecosystem::Args),
    /// Run what CI runs in a fresh clone of HEAD, and remove the clone
    Ci,
    /// Run the stress test: no task may be lost, run twice or leaked
    Stress(stress::Args),
    /// Run all tests and the stress test under ThreadSanitizer, AddressSanitizer and LeakSanitizer
    /// (needs a nightly compiler)
    Sanitize(sanitize::Args),
    /// Run the tests of the layers without system calls under Miri (needs a nightly compiler)
    Miri,
    /// Fuzz the layers against reference models (needs a nightly compiler)
    Fuzz(fuzz::Args),
    /// Check that Raddle has every public item of Tokio, and that types and futures have Tokio's
    /// traits
    Api,
    /// Run random programs on Raddle and on Tokio, and compare results and wake-ups
    Differential(differential::Args),
    /// Run the commands and programs that the pages show
    Pages(pages::Args),
    /// Check layout, dependency direction, comments and the tests of known bugs
    Tidy,
    /// Check the crates with the oldest compiler and for other platforms, and run the tests of the
    /// layers for platforms whose programs run here
    Platforms(platforms::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Api => api::run(),
        Command::Test(args) => test::run(&args),
        Command::Loom(args) => loom::run(&args),
        Command::Mutate(args) => mutate::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Ci => ci::run(),
        Command::Conformance(args) => conformance::run(&args),
        Command::Ecosystem(args) => ecosystem::run(&args),
        Command::Sanitize(args) => sanitize::run(&args),
        Command::Miri => sanitize::miri(),
        Command::Differential(args) => differential::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Pages(args) => pages::run(&args),
        Command::Platforms(args) => platforms::run(&args),
        Command::Stress(args) => stress::run(&args),
        Command::Tidy => tidy::run(),
    };
    print!("{}", steps::summary());
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
