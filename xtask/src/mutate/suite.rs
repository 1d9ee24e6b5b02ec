//! Running one suite of tests or models, with a mutant switched on.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

/// The address space that a suite may have, in KiB: a mutant may allocate
/// without end.
const ADDRESS_SPACE: u64 = 6 << 20;

/// A program of tests or models.
#[derive(Clone, Debug)]
pub(super) struct Suite {
    pub(super) package: String,
    pub(super) name: String,
    /// The directory of the package.
    pub(super) dir: PathBuf,
    pub(super) program: PathBuf,
    /// What it takes when no mutant is on.
    pub(super) usual: Cost,
    /// The numbers of the mutants that it reaches.
    pub(super) reached: BTreeSet<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Tests,
    Models,
}

/// One round of suites, and how far models are explored in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Tests,
    /// Models with one involuntary switch.
    Shallow,
    /// Models as each bounds itself.
    Full,
}

impl Stage {
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Tests => Kind::Tests,
            Self::Shallow | Self::Full => Kind::Models,
        }
    }

    /// How long a suite may take that usually takes `usual`.
    fn limit(self, usual: Cost) -> Limit {
        let more = |seconds| Duration::from_secs(seconds);
        let of = |idle, processor, wall| Limit {
            idle: usual.wall * 3 + more(idle),
            processor: usual.processor * 4 + more(processor),
            wall: usual.wall * 10 + more(wall),
        };
        match self {
            Self::Tests => of(5, 2, 300),
            Self::Shallow => of(20, 60, 300),
            Self::Full => of(20, 1800, 3600),
        }
    }
}

/// What a run has cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) wall: Duration,
    pub(super) processor: Duration,
}

/// When a run is over. Where others use the processors too, a run that makes
/// progress takes longer than usual; one that hangs uses no processor.
///
/// Times are those of a [`Stopwatch`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    /// Without a word, and without a tick of a processor.
    idle: Duration,
    processor: Duration,
    wall: Duration,
}

/// How long [`follow`] waits for the next word before it looks at the limits.
const INTERVAL: Duration = Duration::from_millis(250);

/// The time that passes while a suite is followed. Between two looks at most two
/// intervals pass: if it was longer, this process was stopped or did not get a
/// processor, and most likely its suite did not either.
struct Stopwatch {
    last: Instant,
    elapsed: Duration,
}

impl Stopwatch {
    fn start(now: Instant) -> Self {
        Self {
            last: now,
            elapsed: Duration::ZERO,
        }
    }

    /// The time since the start.
    fn look(&mut self, now: Instant) -> Duration {
        self.elapsed += now.duration_since(self.last).min(2 * INTERVAL);
        self.last = now;
        self.elapsed
    }
}

/// How a suite took a mutant.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    AllPassed,
    /// The name of the first that failed.
    Failed(String),
    /// The name of the one that did not come to an end.
    TimedOut(String),
}

impl Suite {
    /// Runs it with a mutant on until a test or model fails; models one after the
    /// other, and without the canaries, which fail of their own. What it reaches is
    /// added to the map: see [`refresh`](Self::refresh).
    pub(super) fn run(&self, stage: Stage, mutant: usize) -> Result<Outcome> {
        let mut command = self.command(stage);
        command.env("RADDLE_MUTANT", mutant.to_string());
        let map = self.map();
        if map.exists() {
            command.env("RADDLE_MUTANTS_REACHED", map);
        }
        Ok(execute(&mut command, stage.limit(self.usual))?.0)
    }

    /// Runs it with no mutant on: it must pass. Learns what that costs, and which
    /// mutants it reaches. An earlier run of the same program is good enough.
    pub(super) fn try_out(&mut self, stage: Stage) -> Result<()> {
        let map = self.map();
        let cost = self.program.with_extension("cost");
        let age = |path: &Path| fs::metadata(path).and_then(|data| data.modified());
        if age(&cost).ok() < age(&self.program).ok() {
            fs::write(&map, [])?;
            let mut command = self.command(stage);
            command.env("RADDLE_MUTANTS_REACHED", &map);
            let (outcome, spent) = execute(&mut command, Stage::Full.limit(Cost::default()))?;
            ensure!(
                outcome == Outcome::AllPassed,
                "{} {} fails without a mutant: {outcome:?}",
                self.package,
                self.name
            );
            let millis = |time: Duration| time.as_millis();
            fs::write(
                &cost,
                format!("{} {}", millis(spent.wall), millis(spent.processor)),
            )?;
        }
        let text = fs::read_to_string(&cost)?;
        let mut times = text
            .split(' ')
            .map(|word| word.parse().map(Duration::from_millis));
        let mut time = || times.next().context("half of a cost")?.context("no number");
        self.usual = Cost {
            wall: time()?,
            processor: time()?,
        };
        self.refresh()?;
        Ok(())
    }

    /// Reads again which mutants the suite reaches, and returns those that are new.
    /// A suite with threads does not reach all of them in each run, and models reach
    /// more the further they are explored.
    pub(super) fn refresh(&mut self) -> Result<BTreeSet<usize>> {
        let map = fs::read(self.map())?;
        let reached = (0..map.len()).filter(|&mutant| map[mutant] == 1).collect();
        let former = std::mem::replace(&mut self.reached, reached);
        Ok(self.reached.difference(&former).copied().collect())
    }

    /// The file with a byte for each mutant: 1 if the suite has reached it.
    fn map(&self) -> PathBuf {
        self.program.with_extension("reached")
    }

    fn command(&self, stage: Stage) -> Command {
        let mut command = Command::new("sh");
        let limited = format!("ulimit -v {ADDRESS_SPACE}; exec \"$0\" \"$@\"");
        command.args(["-c", &limited]).arg(&self.program);
        if stage.kind() == Kind::Models {
            command.args(["--skip", "canary", "--test-threads", "1"]);
        }
        match stage {
            Stage::Shallow => command.env("LOOM_MAX_PREEMPTIONS", "1"),
            Stage::Tests | Stage::Full => command.env_remove("LOOM_MAX_PREEMPTIONS"),
        };
        command
            // As under cargo.
            .current_dir(&self.dir)
            .env_remove("RADDLE_LOOM_LONG")
            .env_remove("RADDLE_LOOM_COMPLETE");
        command
    }
}

/// Runs a program of tests until it is clear what comes of it.
fn execute(command: &mut Command, limit: Limit) -> Result<(Outcome, Cost)> {
    let start = Instant::now();
    let mut child = command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start the tests")?;
    let stdout = child.stdout.take().context("a child without output")?;
    let words = words_of(stdout);
    let (outcome, processor) = follow(&words, child.id(), limit);
    let wall = start.elapsed();
    end(&mut child)?;
    Ok((outcome, Cost { wall, processor }))
}

/// Each word that a child prints, as soon as it is there: a model that does not
/// return, or that ends the process, leaves its line unfinished.
fn words_of(stdout: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, words) = mpsc::channel();
    thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        let mut word = Vec::new();
        while let Ok(1..) = stdout.read_until(b' ', &mut word) {
            let text = String::from_utf8_lossy(&word).into_owned();
            word.clear();
            for part in text.split_inclusive('\n') {
                if sender.send(part.to_owned()).is_err() {
                    // Nobody listens any more; the child must not block.
                    let _ = stdout.read_to_end(&mut Vec::new());
                    return;
                }
            }
        }
    });
    words
}

/// Reads the verdicts of a suite: `test NAME ... ok`, one line each.
fn follow(words: &Receiver<String>, process: u32, limit: Limit) -> (Outcome, Duration) {
    let mut stopwatch = Stopwatch::start(Instant::now());
    let mut name = String::from("no model");
    // The words of the present line; what a model prints is none of a verdict.
    let mut line: Vec<String> = Vec::new();
    let mut progress = Duration::ZERO;
    let mut processor = Duration::ZERO;
    let outcome = loop {
        let word = words.recv_timeout(INTERVAL);
        let elapsed = stopwatch.look(Instant::now());
        match word {
            Ok(word) => {
                progress = elapsed;
                line.push(word.trim_end().to_owned());
                let so_far: Vec<_> = line.iter().map(String::as_str).collect();
                match so_far[..] {
                    ["test", "result:"] => break Outcome::AllPassed,
                    ["test", .., "FAILED"] => break Outcome::Failed(name),
                    ["test", started] => started.clone_into(&mut name),
                    _ => {}
                }
                if word.ends_with('\n') {
                    line.clear();
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            // The process has ended without a verdict: a panic while another
            // unwound, or a fault.
            Err(RecvTimeoutError::Disconnected) => break Outcome::Failed(name),
        }
        let used = processor_time(process).unwrap_or(processor);
        if used > processor {
            processor = used;
            progress = elapsed;
        }
        let is_over =
            elapsed - progress > limit.idle || processor > limit.processor || elapsed > limit.wall;
        if is_over {
            break Outcome::TimedOut(name);
        }
    };
    (outcome, processor_time(process).unwrap_or(processor))
}

/// What a process has used of the processors, where the system says so.
fn processor_time(process: u32) -> Option<Duration> {
    /// Of a tick, on every platform of Linux that has processes of users.
    const MILLISECONDS: u64 = 10;
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields = text.rsplit_once(')')?.1.split_whitespace();
    let ticks: Result<Vec<u64>, _> = fields.skip(11).take(2).map(str::parse).collect();
    Some(Duration::from_millis(
        ticks.ok()?.iter().sum::<u64>() * MILLISECONDS,
    ))
}

/// Ends a child and what it has started.
fn end(child: &mut Child) -> Result<()> {
    // They may have ended by themselves.
    let _ = Command::new("kill")
        .args(["-9", "--", &format!("-{}", child.id())])
        .stderr(Stdio::null())
        .status();
    child.wait()?;
    Ok(())
}

#[cfg(test)]
mod tests;
