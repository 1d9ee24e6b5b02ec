//! Checks what the compiler says about wrong programs: `messages/*.txt` have them, one after the
//! other, with the texts that must be reported at their lines.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::Message;
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel, DiagnosticSpan};

use crate::steps::{self, cargo_in};
use crate::workspace;

/// Programs with the same dependency: its name, its features, and the programs. A line
/// `=== name` begins a program; `//~ text` stands on a line for which an error has this text. There
/// is no other error, except in a program with a comment `// and more`.
const SETS: [(&str, &str, &str, &str); 6] = [
    (
        "full",
        "raddle",
        "\"full\"",
        include_str!("messages/full.txt"),
    ),
    ("rt", "raddle", "\"rt\"", include_str!("messages/rt.txt")),
    (
        "macros",
        "raddle",
        "\"macros\"",
        include_str!("messages/macros.txt"),
    ),
    (
        "stand-in",
        "tokio",
        "\"rt\"",
        include_str!("messages/stand_in.txt"),
    ),
    ("sync", "raddle-sync", "", include_str!("messages/sync.txt")),
    (
        "bare",
        "raddle-bare",
        "\"alloc\"",
        include_str!("messages/bare.txt"),
    ),
];

pub(crate) fn check() -> Result<()> {
    let mut findings = Vec::new();
    for (set, package, features, programs) in SETS {
        check_set(set, package, features, programs, &mut findings)?;
    }
    steps::report(
        &findings,
        "the lines are those of the program, after its `===`",
    )
}

fn check_set(
    set: &str,
    package: &str,
    features: &str,
    programs: &str,
    findings: &mut Vec<String>,
) -> Result<()> {
    let programs: BTreeMap<&str, &str> = programs
        .split("\n=== ")
        .skip(1)
        .map(|program| program.split_once('\n').context("an empty program"))
        .collect::<Result<_>>()?;
    let root = workspace::root();
    let directory = workspace::target().join("messages").join(set);
    let examples = directory.join("examples");
    let _ = fs::remove_dir_all(&examples);
    fs::create_dir_all(&examples)?;
    fs::create_dir_all(directory.join("src"))?;
    fs::write(directory.join("src/lib.rs"), "")?;
    fs::copy(root.join("Cargo.lock"), directory.join("Cargo.lock"))?;
    let folder = package.strip_prefix("raddle-").unwrap_or(package);
    let path = root.join("crates").join(folder);
    let manifest = format!(
        "[package]\nname = \"programs\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         {package} = {{ path = {path:?}, default-features = false, features = [{features}] }}\n"
    );
    fs::write(directory.join("Cargo.toml"), manifest)?;
    for (name, code) in &programs {
        fs::write(examples.join(format!("{name}.rs")), code)?;
    }

    let mut check = cargo_in(
        &directory,
        "check --quiet --examples --keep-going --message-format json",
    );
    check.env("CARGO_TARGET_DIR", directory.with_file_name("target"));
    let mut running = check.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let output = running.stdout.take().context("the output is piped")?;
    let mut errors: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
    for message in Message::parse_stream(BufReader::new(output)) {
        if let Message::CompilerMessage(message) = message?
            && message.message.level == DiagnosticLevel::Error
        {
            let of_program = errors.entry(message.target.name).or_default();
            of_program.push(message.message);
        }
    }
    running.wait()?;
    ensure!(!errors.is_empty(), "cargo check reported no error");

    for (name, code) in programs {
        let errors = errors.remove(name).unwrap_or_default();
        let rendered = errors.iter().filter_map(|it| it.rendered.as_deref());
        let rendered: String = rendered.collect();
        let missing = missing(code, &errors).map(|text| format!("no error {text}"));
        let found = missing.chain(too_many(code, &errors));
        findings.extend(found.map(|finding| format!("{set}: {name}: {finding}\n{rendered}")));
    }
    let library = package.replace('-', "_");
    let unexpected = errors
        .into_iter()
        .filter(|(name, _)| *name == library || name == package);
    findings.extend(unexpected.map(|(name, errors)| format!("{set}: {name}: {errors:?}")));
    Ok(())
}

/// Returns the lines and texts that no error has.
fn missing<'a>(code: &'a str, errors: &'a [Diagnostic]) -> impl Iterator<Item = String> + 'a {
    let expected = code.lines().enumerate().filter_map(|(line, code)| {
        let (_, text) = code.split_once("//~ ")?;
        Some((line + 1, text))
    });
    expected.filter_map(|(line, text)| {
        let found = errors.iter().any(|error| {
            let mut primary = error.spans.iter().filter(|span| span.is_primary);
            let at_line = primary.any(|span| is_at(line, span));
            at_line && says(error, text)
        });
        (!found).then(|| format!("at line {line} with {text:?}"))
    })
}

/// Returns a finding if there are more errors than texts.
fn too_many(code: &str, errors: &[Diagnostic]) -> Option<String> {
    let expected = code.matches("//~ ").count();
    let is_bounded = !code.contains("// and more");
    (is_bounded && errors.len() > expected)
        .then(|| format!("{} errors instead of {expected}", errors.len()))
}

/// Returns whether the message, a label or a note has the text. The rendered error would always
/// have it, in the line of the program.
fn says(error: &Diagnostic, text: &str) -> bool {
    let labels = error.spans.iter().filter_map(|span| span.label.as_ref());
    error.message.contains(text)
        || labels.into_iter().any(|label| label.contains(text))
        || error.children.iter().any(|note| says(note, text))
}

/// Returns whether the span, or the call of a macro that wrote the code there, is at the line.
fn is_at(line: usize, span: &DiagnosticSpan) -> bool {
    let in_program = span.file_name.starts_with("examples");
    let called = span.expansion.as_ref();
    (in_program && span.line_start == line) || called.is_some_and(|it| is_at(line, &it.span))
}
