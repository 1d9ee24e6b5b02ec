//! The project's own commands: `cargo xtask`.
//!
//! What is checked before a commit, how benchmarks are run and the layout rules
//! live here and nowhere else; CI only calls it.
#![forbid(unsafe_code)]

mod api;
mod bench;
mod ci;
mod conformance;
mod counting;
mod differential;
mod ecosystem;
mod features;
mod fuzz;
mod loom;
mod mutate;
mod nightly;
mod sanitize;
mod steps;
mod stress;
mod targets;
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
    /// Everything a contributor needs before a commit; what CI runs
    Test,
    /// The loom models, of one crate or of all
    Loom(loom::Args),
    /// Whether the models see each ordering, fence and check that is taken away, and the tests
    /// each change of the logic
    Mutate(mutate::Args),
    /// The benchmarks on Raddle and other runtimes: criterion, then side by side
    Bench(bench::Args),
    /// The integration tests of Tokio and its companions, on the stand-in
    Conformance(conformance::Args),
    /// Crates of the ecosystem on the stand-in: all compile, and real servers and clients talk
    Ecosystem(ecosystem::Args),
    /// What CI does, on a fresh clone of HEAD that is removed afterwards
    Ci,
    /// Storms of everything, for a while, in which no task may be lost, doubled or leaked
    Stress(stress::Args),
    /// All tests and the stress under ThreadSanitizer, AddressSanitizer and LeakSanitizer, with a
    /// nightly compiler
    Sanitize(sanitize::Args),
    /// The layers without system calls under Miri, where that is installed
    Miri,
    /// The machines of the property tests under a fuzzer, with a nightly compiler
    Fuzz(fuzz::Args),
    /// Whether every public item of Tokio is here, and every type and future compared with Tokio's
    Api,
    /// Random programs on Raddle and on Tokio, with the same results and the same wake-ups
    Differential(differential::Args),
    /// Check layout, dependency direction, comments, examples and the width of prose
    Tidy,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Api => api::run(),
        Command::Test => test::run(),
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
        Command::Stress(args) => stress::run(&args),
        Command::Tidy => tidy::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
