//! Runs a test with many seeds.
//!
//! What a process has only one of makes the simulations in it depend on each other: statics, the
//! lock of the standard output, the hook of panics, the addresses that `malloc` returns. The seeds
//! therefore run in [child processes](crate::child). Each runs the test binary again with the name
//! of the test, so that it comes to the same call of [`check`], which then runs its seeds.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::path::PathBuf;
use std::str::FromStr;

use crate::child::{self, Directory, Failure, Output, Plan, Progress, Report};
use crate::engine::text_of;
use crate::sim::Sim;
use crate::trace::{self, Comparison, Trace};

/// How many of the lines that a failing seed prints the message has.
const LINES: usize = 200;

/// Why two runs of a seed differ.
const NOT_SIMULATED: &str = "The test uses something that is not simulated, such as the real clock \
                             by the instruction rdtsc, a real file, or a thread or a lock of code \
                             outside the simulation.";

/// What the message has in place of dumps.
const NO_DUMPS: &str =
    "\nThere is no dump of its tasks, since a run that keeps dumps ends otherwise.";

/// Runs a test with the seeds from 0 up to a number of them, and panics if one fails.
///
/// The attribute [`test`](macro@crate::test) calls this function, and is easier to use. `build`
/// adds hosts and faults to the simulation and runs it; it may check more after that. A seed fails
/// if `build` panics, or does not run the simulation.
///
/// The seeds run in child processes, as many at a time as the machine has cores. These execute the
/// test binary with the name of the test, which is `test` without the crate: pass
/// `concat!(module_path!(), "::", "name")` where the function `name` is the test. The code of the
/// test before the call runs in each child process, too.
///
/// The message of the panic has:
///
/// - the lowest seed that fails, and why; if its clients do not end, what each task
///   waits for, and the deadlocks;
/// - the command that runs this seed alone;
/// - the last events of each host, and what the test has printed;
/// - instead of the command, if two runs of the seed differ, the first event that does: the test
///   then uses something that is not simulated.
///
/// # Environment
///
/// - `RADDLE_SEED=17` runs that seed only, and does not capture what the test prints;
/// - `RADDLE_SEEDS=10000` replaces the number of seeds;
/// - `RADDLE_RECORDING=file` has the run of `RADDLE_SEED`, or else of a seed that fails, recorded
///   as by [`Sim::record_to`]. Cargo runs a test in the directory of its package;
/// - `RADDLE_TRACES=file` adds a line for each seed that has passed to the file, with a number that
///   depends on all that has happened: sorted, the files of two runs must be the same.
///
/// # Panics
///
/// Panics if a seed fails, if there are no seeds, and if the test binary has no such test.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
///
/// #[test]
/// fn a_client_outlives_a_crash() {
///     let test = concat!(module_path!(), "::a_client_outlives_a_crash");
///     raddle_sim::check(test, 1000, |sim| {
///         sim.host("server", || std::future::pending::<()>());
///         sim.client("client", async {});
///         sim.at(Duration::from_secs(1)).crash("server").for_(Duration::from_secs(5));
///         sim.run();
///     });
/// }
/// ```
#[track_caller]
pub fn check(test: &str, seeds: u64, build: impl Fn(&mut Sim)) {
    if let Err(failure) = try_check(test, seeds, build) {
        panic!("{failure}");
    }
}

/// [`check`], with the message as an error.
///
/// # Errors
///
/// Describes the failure of a seed.
#[doc(hidden)]
#[track_caller]
pub fn try_check(test: &str, seeds: u64, build: impl Fn(&mut Sim)) -> Result<(), String> {
    let location = Location::caller().to_string();
    if let Some(plan) = Plan::of_this_process() {
        if plan.location == location {
            run_seeds(&plan, build);
        }
        // Another call of this test has started the process.
        return Ok(());
    }
    let test = test.split_once("::").map_or(test, |(_crate, name)| name);
    let checked = Checked { test, location };
    if let Some(seed) = variable(child::SEED, "the seed that is to run, such as 17")? {
        return checked.replay(seed);
    }
    let number = variable(child::SEEDS, "the number of seeds, from 1 up")?;
    match number.unwrap_or(seeds).checked_sub(1) {
        Some(last) => checked.run_all(last),
        None => Err("there are no seeds to run; set their number to 1 or more".to_owned()),
    }
}

/// Reads a variable of the environment.
fn variable<T: FromStr>(name: &str, what: &str) -> Result<Option<T>, String> {
    let Some(value) = std::env::var_os(name) else {
        return Ok(None);
    };
    let number = value.to_str().and_then(|value| value.trim().parse().ok());
    let invalid = || format!("{name} is {value:?}, which is no number; set it to {what}");
    number.ok_or_else(invalid).map(Some)
}

/// Runs the seeds of a child process, which then ends.
fn run_seeds(plan: &Plan, build: impl Fn(&mut Sim)) -> ! {
    let status = match try_run_seeds(plan, build) {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            eprintln!("the seeds cannot be run: {error}");
            2
        }
    };
    std::process::exit(status)
}

/// Returns whether all seeds have passed.
fn try_run_seeds(plan: &Plan, build: impl Fn(&mut Sim)) -> io::Result<bool> {
    let files = &plan.files;
    let mut next = Some(plan.first);
    while let Some(seed) = next.filter(|seed| *seed <= plan.last && !files.is_needless(*seed)) {
        files.write_progress(&Progress::Running(seed))?;
        files.clear_output()?;
        let mut sim = Sim::new(seed);
        sim.keeps_trace = plan.keeps_trace;
        // The runs that keep a trace are those of one seed.
        if let (true, Some(file)) = (plan.keeps_trace, child::recording()) {
            sim.record_to(file);
        }
        sim.has_dumps = plan.has_dumps;
        let result = run_seed(&mut sim, &build);
        if plan.keeps_trace {
            files.write_trace(&sim)?;
        }
        if let Err(message) = result {
            files.write_progress(&match sim.is_stuck {
                true => Progress::Stuck(seed, &message),
                false => Progress::Failed(seed, &message),
            })?;
            return Ok(false);
        }
        if let Some(trace) = &sim.trace {
            child::add_trace(format!("{} {seed} {trace:?}\n", plan.location))?;
        }
        next = seed.checked_add(plan.step);
        if let (Some(first), true) = (next, sim.has_left_threads) {
            // They do not serve the next simulation.
            let plan = Plan {
                first,
                ..plan.clone()
            };
            return Err(plan.start_again());
        }
    }
    files.write_progress(&Progress::Passed)?;
    Ok(true)
}

/// Runs one seed in this process.
fn run_seed(sim: &mut Sim, build: impl Fn(&mut Sim)) -> Result<(), String> {
    sim.is_checked = true;
    let built = catch_unwind(AssertUnwindSafe(|| build(sim)));
    built.map_err(|payload| text_of(&*payload))?;
    match sim.trace {
        Some(_) => Ok(()),
        None => Err("the test has not run its simulation; end it with sim.run()".to_owned()),
    }
}

/// A test whose seeds run in child processes.
struct Checked<'a> {
    /// Its name in the test binary.
    test: &'a str,
    location: String,
}

impl Checked<'_> {
    fn plan(&self, directory: &Directory, number: u32, first: u64) -> Plan {
        Plan {
            first,
            step: 1,
            last: first,
            keeps_trace: true,
            has_dumps: false,
            location: self.location.clone(),
            files: directory.files(number),
        }
    }

    /// Runs a child process, and returns the failure of its seed.
    fn run(&self, plan: &Plan, output: Output) -> Result<Option<Failure>, String> {
        match plan.run(self.test, output).map_err(no_process)? {
            Report::Passed => Ok(None),
            Report::Failed(failure) => Ok(Some(failure)),
            Report::NotRun { status, output } => {
                let test = self.test;
                let mut text = format!(
                    "no process for the seeds of {test:?} has run a simulation: the test binary \
                     with the arguments {test} --exact ended ({status}). Use the standard test \
                     harness, and pass raddle_sim::check the path of the test function that calls \
                     it, which is concat!(module_path!(), \"::\", \"name\")"
                );
                add_output(&mut text, &output);
                Err(text)
            }
        }
    }

    /// Runs the seeds from 0 to the last.
    fn run_all(&self, last: u64) -> Result<(), String> {
        let directory = Directory::create().map_err(no_process)?;
        let step = child::cores().min(last.saturating_add(1));
        let plan_of = |first: u64| Plan {
            step,
            last,
            keeps_trace: false,
            ..self.plan(&directory, first as u32, first)
        };
        let results: Vec<_> = std::thread::scope(|scope| {
            let plans = (0..step).map(plan_of);
            let run = |plan: Plan| scope.spawn(move || self.run(&plan, Output::Captured));
            let threads: Vec<_> = plans.map(run).collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| thread.join();
            threads.into_iter().map(join).collect()
        });
        let mut lowest: Option<Failure> = None;
        for result in results {
            let result = result.unwrap_or_else(|payload| Err(text_of(&*payload)));
            if let Some(failure) = result? {
                if lowest
                    .as_ref()
                    .is_none_or(|lowest| failure.seed < lowest.seed)
                {
                    lowest = Some(failure);
                }
            }
        }
        match lowest {
            None => Ok(()),
            Some(failure) => Err(self.explain(failure, step)?),
        }
    }

    /// Runs one seed, and does not capture what it prints.
    fn replay(&self, seed: u64) -> Result<(), String> {
        let directory = Directory::create().map_err(no_process)?;
        let plan = self.plan(&directory, 0, seed);
        let Some(mut failure) = self.run(&plan, Output::Inherited)? else {
            return Ok(());
        };
        let comparison = compare_traces(&plan, &plan)?;
        self.add_dumps(&mut failure)?;
        let mut text = describe(&failure);
        text += &child::recording().map_or_else(record, show);
        add_events(&mut text, &comparison);
        Err(text)
    }

    /// Runs a failing seed twice more to see whether it fails the same way, and describes it.
    fn explain(&self, first: Failure, step: u64) -> Result<String, String> {
        // Another directory, since the failure is known to all runs of the first.
        let run = || {
            let directory = Directory::create().map_err(no_process)?;
            let plan = self.plan(&directory, 0, first.seed);
            let failure = self.run(&plan, Output::Captured)?;
            Ok::<_, String>((directory, plan, failure))
        };
        let (_one_directory, one_plan, one) = run()?;
        let (_other_directory, other_plan, other) = run()?;
        let comparison = compare_traces(&one_plan, &other_plan)?;

        let messages = [&one, &other].map(|failure| failure.as_ref().map(|it| &it.message));
        let is_same = messages[0] == messages[1];
        let differ_in_end = || (!is_same).then(|| differ_in(messages));
        let difference = comparison.difference.clone().or_else(differ_in_end);
        let advice = match (difference, &one) {
            (Some(difference), _) => {
                format!("Two runs of the seed differ: {difference}.\n{NOT_SIMULATED}")
            }
            (None, Some(_)) => {
                let recording = child::recording().map_or_else(record, show);
                format!("To replay it:\n  {}{recording}", self.command(first.seed))
            }
            (None, None) => passes_alone(first.seed, step),
        };
        let mut failure = one.or(other).unwrap_or(first);
        self.add_dumps(&mut failure)?;
        let mut text = describe(&failure) + "\n" + &advice;
        add_events(&mut text, &comparison);
        add_output(&mut text, &failure.output);
        Ok(text)
    }

    /// Runs a seed whose clients do not end once more, and adds the dumps of the tasks to its
    /// message. No other run keeps them, since they would make it slower.
    fn add_dumps(&self, failure: &mut Failure) -> Result<(), String> {
        if failure.is_stuck {
            let directory = Directory::create().map_err(no_process)?;
            let plan = Plan {
                keeps_trace: false,
                has_dumps: true,
                ..self.plan(&directory, 0, failure.seed)
            };
            match self.run(&plan, Output::Captured)? {
                Some(dumped) if dumped.message.starts_with(&failure.message) => {
                    failure.message = dumped.message;
                }
                _ => failure.message += NO_DUMPS,
            }
        }
        Ok(())
    }

    /// The command that runs one seed, without what is not known.
    fn command(&self, seed: u64) -> String {
        let mut command = format!("{}={seed} cargo test", child::SEED);
        if let Ok(package) = std::env::var("CARGO_PKG_NAME") {
            command += &format!(" -p {package}");
        }
        if let Some(target) = target() {
            command += &format!(" --test {target}");
        }
        command + &format!(" {} -- --exact --nocapture", self.test)
    }
}

/// Says how to record a run that can be repeated.
fn record() -> String {
    format!(
        "\nTo record it for https://ui.perfetto.dev, add {}=file.",
        child::RECORDING
    )
}

/// Says how to look at a recording.
fn show(file: PathBuf) -> String {
    let file = std::path::absolute(&file).unwrap_or(file);
    let file = file.display();
    format!(
        "\nIt is recorded. For https://ui.perfetto.dev:\n  raddle-recording perfetto {file} > \
         trace.perfetto"
    )
}

/// The name of this process's integration test. `None`: it is not known to be one.
fn target() -> Option<String> {
    let program = std::env::current_exe().ok()?;
    // Cargo appends a hash, and replaces each `-`.
    let (name, _hash) = program.file_stem()?.to_str()?.rsplit_once('-')?;
    let tests = std::env::var_os("CARGO_MANIFEST_DIR")?;
    let tests = std::path::Path::new(&tests).join("tests");
    tests.read_dir().ok()?.find_map(|entry| {
        let path = entry.ok()?.path();
        let is_target = match path.is_dir() {
            true => path.join("main.rs").exists(),
            false => path.extension().is_some_and(|extension| extension == "rs"),
        };
        let target = path.file_stem()?.to_str()?;
        (is_target && target.replace('-', "_") == name).then(|| target.to_owned())
    })
}

fn no_process(error: io::Error) -> String {
    format!("the simulation cannot run in a process of its own: {error}")
}

fn describe(failure: &Failure) -> String {
    format!("seed {} fails: {}", failure.seed, failure.message)
}

/// Says what a seed that passes in a process of its own has failed by. Its process ran each seed of
/// this step before.
fn passes_alone(seed: u64, step: u64) -> String {
    let Some(last) = seed.checked_sub(step) else {
        return format!("It passes when it runs again.\n{NOT_SIMULATED}");
    };
    let earlier = (0..3).map_while(|n| last.checked_sub(n * step));
    let mut earlier: Vec<_> = earlier.map(|seed| seed.to_string()).collect();
    if last >= 3 * step {
        earlier.push("...".to_owned());
    }
    earlier.reverse();
    format!(
        "It passes in a process of its own: the failure needs what the earlier seeds {} have left \
         in the process, such as the value of a static.",
        earlier.join(", ")
    )
}

/// Describes how the ends of two runs with the same events differ.
fn differ_in(messages: [Option<&String>; 2]) -> String {
    let [one, other] = messages.map(|message| match message {
        Some(message) => format!("fails: {message}"),
        None => "passes".to_owned(),
    });
    format!("their events are the same, but one {one}\nand the other {other}")
}

fn compare_traces(one: &Plan, other: &Plan) -> Result<Comparison, String> {
    let open = |plan: &Plan| match File::open(plan.files.trace()) {
        Ok(file) => Ok(Some(BufReader::new(file))),
        // The process has ended before.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    let compared = open(one).and_then(|one| Ok((one, open(other)?)));
    let compared = compared.and_then(|files| match files {
        (Some(one), Some(other)) => trace::compare_written(one, other),
        (Some(one), None) | (None, Some(one)) => trace::compare_written(one, io::empty()),
        (None, None) => Ok(Comparison::default()),
    });
    compared.map_err(|error| format!("the traces of two runs cannot be read: {error}"))
}

fn add_events(text: &mut String, comparison: &Comparison) {
    if comparison.last_events.is_empty() {
        return;
    }
    *text += "\nThe last events of each host";
    if let Some(end) = comparison.end {
        *text += &format!(" before the end at {end:?} of virtual time");
    }
    *text += ":";
    for (host, events) in &comparison.last_events {
        *text += &format!("\n  {host}");
        for event in events {
            *text += &format!("\n    {event}");
        }
    }
}

/// Adds the last lines of what was printed.
fn add_output(text: &mut String, output: &str) {
    let count = output.lines().count();
    let left_out = count.saturating_sub(LINES);
    let _never_fails = match (count, left_out) {
        (0, _) => return,
        (_, 0) => write!(text, "\nIt printed:"),
        _ => write!(text, "\nIt printed (the last {LINES} of {count} lines):"),
    };
    for line in output.lines().skip(left_out) {
        *text += &format!("\n  {line}");
    }
}

/// Runs each seed twice in this process, the second time with dumps of tasks, and compares the
/// traces.
///
/// # Errors
///
/// Describes the failure of a seed, or the first difference of its two runs.
#[doc(hidden)]
pub fn compare(seeds: u64, build: impl Fn(&mut Sim)) -> Result<(), String> {
    for seed in 0..seeds {
        let run = |has_dumps| {
            let mut sim = Sim::new(seed);
            sim.keeps_trace = true;
            sim.has_dumps = has_dumps;
            let result = run_seed(&mut sim, &build);
            (result, sim)
        };
        let ((one, one_sim), (other, other_sim)) = (run(false), run(true));
        if one != other && !one_sim.is_stuck {
            return Err(format!(
                "two runs of seed {seed} end as {one:?} and as {other:?}"
            ));
        }
        one.map_err(|message| format!("seed {seed} fails: {message}"))?;
        let difference = |one: &Trace| one.difference(other_sim.trace.as_ref()?, &one_sim.names);
        if let Some(difference) = one_sim.trace.as_ref().and_then(difference) {
            return Err(format!("two runs of seed {seed} differ: {difference}"));
        }
    }
    Ok(())
}
