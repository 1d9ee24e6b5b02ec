//! Building the suites of models, and running their tests.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use rayon::prelude::*;

use super::Bound;
use super::canary::{self, Canary};
use super::report::{Output, Report, area};
use crate::programs::{self, Program};
use crate::steps::{self, cargo};
use crate::workspace::{self, Package};

/// One program of models.
pub(super) struct Suite {
    package: String,
    program: Program,
    tests: Vec<String>,
    canaries: Vec<Canary>,
}

/// The command that builds all suites of the packages.
pub(crate) fn build_command(root: &Path, packages: &[Package]) -> Command {
    let mut build = cargo(root, &["test", "--release", "--no-run", "--test", "loom_*"]);
    for package in packages {
        if !package.suites.is_empty() {
            build.args(["-p", &package.spec]);
        }
    }
    steps::set_cfg(&mut build, "raddle_loom");
    // Its flags must not rebuild what is built without them.
    build.env("CARGO_TARGET_DIR", workspace::target(root).join("loom"));
    build
}

/// Builds the suites, and finds their tests and canaries.
pub(super) fn build(root: &Path, packages: &[Package], build: &mut Command) -> Result<Vec<Suite>> {
    let built = programs::build(build)?;
    let mut found = Vec::new();
    for package in packages {
        let dir = root.join(&package.dir);
        for name in &package.suites {
            let program = built
                .iter()
                .find(|program| program.dir == dir && program.target == *name)
                .with_context(|| format!("{} {name} was not built", package.name))?;
            let source = fs::read_to_string(dir.join("tests").join(format!("{name}.rs")))?;
            let canaries = canary::of_suite(&source)
                .with_context(|| format!("suite {name} of {}", package.name))?;
            let tests = programs::tests(&program.executable)?;
            for Canary { name, .. } in &canaries {
                ensure!(tests.contains(name), "{name} is not among the tests");
            }
            found.push(Suite {
                package: package.name.clone(),
                program: program.clone(),
                tests,
                canaries,
            });
        }
    }
    Ok(found)
}

/// Runs all tests of the suites, until one fails.
pub(super) fn run(suites: &[Suite], bound: Bound, report: &mut Report) -> Result<()> {
    let tests: Vec<_> = suites
        .iter()
        .flat_map(|suite| suite.tests.iter().map(move |test| (suite, test)))
        .collect();
    let each = tests.par_iter().with_max_len(1);
    let run = |(suite, test): &(&Suite, &String)| suite.run(test, bound);
    let outputs = each.map(run).collect::<Result<Vec<_>>>()?;
    for ((suite, _), output) in tests.iter().zip(&outputs) {
        let target = &suite.program.target;
        report.add(area(&suite.package, target), target, output);
    }
    Ok(())
}

impl Suite {
    /// Runs one test; a canary again with a single execution of each model.
    fn run(&self, test: &str, bound: Bound) -> Result<Output> {
        let label = format!("{} {}", self.package, self.program.target);
        let mut output = Output::default();
        let mut command = self.command(test);
        match bound {
            Bound::Own => &mut command,
            Bound::Long => command.env("RADDLE_LOOM_LONG", "1"),
            Bound::Preemptions(bound) => command.env("LOOM_MAX_PREEMPTIONS", bound.to_string()),
            Bound::Complete => command.env("RADDLE_LOOM_COMPLETE", "1"),
        };
        let result = steps::filter(&mut command, |line| output.read(&label, line));
        let canary = self.canaries.iter().find(|canary| canary.name == test);
        let result = result.and_then(|()| match canary {
            Some(canary) => canary.check_models(output.lines()),
            None => Ok(()),
        });
        result
            .inspect_err(|_| output.print())
            .with_context(|| format!("{label} {test}"))?;
        if let Some(canary) = canary {
            let mut once = self.command(test);
            once.env("RADDLE_LOOM_ONCE", "1").stderr(Stdio::null());
            let mut lines = Vec::new();
            // It fails if the canary does not panic, as it should not.
            let _ = steps::filter(&mut once, |line| lines.push(line.to_owned()));
            canary.check_single(&lines).context(label)?;
        }
        Ok(output)
    }

    fn command(&self, test: &str) -> Command {
        let mut command = Command::new(&self.program.executable);
        command.current_dir(&self.program.dir);
        // With two threads the test has one to itself, by whose name the model calls itself.
        command.args([test, "--exact", "--show-output", "--test-threads", "2"]);
        command
            .env_remove("LOOM_MAX_PREEMPTIONS")
            .env_remove("RADDLE_LOOM_LONG")
            .env_remove("RADDLE_LOOM_COMPLETE")
            .env_remove("RADDLE_LOOM_ONCE");
        command
    }
}
