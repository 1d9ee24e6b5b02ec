//! Whether the example server of `raddle-hyper` serves, built for a foreign target: asked by curl,
//! a program of this machine.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::apt;
use crate::steps::line_of;

/// Seconds that curl waits for an answer.
const LIMIT: &str = "60";

/// Ends the server when dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the server `program`, by `runner` if that is given, and asks for the page, for an echo,
/// and for a page that does not exist.
///
/// # Errors
///
/// Returns an error if curl cannot be installed, the server does not start, or an answer is wrong.
pub(super) fn serves(
    program: &Path,
    runner: Option<&OsString>,
    variables: &[(String, OsString)],
) -> Result<()> {
    apt::install(&["curl"])?;
    let mut command = match runner {
        Some(runner) => Command::new(runner),
        None => Command::new(program),
    };
    if runner.is_some() {
        command.arg(program);
    }
    command.args(["--addr", "127.0.0.1:0", "--workers", "2"]);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    let shown = line_of(&command);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let child = child.with_context(|| format!("cannot start {shown}"))?;
    let mut server = Server(child);
    let stdout = server.0.stdout.take().context("no standard output")?;
    // Kept open to the end, as a terminal is.
    let mut stdout = BufReader::new(stdout);
    let mut line = String::new();
    stdout.read_line(&mut line)?;
    let address = line.trim().strip_prefix("listening on ");
    let address = address.with_context(|| format!("no address in {line:?} of {shown}"))?;
    let page = format!("{address}/");
    let missing = format!("{address}/missing");
    let echo = format!("{address}/echo");
    let expected: [(&[&str], &str); 3] = [
        (&[&page], "served by hyper on Raddle"),
        (&["--data-binary", "hello", &echo], "hello"),
        (&["--write-out", "%{http_code}", &missing], "404"),
    ];
    for (arguments, expected) in expected {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--show-error", "--max-time", LIMIT]);
        let output = curl.args(arguments).output().context("cannot start curl")?;
        let answer = String::from_utf8_lossy(&output.stdout);
        ensure!(
            output.status.success() && answer.contains(expected),
            "{}: no {expected:?} in the answer:\n{answer}{}",
            line_of(&curl),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}
