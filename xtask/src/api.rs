//! `cargo xtask api`: checks that Raddle has every public item of Tokio, and that the lists of
//! `xtask/proof/tests/api` name every type and every future of Tokio.
//!
//! The items are those in the JSON that rustdoc writes for the published package and for the
//! layers, each with `--cfg tokio_unstable`. The members of Tokio's `net::UnixDatagram` are
//! missing, because rustdoc omits its module.

mod docs;
mod lists;

use anyhow::Result;

use crate::steps::{self, cargo};
use crate::workspace;
use docs::{Docs, Items};

/// The package of Tokio; the workspace also has an old version of it.
const TOKIO: &str = "tokio@1.54.1";

/// The items of Tokio that Raddle lacks, and the reasons. A line for a type or module covers
/// everything in it.
#[rustfmt::skip]
const ABSENT: [(&str, &str); 8] = [
    ("runtime::Builder::enable_alt_timer", "another implementation inside Tokio"),
    ("runtime::Builder::enable_eager_driver_handoff", "a driver whose worker is stuck goes to another worker anyway"),
    ("runtime::Builder::enable_sharded_blocking_queue", "another implementation inside Tokio"),
    ("runtime::Builder::metrics_poll_count_histogram_buckets", "deprecated"),
    ("runtime::Builder::metrics_poll_count_histogram_resolution", "deprecated"),
    ("runtime::Builder::metrics_poll_count_histogram_scale", "deprecated"),
    ("runtime::HistogramScale", "deprecated"),
    ("stream", "empty; the stand-in has it"),
];

/// Compares the items, and the traits of types and futures, including unstable ones.
pub(crate) fn run() -> Result<()> {
    let mut tokio = cargo(format!("rustdoc --quiet -p {TOKIO} --"));
    tokio.args(["-Zunstable-options", "--output-format", "json"]);
    tokio.env("RUSTDOCFLAGS", "--cfg tokio_unstable");
    // The facade, and all that it re-exports.
    let mut raddle = cargo("doc --quiet --no-deps --all-features");
    for package in workspace::packages()? {
        if package.dir.starts_with("crates") && package.name.starts_with("raddle") {
            raddle.args(["-p", &package.spec]);
        }
    }
    let flags = "--cfg tokio_unstable -Zunstable-options --output-format json";
    raddle.env("RUSTDOCFLAGS", flags);
    // The test that compares traits, with the unstable items in its lists.
    let traits = cargo("test --quiet -p raddle-proof --test api");
    let directory = workspace::target().join("api");
    for mut command in [tokio, raddle, traits] {
        // With the same flags, all three use the same builds of dependencies. The workspace's
        // compiler takes rustdoc's options of a nightly one.
        command
            .env("CARGO_TARGET_DIR", &directory)
            .env("CARGO_PROFILE_DEV_DEBUG", "none")
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTFLAGS", "--cfg tokio_unstable --cap-lints allow");
        steps::succeed(&mut command)?;
    }
    let docs = Docs::read(&directory.join("doc"))?;
    let (tokio, raddle) = (docs.items("tokio")?, docs.items("raddle")?);
    let mut findings = missing(&tokio, &raddle);
    findings.extend(lists::check(&tokio)?);
    let (theirs, ours) = (tokio.len(), raddle.len());
    println!("{theirs} public items of Tokio, {ours} of Raddle");
    let cure = "add the items, or give a reason in xtask/src/api.rs";
    steps::report(&findings, cure)
}

/// Whether `path` is deliberately absent, or is in an item that is.
fn is_absent(path: &str) -> bool {
    ABSENT.iter().any(|(absent, _)| {
        path.strip_prefix(absent)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    })
}

/// Returns the items that Raddle lacks, and items that are listed as absent but exist.
fn missing(tokio: &Items, raddle: &Items) -> Vec<String> {
    let mut findings = Vec::new();
    let mut expect = |path: String, is_there: bool| match (is_there, is_absent(&path)) {
        (false, false) => findings.push(format!("{path} is missing")),
        (true, true) => findings.push(format!("{path} exists, but is listed as absent")),
        _ => {}
    };
    for (path, item) in tokio {
        let ours = raddle.get(path);
        expect(path.clone(), ours.is_some());
        let Some(ours) = ours else { continue };
        for member in item.members.keys() {
            // A type of std, with all its members.
            let is_there = ours.is_foreign || ours.members.contains_key(member);
            expect(format!("{path}::{member}"), is_there);
        }
    }
    findings
}
