//! `cargo xtask test`: the checks before a commit.
//!
//! The quick form needs Rust and nothing else. `--full` runs what the quick form leaves out: other
//! builds of the same code, other platforms, other people's tests, and the models with their own
//! bounds. A step that lacks a program of this machine says so and is skipped; with `CI` set, as CI
//! services set it, a missing program is an error.

use anyhow::Result;

use crate::steps::{self, cargo};
use crate::tidy::{self, layers};
use crate::workspace::{self, Package};
use crate::{
    api, conformance, counting, ecosystem, features, loom, messages, package, pages, platforms,
    stress,
};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run the steps that the quick form leaves out
    #[arg(long)]
    full: bool,

    /// Run only these steps, of either form
    #[arg(long, value_name = "NAME", conflicts_with = "full")]
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(names()))]
    step: Vec<String>,

    /// List the steps, and run none
    #[arg(long)]
    list: bool,
}

/// A part of the command that can run alone: its name, what it checks, and how.
type Step = (&'static str, &'static str, fn(&[Package]) -> Result<()>);

#[rustfmt::skip]
const QUICK: [Step; 5] = [
    ("fmt", "formatting", |_| run_cargo("fmt", "fmt --all --check")),
    ("tidy", "the rules that no other tool checks", |_| {
        steps::step("tidy", "cargo xtask tidy", tidy::run)
    }),
    ("clippy", "clippy, once for the workspace", |_| {
        run_cargo("clippy", "clippy --workspace --all-targets -- -D warnings")
    }),
    ("test", "tests and doc tests", |_| run_cargo("test", "test --workspace")),
    ("models", "the models with small bounds", |packages| {
        loom::models(packages, loom::Bound::Preemptions(1))
    }),
];

/// The steps that the quick form leaves out.
#[rustfmt::skip]
const FULL: [Step; 14] = [
    ("docs", "rustdoc without warnings", |_| {
        let mut docs = cargo("doc --workspace --no-deps");
        steps::run("docs", docs.env("RUSTDOCFLAGS", "-D warnings"))
    }),
    ("pages", "the commands and programs of the pages", |packages| pages::run_all(packages)),
    ("stress", "all kinds of operations at once", |_| stress::stress(20, None)),
    ("counting", "the build that counts operations", |_| counting::check()),
    ("layers", "each crate alone, with its own features and dependencies", layers_alone),
    ("features", "each feature of the facade and of the stand-in alone", features::check),
    ("messages", "what the compiler says about wrong programs", |_| {
        steps::step("messages", "cargo xtask test --step messages", messages::check)
    }),
    ("all-features", "clippy with all features", all_features),
    ("packages", "the tests of the packed crates, with all features", package::check),
    ("api", "public items and traits against Tokio's", |_| {
        steps::step("api", "cargo xtask api", api::run)
    }),
    ("models-full", "the models with their own bounds", |packages| {
        loom::models(packages, loom::Bound::Own)
    }),
    ("conformance", "the tests of Tokio and its companion crates", |_| {
        steps::step("conformance", "cargo xtask conformance", || {
            conformance::run(&conformance::Args::default())
        })
    }),
    ("ecosystem", "crates of the ecosystem, with real servers and clients", |_| {
        ecosystem::run(&ecosystem::Args::default())
    }),
    ("platforms", "other platforms", |_| platforms::short()),
];

fn names() -> Vec<&'static str> {
    [&QUICK[..], &FULL]
        .concat()
        .iter()
        .map(|(name, ..)| *name)
        .collect()
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let both = [("quick", &QUICK[..]), ("full", &FULL[..])];
    if args.list {
        let row = |form: &str, (name, what, _): &Step| format!("{name}  {what}\t{form}");
        let rows = both
            .iter()
            .flat_map(|(form, steps)| steps.iter().map(|it| row(form, it)));
        print!("{}", steps::table(&Vec::from_iter(rows)));
        return Ok(());
    }
    let packages = workspace::packages()?;
    for (form, steps) in both {
        for (name, _, run) in steps {
            let is_chosen = match args.step.is_empty() {
                true => (form == "full") == args.full,
                false => args.step.iter().any(|it| it == name),
            };
            if is_chosen {
                run(&packages)?;
            }
        }
    }
    Ok(())
}

/// Runs a cargo command as a step.
fn run_cargo(name: &str, line: &str) -> Result<()> {
    steps::run(name, &mut cargo(line))
}

/// Checks each crate with only its own features: cargo enables no feature that only another crate
/// requests. A layer must pull in no runtime and no crate above it.
fn layers_alone(packages: &[Package]) -> Result<()> {
    for Package {
        name, spec, dir, ..
    } in packages
    {
        if !dir.starts_with("crates") {
            continue;
        }
        run_cargo(&format!("{name} alone"), &format!("check -p {spec}"))?;
        if layers::is_layer(name) {
            let is_forbidden = |package: &str| layers::is_forbidden(name, package);
            steps::tree(&format!("{name} tree"), &format!("-p {spec}"), is_forbidden)?;
        }
    }
    Ok(())
}

/// Lints each crate that has features with all of them. Its tests run with them as a
/// [package](package::check), and here if it is not published.
fn all_features(packages: &[Package]) -> Result<()> {
    let with_features = packages.iter().filter(|it| !it.features.is_empty());
    let of = |packages: Vec<&Package>| {
        let of = packages.iter().map(|it| format!("-p {}", it.spec));
        Vec::from_iter(of).join(" ")
    };
    let all = of(with_features.clone().collect());
    let unpublished = of(with_features.filter(|it| !it.is_published).collect());
    let clippy = format!("clippy --all-targets --all-features {all} -- -D warnings");
    run_cargo("clippy, all features", &clippy)?;
    run_cargo(
        "test, all features",
        &format!("test --all-features {unpublished}"),
    )
}
