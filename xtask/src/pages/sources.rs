//! Where a reader gets Raddle from: one place for all pages.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::cargo::STAND_IN;
use super::commands;
use crate::workspace::Package;

/// The clone of the repository, beside the directory of the reader's program.
pub(super) const CLONE: &str = "../raddle";

/// What the line of a dependency says about the source of a package. To change it in all pages,
/// change it here and run `cargo xtask pages --write`. Published packages have
/// `version = "0.1"` here, and a repository `git = "https://..."`.
fn source(package: &Package) -> String {
    format!("path = \"{CLONE}/{}\"", package.dir.display())
}

/// A dependency with a source, in one line: its name, and what precedes and follows the source.
static DEPENDENCY: LazyLock<Regex> = LazyLock::new(|| {
    let source = r#"(?:(?:path|git|version) = "[^"]*"(?:, )?)+"#;
    let line = format!(r"^(?<name>[\w-]+) = \{{ (?<source>{source})(?<rest>[^}}]*)\}}$");
    Regex::new(&line).expect("a valid pattern")
});

static VERSION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"^([\w-]+) = ("[^"]*")$"#).expect("a valid pattern"));

/// The features in the line of a dependency.
static FEATURES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"features = \[([^\]]*)\]").expect("a valid pattern"));

/// A path in the clone.
static IN_CLONE: LazyLock<Regex> = LazyLock::new(|| {
    let path = format!(r"{}/([\w./-]*\w)", regex::escape(CLONE));
    Regex::new(&path).expect("a valid pattern")
});

/// Returns a line as it should be. `section` is the heading of its table.
fn right(line: &str, section: &str, packages: &[Package]) -> Option<String> {
    // A version alone is the short form of a table.
    let table = VERSION.replace(line, "$1 = { version = $2 }");
    let found = DEPENDENCY.captures(&table)?;
    let name = &found["name"];
    // In other tables, `tokio` is the published package, which a patch replaces.
    let is_ours = name != STAND_IN || section.starts_with("[patch");
    let package = packages.iter().find(|it| it.name == *name && is_ours)?;
    let others = Some(found["rest"].trim()).filter(|it| !it.is_empty());
    let others = others.map_or(String::new(), |it| format!(", {it}"));
    Some(format!("{name} = {{ {}{others} }}", source(package)))
}

/// Calls `visit` with each line of the TOML blocks of a page: its number, its text and its table.
fn each_line(page: &Path, text: &str, mut visit: impl FnMut(usize, &str, &str)) {
    let prose = commands::prose(page, text);
    for (language, first, block) in commands::blocks(&prose) {
        let mut section = "";
        for (number, line) in (first..).zip(block) {
            if line.starts_with('[') {
                section = line;
            }
            if language == "toml" {
                visit(number, line, section);
            }
        }
    }
}

/// Returns the page with the right sources.
pub(super) fn written(page: &Path, text: &str, packages: &[Package]) -> String {
    let mut written = text.to_owned();
    each_line(page, text, |_, line, section| {
        if let Some(right) = right(line, section, packages) {
            written = written.replace(line, &right);
        }
    });
    written
}

/// Returns the numbers of lines with a wrong source, feature or path, and what is wrong.
pub(super) fn check(
    root: &Path,
    page: &Path,
    text: &str,
    packages: &[Package],
) -> Vec<(usize, String)> {
    let mut findings = Vec::new();
    each_line(page, text, |number, line, section| {
        if let Some(right) = right(line, section, packages).filter(|right| right != line) {
            findings.push((number, format!("write {right}")));
        }
        let name = line.split(' ').next().unwrap_or_default();
        let package = packages.iter().find(|it| it.name == name);
        let features = FEATURES.captures(line);
        let features = features.as_ref().map_or("", |found| &found[1]);
        let features = features.split(',').map(|it| it.trim().trim_matches('"'));
        for feature in features.filter(|it| !it.is_empty()) {
            let has = |it: &&Package| it.features.iter().any(|it| it == feature);
            if package.is_some_and(|it| !has(&it)) {
                findings.push((number, format!("{name} has no feature {feature}")));
            }
        }
    });
    for (number, line) in (1..).zip(commands::prose(page, text)) {
        for path in IN_CLONE.captures_iter(&line) {
            if !root.join(&path[1]).exists() {
                findings.push((number, format!("the repository has no {}", &path[1])));
            }
        }
    }
    findings
}
