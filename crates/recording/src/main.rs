//! `raddle-recording`: reports on a flight recording, and exports it.

#![forbid(unsafe_code)]

use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::path::Path;
use std::process::ExitCode;

use raddle_recording::Recording;
use raddle_recording::analysis::AnalysisReport;
use raddle_recording::export::{folded_stacks, perfetto_trace};

const USAGE: &str = "\
usage: raddle-recording COMMAND FILE

  report    longest polls, scheduling delays, idle workers, blocking jobs, kernel delays
  perfetto  a trace for https://ui.perfetto.dev
  folded    folded stacks of poll times, for flame graphs

The result goes to the standard output.
";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [command, file] = &arguments[..] else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    let convert = match command.to_str() {
        Some("report") => |recording: &_| AnalysisReport::of(recording).to_string().into_bytes(),
        Some("perfetto") => perfetto_trace,
        Some("folded") => |recording: &_| folded_stacks(recording).into_bytes(),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let path = Path::new(file);
    match run(path, convert) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}

fn run(path: &Path, convert: fn(&Recording) -> Vec<u8>) -> Result<(), Box<dyn Error>> {
    let recording = Recording::read_from(BufReader::new(File::open(path)?))?;
    match io::stdout().lock().write_all(&convert(&recording)) {
        // A pipe may be closed early, for example by `head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}
