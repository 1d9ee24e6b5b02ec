//! Measures raddle-sim, turmoil and madsim, each in a program of its own, in turn, round by round.
#![forbid(unsafe_code)]

use std::io::{Error, Result};
use std::path::PathBuf;
use std::process::Command;

use clap::Parser;
use raddle_benches::record::{Case, Figure, Section};
use raddle_benches::sheet::{Options, Sheet};

/// In the order in which a case has their arguments.
const NAMES: [&str; 3] = ["raddle", "madsim", "turmoil"];

/// The title, the figure, and the arguments of each program. They differ where the work of one
/// would take another one too long; a case without arguments for the last programs omits them.
type Load = (&'static str, Figure, &'static [&'static str]);

const LOADS: [Load; 4] = [
    (
        "messages between two hosts",
        Figure::more("messages", "/s"),
        &[
            "messages 1 300000",
            "messages 1 300000",
            "messages 1 100000",
        ],
    ),
    (
        "messages between 100 pairs of hosts",
        Figure::more("messages", "/s"),
        &["messages 100 5000", "messages 100 5000", "messages 100 40"],
    ),
    (
        "an hour with a sleep each minute",
        Figure::less("time", "ms"),
        &["minutes 60", "minutes 60", "minutes 60"],
    ),
    (
        "a day with a sleep each minute",
        Figure::less("time", "ms"),
        &["minutes 1440", "minutes 1440"],
    ),
];

#[derive(Parser)]
#[command(about = "Runs the same loads on raddle-sim, turmoil and madsim in turn")]
struct Args {
    /// The program on raddle-sim
    #[arg(long, value_name = "FILE")]
    #[arg(default_value = "target/release/examples/message_rate")]
    raddle: PathBuf,

    /// The program on turmoil
    #[arg(long, value_name = "FILE")]
    #[arg(default_value = "target/simulators/release/turmoil")]
    turmoil: PathBuf,

    /// The program on madsim
    #[arg(long, value_name = "FILE")]
    #[arg(default_value = "target/simulators/release/madsim")]
    madsim: PathBuf,

    #[command(flatten)]
    options: Options,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let programs = [&args.raddle, &args.madsim, &args.turmoil];
    let mut sheet = Sheet::new(Section::Simulation, &args.options);
    for (title, figure, lines) in LOADS {
        let names = &NAMES[..lines.len()];
        sheet.measure(&Case::new(title), &[figure], names, |index| {
            let mut command = Command::new(programs[index]);
            figure_of(command.args(lines[index].split(' '))).map(|figure| [figure])
        });
    }
    sheet.finish()
}

/// Runs a program, and returns the number that it prints first.
fn figure_of(command: &mut Command) -> Result<f64> {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let number = text.split_whitespace().next().map(str::parse);
    match number {
        Some(Ok(number)) if output.status.success() => Ok(number),
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr);
            Err(Error::other(format!("{}: {errors}", output.status)))
        }
    }
}
