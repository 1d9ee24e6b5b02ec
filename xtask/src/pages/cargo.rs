//! Checks a cargo command against the workspace: packages, programs, features, tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Result;
use cargo_metadata::{Target, TargetKind};
use clap::Parser;
use clap::error::ErrorKind;
use regex::Regex;

use crate::tidy::text;
use crate::workspace::Package;
use crate::{Cli, bench};

/// Packages of the reader's own workspace that pages use in examples.
const OF_READER: [&str; 1] = ["shop"];

/// The package that a patch puts in Tokio's place.
pub(super) const STAND_IN: &str = "tokio";

/// Commands of cargo whose arguments are not checked.
const UNCHECKED: [&str; 7] = [
    "add",
    "metadata",
    "new",
    "package",
    "publish",
    "semver-checks",
    "vendor",
];

/// The commands of cargo that pages use.
#[derive(Debug, Parser)]
#[command(name = "cargo", disable_help_subcommand = true)]
enum Cargo {
    Bench(Build),
    Build(Build),
    Check(Build),
    Clippy(Build),
    Doc(Build),
    Run(Build),
    Test(Build),
    Fmt {
        #[arg(long)]
        all: bool,
        #[arg(long)]
        check: bool,
    },
    Install(Install),
    Tree {
        #[arg(short, long)]
        invert: Option<String>,
        #[arg(short, long)]
        edges: Option<String>,
        #[arg(long)]
        workspace: bool,
    },
    Update {
        #[arg(short, long)]
        package: Option<String>,
        #[arg(long, requires = "package")]
        precise: Option<String>,
        #[arg(long, requires = "package")]
        recursive: bool,
    },
}

#[derive(Debug, Default, clap::Args)]
struct Build {
    #[arg(short, long)]
    package: Vec<String>,
    #[arg(long)]
    workspace: bool,
    #[arg(long)]
    bin: Vec<String>,
    #[arg(long)]
    example: Vec<String>,
    #[arg(long)]
    test: Vec<String>,
    #[arg(long)]
    bench: Vec<String>,
    #[arg(long)]
    lib: bool,
    #[arg(long)]
    doc: bool,
    #[arg(long)]
    examples: bool,
    #[arg(long)]
    all_targets: bool,
    #[arg(long)]
    no_deps: bool,
    #[arg(long)]
    no_run: bool,
    #[arg(long, value_delimiter = ',')]
    features: Vec<String>,
    #[arg(long)]
    all_features: bool,
    #[arg(long)]
    no_default_features: bool,
    #[arg(long)]
    release: bool,
    #[arg(long)]
    locked: bool,
    #[arg(long)]
    offline: bool,
    #[arg(short, long)]
    quiet: bool,
    #[arg(long)]
    tests: bool,
    #[arg(long)]
    timings: bool,
    #[arg(long)]
    target: Option<String>,
    #[arg(long)]
    target_dir: Option<String>,
    #[arg(long)]
    config: Vec<String>,
    /// A part of the names of tests.
    filter: Option<String>,
    /// The arguments of the program.
    #[arg(last = true)]
    arguments: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct Install {
    name: Option<String>,
    #[arg(long)]
    path: Option<String>,
    #[arg(long)]
    git: Option<String>,
    #[arg(long)]
    config: Vec<String>,
    #[arg(long)]
    locked: bool,
}

/// What commands are checked against.
pub(crate) struct Checker<'a> {
    pub(crate) root: &'a Path,
    pub(crate) packages: &'a [Package],
}

impl Checker<'_> {
    /// Returns what is wrong with a command, whose first word is `cargo`.
    pub(crate) fn check(&self, words: &[String]) -> Result<Vec<String>> {
        let is_option = |word: &&String| !word.contains(['[', ']']) && *word != "...";
        let words: Vec<_> = words.iter().filter(is_option).collect();
        if words.get(1).is_some_and(|word| *word == "xtask") {
            return self.own(&words);
        }
        if words
            .get(1)
            .is_some_and(|it| UNCHECKED.contains(&it.as_str()))
        {
            return Ok(Vec::new());
        }
        match Cargo::try_parse_from(&words) {
            Err(error) if error.kind() == ErrorKind::DisplayHelp => Ok(Vec::new()),
            Err(error) => Ok(vec![first_line(&error)]),
            Ok(Cargo::Run(it)) => self.build(&it, true),
            Ok(Cargo::Bench(it) | Cargo::Build(it) | Cargo::Check(it)) => self.build(&it, false),
            Ok(Cargo::Clippy(it) | Cargo::Doc(it) | Cargo::Test(it)) => self.build(&it, false),
            Ok(Cargo::Install(it)) => Ok(self.install(&it)),
            Ok(Cargo::Update {
                package: Some(package),
                precise: Some(precise),
                ..
            }) if package == STAND_IN => Ok(self.precise(&precise)),
            Ok(_) => Ok(Vec::new()),
        }
    }

    /// Checks a command of xtask with xtask's own parser.
    fn own(&self, words: &[&String]) -> Result<Vec<String>> {
        if let Err(error) = Cli::try_parse_from(&words[1..]) {
            let shows_form = words.iter().any(|word| is_placeholder(word));
            let is_right = match error.kind() {
                ErrorKind::InvalidValue | ErrorKind::ValueValidation => shows_form,
                ErrorKind::DisplayHelp => true,
                kind => kind == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
            };
            return Ok(match is_right {
                true => Vec::new(),
                false => vec![first_line(&error)],
            });
        }
        let Some(name) = words
            .get(3)
            .filter(|it| !it.starts_with('-') && !is_placeholder(it))
        else {
            return Ok(Vec::new());
        };
        let is_known = match words[2].as_str() {
            "bench" => {
                let workloads = text::read(&self.root.join("benches/src/workloads.rs"))?;
                bench::names().contains(&name.as_str())
                    || workloads.contains(&format!("\"{name}\""))
            }
            "differential" => {
                let tests = self.root.join("xtask/proof/tests/differential");
                missing_test(name, &[&tests])?.is_none()
            }
            "mutate" => {
                let file = name.split(':').next().unwrap_or(name);
                self.root.join(file).is_file() || self.packages.iter().any(|it| it.is_named(name))
            }
            _ => true,
        };
        Ok(match is_known {
            true => Vec::new(),
            false => vec![format!("cargo xtask {} knows no {name}", words[2])],
        })
    }

    fn build(&self, args: &Build, runs: bool) -> Result<Vec<String>> {
        let mut findings = Vec::new();
        let mut selected = Vec::new();
        for name in args.package.iter().filter(|it| !is_placeholder(it)) {
            match self
                .packages
                .iter()
                .find(|it| it.name == *name || it.spec == *name)
            {
                Some(package) if name == STAND_IN => {
                    findings.push(format!("{name} is ambiguous; write {}", package.spec));
                }
                Some(package) => selected.push(package),
                None if OF_READER.contains(&name.as_str()) => return Ok(findings),
                None => findings.push(format!("the workspace has no package {name}")),
            }
        }
        if args.package.is_empty() {
            let is_member = |it: &&Package| args.workspace || it.dir.starts_with("crates");
            selected.extend(self.packages.iter().filter(is_member));
        }
        for feature in args.features.iter().filter(|it| !is_placeholder(it)) {
            if !selected.iter().any(|it| it.features.contains(feature)) {
                findings.push(format!("no selected package has the feature {feature}"));
            }
        }
        let mut targets = Vec::new();
        for (option, kind, names) in [
            ("--bin", TargetKind::Bin, &args.bin),
            ("--example", TargetKind::Example, &args.example),
            ("--test", TargetKind::Test, &args.test),
            ("--bench", TargetKind::Bench, &args.bench),
        ] {
            for name in names.iter().filter(|it| !is_placeholder(it)) {
                let of = |package: &&Package| {
                    let is_it = |it: &&Target| it.name == *name && it.kind.contains(&kind);
                    let target = package.targets.iter().find(is_it)?.clone();
                    Some((package.name.clone(), target))
                };
                let found: Vec<_> = selected.iter().filter_map(of).collect();
                let owners = found.iter().map(|(owner, _)| owner.as_str());
                match (found.len(), runs) {
                    (0, _) => findings.push(format!("no selected package has {option} {name}")),
                    (2.., true) => {
                        let owners = owners.collect::<Vec<_>>().join(" and ");
                        findings.push(format!("{owners} have {option} {name}; add -p"));
                    }
                    _ => targets.extend(found),
                }
            }
        }
        if runs && targets.is_empty() && args.example.is_empty() && args.bin.is_empty() {
            // Without any of these, it is the reader's program.
            for package in selected.iter().filter(|_| !args.package.is_empty()) {
                let bins = package.targets.iter().filter(|it| it.is_bin());
                match bins.collect::<Vec<_>>()[..] {
                    [bin] => targets.push((package.name.clone(), bin.clone())),
                    _ => findings.push(format!("{} has not one program; name it", package.name)),
                }
            }
        }
        for (owner, target) in &targets {
            let package = self.packages.iter().find(|it| it.name == *owner);
            let enabled = package.map(|it| enabled(it, args)).unwrap_or_default();
            let needed = target.required_features.iter();
            for feature in needed.filter(|it| !enabled.contains(*it)) {
                findings.push(format!("{} needs --features {feature}", target.name));
            }
            findings.extend(unknown_arguments(target, &args.arguments, runs)?);
        }
        let filters = args
            .arguments
            .iter()
            .filter(|it| !runs && !it.starts_with('-'));
        for filter in filters.chain(&args.filter) {
            let sources = match targets.is_empty() {
                true => selected
                    .iter()
                    .map(|it| self.root.join(&it.dir))
                    .collect::<Vec<_>>(),
                false => targets
                    .iter()
                    .map(|(_, it)| source_of(it).to_owned())
                    .collect(),
            };
            let sources: Vec<_> = sources.iter().map(|it| it.as_path()).collect();
            if !is_placeholder(filter) && args.bench.is_empty() {
                findings.extend(missing_test(filter, &sources)?);
            }
        }
        Ok(findings)
    }

    fn install(&self, args: &Install) -> Vec<String> {
        if args.git.is_some() {
            return vec!["the repository is not published; use --path".to_owned()];
        }
        let Some(path) = &args.path else {
            return Vec::new();
        };
        let dir = path.strip_prefix("../raddle/").unwrap_or(path);
        let package = self.packages.iter().find(|it| it.dir == Path::new(dir));
        match package.is_some_and(|it| it.targets.iter().any(Target::is_bin)) {
            true => Vec::new(),
            false => vec![format!("no package with a program is in {path}")],
        }
    }

    /// Checks the version to which a page moves the lock file of a reader.
    fn precise(&self, version: &str) -> Vec<String> {
        let spec = format!("{STAND_IN}@{version}");
        match self.packages.iter().any(|it| it.spec == spec) {
            true => Vec::new(),
            false => vec![format!("the stand-in is not version {version}")],
        }
    }
}

/// Returns the names of all examples that two packages have: cargo refuses to run these without
/// `-p`, and one binary overwrites the other.
pub(crate) fn ambiguous_examples(packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for package in packages {
        for example in package.targets.iter().filter(|it| it.is_example()) {
            let (name, owner) = (example.name.as_str(), package.name.as_str());
            match seen.iter().find(|(other, _)| *other == name) {
                Some((_, other)) => findings.push(format!(
                    "{owner}: the example {name} has the name of one of {other}"
                )),
                None => seen.push((name, owner)),
            }
        }
    }
    findings
}

/// Whether the reader is to write something else in place of this word.
pub(super) fn is_placeholder(word: &str) -> bool {
    let is_capital = |letter: char| letter.is_ascii_uppercase() || "-_:|".contains(letter);
    word.contains(['<', '>', '$', '[', '…']) || word.chars().all(is_capital)
}

/// Returns the features of a package that a command enables.
fn enabled(package: &Package, args: &Build) -> BTreeSet<String> {
    let mut enabled = BTreeSet::new();
    let mut open: Vec<String> = args.features.clone();
    if args.all_features {
        open.extend(package.features.iter().cloned());
    }
    if !args.no_default_features {
        open.push("default".to_owned());
    }
    while let Some(feature) = open.pop() {
        let brings = package.brings.get(&feature);
        if enabled.insert(feature) {
            open.extend(brings.into_iter().flatten().cloned());
        }
    }
    enabled
}

/// The options that each test program has.
const HARNESS: [&str; 7] = [
    "--nocapture",
    "--exact",
    "--ignored",
    "--include-ignored",
    "--list",
    "--skip",
    "--test-threads",
];

/// Reports options that a program does not have: an option has the name of a field, or is a string.
fn unknown_arguments(target: &Target, arguments: &[String], runs: bool) -> Result<Vec<String>> {
    let mut source = String::new();
    for path in text::walk(source_of(target), &["rs"], |_| true)? {
        source += &text::read(&path)?;
    }
    let mut findings = Vec::new();
    let long = arguments.iter().filter(|it| it.starts_with("--"));
    for option in long.filter(|it| *it != "--help") {
        let field = option.trim_start_matches('-').replace('-', "_");
        let is_field = Regex::new(&format!(r"\b{}: ", regex::escape(&field)))?;
        let is_known = match runs {
            true => is_field.is_match(&source) || source.contains(&format!("\"{option}\"")),
            false => HARNESS.contains(&option.as_str()) || source.contains(option.as_str()),
        };
        if !is_known {
            findings.push(format!("{} has no option {option}", target.name));
        }
    }
    Ok(findings)
}

/// Returns the file of a program, or the directory if it has one of its own.
fn source_of(target: &Target) -> &Path {
    let file = target.src_path.as_std_path();
    let is_main = file.file_name().is_some_and(|name| name == "main.rs");
    let dir = file.parent().filter(|_| is_main);
    dir.unwrap_or(file)
}

/// Reports a filter that fits no test: each part of it is in the name of a module or a function.
fn missing_test(filter: &str, sources: &[&Path]) -> Result<Option<String>> {
    let mut text = String::new();
    for source in sources {
        for path in text::walk(source, &["rs"], |dir| !dir.ends_with("target"))? {
            text += &fs::read_to_string(path)?;
        }
    }
    for part in filter.split("::").filter(|part| !part.is_empty()) {
        let part = regex::escape(part);
        let named = Regex::new(&format!(r"\b(fn|mod)\s+\w*{part}"))?;
        if !named.is_match(&text) {
            return Ok(Some(format!("no test fits {filter}")));
        }
    }
    Ok(None)
}

/// Returns the message of an error, without what follows it.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}
