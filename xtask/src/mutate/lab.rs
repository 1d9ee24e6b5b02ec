//! A copy of the tree that has every mutant of a package in it, and the programs
//! of its tests or models.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::copy::Copy;
use super::mutants::Mutant;
use super::schema::Instrumented;
use super::suite::{Kind, Stage, Suite};
use crate::steps::{self, cargo};

const SWITCH: &str = include_str!("switch.rs.in");
const MANIFEST: &str = "[package]\nname = \"mutant-switch\"\nedition = \"2024\"\n";
const DEPENDENCY: &str = "\n[dependencies.mutant-switch]\npath = \"../mutant-switch\"\n";

/// The name of the suite of a crate's unit tests.
const UNIT_TESTS: &str = "unit tests";

/// An overflow that the compiler foresees is an error of the mutant's run.
const OVERFLOW: &str = "#![allow(arithmetic_overflow, unconditional_panic)]";

/// Before the key of a mutant that does not compile.
const UNVIABLE: &str = "unviable ";

/// Errors that may be those of the blocks that a switch needs rather than of the
/// mutant in them: a function that is not constant, and lives of temporaries.
const OF_SWITCHES: &[&str] = &["E0015", "E0493", "E0597", "E0716"];

/// Where copies and programs are, and what the mutants are of.
pub(super) struct Place<'a> {
    pub(super) directory: &'a Path,
    pub(super) original: &'a Copy,
    pub(super) package: &'a str,
    /// The directory of the package.
    pub(super) dir: &'a Path,
    /// The packages whose suites run.
    pub(super) judges: &'a [String],
    /// Each with the number of its switch.
    pub(super) mutants: &'a [(usize, &'a Mutant)],
}

pub(super) struct Lab<'a> {
    place: &'a Place<'a>,
    kind: Kind,
    copy: Copy,
    pub(super) suites: Vec<Suite>,
    /// The mutants that could not be put in beside the others. True: that do not
    /// compile at all.
    pub(super) left_out: BTreeMap<usize, bool>,
}

impl<'a> Lab<'a> {
    /// Builds every suite of a kind, and runs it with no mutant on.
    pub(super) fn new(place: &'a Place<'a>, kind: Kind, resume: bool) -> Result<Self> {
        let name = format!("{}-{kind:?}", place.package);
        let known = place.directory.join(format!("{name}.left-out"));
        let keys = match resume {
            true => fs::read_to_string(&known).unwrap_or_default(),
            false => String::new(),
        };
        let keys: BTreeSet<&str> = keys.lines().collect();
        let left_out = |&(id, mutant): &(usize, &Mutant)| {
            let key = mutant.key();
            if keys.contains(format!("{UNVIABLE}{key}").as_str()) {
                return Some((id, true));
            }
            let is_alone = mutant.schema.is_none() || keys.contains(key.as_str());
            is_alone.then_some((id, false))
        };
        let mut lab = Self {
            left_out: place.mutants.iter().filter_map(left_out).collect(),
            place,
            kind,
            copy: Copy {
                root: place.directory.join(name),
            },
            suites: Vec::new(),
        };
        lab.put_in()?;
        let line = |(id, mutant): &(usize, &Mutant)| match lab.left_out.get(id)? {
            true => Some(format!("{UNVIABLE}{}", mutant.key())),
            false => Some(mutant.key()),
        };
        let lines: Vec<_> = place.mutants.iter().filter_map(line).collect();
        fs::write(known, lines.join("\n"))?;
        lab.build()?;
        Ok(lab)
    }

    /// Puts all mutants into the copy that compile together.
    fn put_in(&mut self) -> Result<()> {
        loop {
            let files = self.instrument()?;
            let mut command = self.cargo(&self.copy.root, "check");
            command.args(["--lib", "-p", self.place.package]);
            let (messages, passed) = run(&mut command)?;
            if passed {
                return Ok(());
            }
            let before = self.left_out.len();
            let errors = messages.iter().map(|message| &message["message"]);
            let errors: Vec<_> = errors.filter(|error| error["level"] == "error").collect();
            for error in &errors {
                self.leave_out(&files, error);
            }
            println!(
                "{:?}: {} of {} mutants left out",
                self.kind,
                self.left_out.len(),
                self.place.mutants.len()
            );
            if self.left_out.len() == before {
                let rendered = |error: &&&Value| error["rendered"].as_str().map(str::to_owned);
                let words: Vec<_> = errors.iter().filter_map(|error| rendered(&error)).collect();
                bail!("the copy does not compile: {}", words.concat());
            }
        }
    }

    /// Writes the copy, and returns its files that have mutants.
    fn instrument(&self) -> Result<BTreeMap<PathBuf, Instrumented>> {
        let library = self.place.dir.join("src/lib.rs");
        let mut by_file = BTreeMap::from([(&library, Vec::new())]);
        for &(id, mutant) in self.place.mutants {
            if !self.left_out.contains_key(&id) {
                by_file.entry(&mutant.path).or_default().push((id, mutant));
            }
        }
        let original = &self.place.original.root;
        let mut files = BTreeMap::new();
        for (path, mutants) in by_file {
            let text = fs::read_to_string(original.join(path))?;
            let first = if *path == library { OVERFLOW } else { "" };
            let file = Instrumented::new(&text, first, &mutants);
            files.insert(path.clone(), file);
        }
        let manifest = self.place.dir.join("Cargo.toml");
        let switch = Path::new("crates/mutant-switch");
        let mut changed = BTreeMap::from([
            (switch.join("Cargo.toml"), MANIFEST.to_owned()),
            (switch.join("src/lib.rs"), SWITCH.to_owned()),
            (
                manifest.clone(),
                fs::read_to_string(original.join(manifest))? + DEPENDENCY,
            ),
        ]);
        let texts = files
            .iter()
            .map(|(path, file)| (path.clone(), file.text.clone()));
        changed.extend(texts);
        self.copy.mirror(original, &changed)?;
        Ok(files)
    }

    /// Finds the mutants that an error is about.
    fn leave_out(&mut self, files: &BTreeMap<PathBuf, Instrumented>, error: &Value) {
        let spans = error["spans"].as_array().map_or(&[][..], Vec::as_slice);
        let code = error["code"]["code"].as_str().unwrap_or_default();
        let mut places = Vec::new();
        for span in spans {
            let path = Path::new(span["file_name"].as_str().unwrap_or_default());
            let Some((path, file)) = files.get_key_value(path) else {
                continue;
            };
            let at = span["byte_start"]
                .as_u64()
                .and_then(|at| usize::try_from(at).ok());
            let at = at.unwrap_or_default();
            let is_primary = span["is_primary"] == true;
            if let Some(mutant) = file.mutant_at(at)
                && is_primary
            {
                let is_unviable = !OF_SWITCHES.contains(&code);
                self.left_out.insert(mutant, is_unviable);
                return;
            }
            places.push((!is_primary, path, file.original(at)));
        }
        places.sort();
        for (_, path, at) in places {
            let mut in_file = Vec::new();
            for &(id, mutant) in self.place.mutants {
                if let Some(schema) = &mutant.schema
                    && mutant.path == *path
                    && !self.left_out.contains_key(&id)
                {
                    in_file.push((id, schema));
                }
            }
            let around = in_file
                .iter()
                .filter(|(_, schema)| schema.range.contains(&at));
            let smallest = around.min_by_key(|(_, schema)| schema.range.len());
            let in_function = || {
                in_file
                    .iter()
                    .filter(|(_, schema)| schema.body.contains(&at))
            };
            let relied_on = || in_function().filter(|(_, schema)| schema.is_relied_on);
            let ids = |(id, _): &(usize, _)| *id;
            let uses = matches!(code, "E0381" | "E0382");
            let mut blamed: Vec<usize> = relied_on().filter(|_| uses).map(ids).collect();
            if blamed.is_empty() {
                blamed.extend(smallest.map(ids));
            }
            if blamed.is_empty() {
                blamed.extend(relied_on().map(ids));
            }
            if blamed.is_empty() {
                blamed.extend(in_function().map(ids));
            }
            if !blamed.is_empty() {
                self.left_out
                    .extend(blamed.into_iter().map(|id| (id, false)));
                return;
            }
        }
    }

    /// Builds the programs and tries each out; the shortest come first.
    fn build(&mut self) -> Result<()> {
        let mut command = self.cargo(&self.copy.root, "test");
        command.arg("--no-run");
        match self.kind {
            Kind::Tests => command.args(["--lib", "--tests"]),
            Kind::Models => command.args(["--test", "loom_*"]),
        };
        for judge in self.place.judges {
            command.args(["-p", judge]);
        }
        let (messages, passed) = run(&mut command)?;
        ensure!(
            passed,
            "the {:?} of {} do not compile",
            self.kind,
            self.place.package
        );
        for message in &messages {
            let (Some(program), true) = (
                message["executable"].as_str(),
                message["profile"]["test"] == true,
            ) else {
                continue;
            };
            let target = &message["target"];
            let name = match target["kind"][0].as_str() {
                Some("test") => target["name"].as_str().context("a target without name")?,
                _ => UNIT_TESTS,
            };
            if (self.kind == Kind::Models) != name.starts_with("loom_") {
                continue;
            }
            let manifest = message["manifest_path"].as_str();
            let dir = manifest.and_then(|path| Path::new(path).parent());
            let dir = dir.context("a program without manifest")?;
            let mut suite = Suite {
                package: format!("raddle-{}", dir.file_name().unwrap_or_default().display()),
                name: name.to_owned(),
                dir: dir.to_owned(),
                program: program.into(),
                usual: Default::default(),
                reached: BTreeSet::new(),
            };
            suite.try_out(match self.kind {
                Kind::Tests => Stage::Tests,
                Kind::Models => Stage::Shallow,
            })?;
            self.suites.push(suite);
        }
        let is_reached = |suite: &Suite| !suite.reached.is_empty();
        ensure!(
            self.suites.is_empty() || self.suites.iter().any(is_reached),
            "the programs reach no mutant"
        );
        self.suites.sort_by_key(|suite| suite.usual.wall);
        Ok(())
    }

    /// The program of a suite in a tree that has a mutant of its own; None if it
    /// does not compile.
    pub(super) fn build_alone(&self, suite: &Suite) -> Result<Option<PathBuf>> {
        let mut command = self.cargo(&self.place.original.root, "test");
        command.args(["--no-run", "-p", &suite.package]);
        match suite.name.as_str() {
            UNIT_TESTS => command.arg("--lib"),
            name => command.args(["--test", name]),
        };
        let (messages, passed) = run(&mut command)?;
        let program = |message: &Value| message["executable"].as_str().map(PathBuf::from);
        let program = messages.iter().rev().find_map(program);
        Ok(program.filter(|_| passed))
    }

    fn cargo(&self, root: &Path, command: &str) -> Command {
        let mut command = cargo(root, &[command, "--message-format", "json"]);
        if self.kind == Kind::Tests {
            // What a feature adds has mutants too.
            command.arg("--all-features");
        } else {
            steps::set_cfg(command.arg("--release"), "raddle_loom");
        }
        command
            .env("CARGO_TARGET_DIR", self.place.directory.join("target"))
            // The crate of the switches asks whether a constant is computed.
            .env("RUSTC_BOOTSTRAP", "mutant_switch")
            // It runs more often than it is built, and its backtraces are not read.
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            .env("CARGO_INCREMENTAL", "1");
        command
    }
}

/// Runs cargo, and returns its messages and whether it has passed.
fn run(command: &mut Command) -> Result<(Vec<Value>, bool)> {
    let output = command
        .stderr(Stdio::null())
        .output()
        .context("cannot start cargo")?;
    let text = String::from_utf8(output.stdout)?;
    let messages = text.lines().map(serde_json::from_str);
    Ok((messages.collect::<Result<_, _>>()?, output.status.success()))
}
