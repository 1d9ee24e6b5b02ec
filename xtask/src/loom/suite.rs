//! Builds the models, and runs their tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context as _, Result, anyhow, ensure};
use rayon::prelude::*;

use super::Bound;
use super::canary::{self, Canary};
use super::report::Report;
use crate::programs::{self, Program};
use crate::steps::{self, cargo_in};
use crate::workspace::{self, MODELS, Package};

/// The models of one module of a program.
pub(super) struct Suite {
    package: String,
    module: String,
    program: Program,
    /// With the module: `slot::two_pushes`.
    tests: Vec<String>,
    canaries: Vec<Canary>,
}

/// Makes the command that builds the models of the packages.
pub(crate) fn build_command(root: &Path, packages: &[Package]) -> Command {
    let mut build = cargo_in(root, format!("test --release --no-run --test {MODELS}"));
    for package in packages {
        if package.has_models {
            build.args(["-p", &package.spec]);
        }
    }
    // Only models bring loom.
    build.args(["--features", "raddle-primitives/loom"]);
    steps::set_cfg(&mut build, "raddle_loom");
    // A third of the time of this build. The panics of models name their lines without it.
    build.env("CARGO_PROFILE_RELEASE_DEBUG", "false");
    // Its flags must not cause a rebuild of what other commands build.
    build.env("CARGO_TARGET_DIR", workspace::target().join("loom"));
    build
}

/// Builds the models, and finds their tests and canaries.
pub(super) fn build(packages: &[Package], build: &mut Command) -> Result<Vec<Suite>> {
    let built = programs::build(build)?;
    let mut found = Vec::new();
    for package in packages.iter().filter(|it| it.has_models) {
        let name = &package.name;
        let dir = workspace::root().join(&package.dir);
        let program = built.iter().find(|it| it.dir == dir);
        let program = program.with_context(|| format!("the models of {name} were not built"))?;
        let mut modules = BTreeMap::<String, Vec<String>>::new();
        for test in programs::tests(&program.executable)? {
            // Without modules, the program is the file `tests/models.rs`.
            let module = test.split_once("::").map_or("", |(module, _)| module);
            modules.entry(module.to_owned()).or_default().push(test);
        }
        for (module, tests) in modules {
            let mut source = dir.join("tests").join(MODELS).join(&module);
            source.set_extension("rs");
            let place = source.display().to_string();
            let text = fs::read_to_string(&source).with_context(|| place.clone())?;
            let canaries = canary::of_suite(&module, &text).context(place)?;
            for Canary { name, .. } in &canaries {
                ensure!(tests.contains(name), "{name} is not among the tests");
            }
            found.push(Suite {
                package: name.clone(),
                module,
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
        report.add(&suite.package, &suite.module, output);
    }
    Ok(())
}

impl Suite {
    /// Runs one test, and returns its output. A canary has its own bound at least, and runs again
    /// with a single execution of each model.
    fn run(&self, test: &str, bound: Bound) -> Result<String> {
        let label = &self.package;
        let canary = self.canaries.iter().find(|canary| canary.name == test);
        let bound = match (canary, bound) {
            // A smaller bound may miss what it plants.
            (Some(_), Bound::Preemptions(_)) => Bound::Own,
            _ => bound,
        };
        let (output, status) = output(self.command(test, bound).stderr(Stdio::inherit()))?;
        let is_verdict = |line: &&str| line.starts_with("test ") && !line.starts_with("test res");
        for line in output.lines().filter(is_verdict) {
            println!("{label}: {line}");
        }
        let result = match canary {
            _ if !status.success() => Err(anyhow!("{status}")),
            Some(canary) => canary.check_models(&output),
            None => Ok(()),
        };
        result
            .inspect_err(|_| println!("{output}"))
            .with_context(|| format!("{label} {test}"))?;
        if let Some(canary) = canary {
            // The run fails if the canary does not panic, which is expected here.
            let (output, _) = self::output(&mut self.command(test, Bound::Once))?;
            canary.check_single(&output).context(label.clone())?;
        }
        Ok(output)
    }

    fn command(&self, test: &str, bound: Bound) -> Command {
        let mut command = Command::new(&self.program.executable);
        command.current_dir(&self.program.dir);
        // With two test threads the test has its own thread, whose name the model prints.
        command.args([test, "--exact", "--show-output", "--test-threads", "2"]);
        bound.set(&mut command);
        command
    }
}

/// Runs a test, and returns its standard output.
fn output(command: &mut Command) -> Result<(String, ExitStatus)> {
    let output = command.output().context("cannot start a suite")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok((text, output.status))
}
