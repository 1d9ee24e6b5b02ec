//! Which primitives the sources may name, and which comments they need. Clippy checks `SAFETY:`
//! comments and leftovers such as `todo!`.

use super::layers;
use super::text::File;

/// How far above an atomic operation its `ORDERING:` comment may begin.
const ORDERING_REACH: usize = 8;

const ORDERINGS: &[&str] = &["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// Applies every rule to one file.
pub(super) fn check(file: &File) -> Vec<String> {
    let mut findings = Vec::new();
    findings.extend(primitives(file));
    findings.extend(ordering(file));
    findings.extend(cancel_safety(file));
    findings.extend(rank(file));
    findings
}

fn at(file: &File, line: usize, what: &str) -> String {
    format!("{}:{}: {what}", file.path.display(), line + 1)
}

/// A layer that takes its atomics or parks its threads past raddle-primitives is one
/// that no model sees through. Clippy sees to the types that raddle-primitives wraps.
/// A static may be std's: loom's have no constant to begin with.
fn primitives(file: &File) -> Vec<String> {
    if file.package == "raddle-primitives" || file.is_apart() || !layers::is_layer(&file.package) {
        return Vec::new();
    }
    let atomics = names(file, "sync", &["atomic"]);
    let threads = names(file, "thread", &["park", "park_timeout"]);
    atomics
        .into_iter()
        .chain(threads)
        .map(|line| {
            at(
                file,
                line,
                "take it from raddle_primitives, so that loom can model it",
            )
        })
        .collect()
}

/// The lines that name one of `items` of std's `module`, alone or in a list.
fn names(file: &File, module: &str, items: &[&str]) -> Vec<usize> {
    let mut lines = Vec::new();
    for origin in ["std", "core"] {
        for index in file.find(&[origin, ":", ":", module, ":", ":"]) {
            let line = file.tokens[index].line;
            let mut named = file.group(index + 6).iter();
            if !file.lines[line].contains("static ")
                && named.any(|token| items.contains(&token.text.as_str()))
            {
                lines.push(line);
            }
        }
    }
    lines
}

/// Whether the comment that ends directly above `line` has `mark`.
fn has_above(file: &File, line: usize, mark: &str) -> bool {
    file.lines[..line]
        .iter()
        .rev()
        .map(|text| text.trim_start())
        .take_while(|text| text.starts_with("//"))
        .any(|text| text.starts_with(mark))
}

/// Each atomic operation of a layer names its partner.
fn ordering(file: &File) -> Vec<String> {
    if file.is_apart() || !layers::is_layer(&file.package) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for index in file.find(&["("]) {
        if !is_atomic_call(file, index) {
            continue;
        }
        let line = file.tokens[index].line;
        let reach = line.saturating_sub(ORDERING_REACH)..=line;
        if !file.lines[reach]
            .iter()
            .any(|line| line.contains("// ORDERING:"))
        {
            findings.push(at(
                file,
                line,
                "an atomic operation without an ORDERING: comment",
            ));
        }
    }
    findings
}

/// Whether the bracket at `open` holds the arguments of an atomic operation or
/// a fence, an ordering among them.
fn is_atomic_call(file: &File, open: usize) -> bool {
    let before = |distance: usize| {
        let index = open.checked_sub(distance)?;
        Some(file.tokens[index].text.as_str())
    };
    let Some(name) = before(1) else { return false };
    let operation = matches!(
        name,
        "load" | "store" | "swap" | "compare_exchange" | "compare_exchange_weak"
    ) || name.starts_with("fetch_");
    let called = operation && before(2) == Some(".") || name == "fence";
    let ordered = || {
        let arguments = file.group(open);
        arguments
            .iter()
            .any(|token| ORDERINGS.contains(&token.text.as_str()))
    };
    called && ordered()
}

/// A lock has its place in the order of locks, or says why it has none.
fn rank(file: &File) -> Vec<String> {
    // The locks of raddle-sync, of the same name, are for tasks.
    if file.is_apart() || file.package == "raddle-primitives" || !file.path.starts_with("crates") {
        return Vec::new();
    }
    file.find(&["Mutex", ":", ":", "new", "("])
        .map(|index| file.tokens[index].line)
        .filter(|&line| !has_above(file, line, "// UNRANKED:"))
        .map(|line| at(file, line, "give the lock a Rank, or say why it has none"))
        .collect()
}

/// Each public function of the crates that is async, or returns `impl Future`, says what dropping
/// its future does.
fn cancel_safety(file: &File) -> Vec<String> {
    if file.is_apart() || !file.path.starts_with("crates") {
        return Vec::new();
    }
    let is_future = |fn_index: usize| {
        let signature = file.tokens[fn_index..].iter();
        let signature: Vec<_> = signature
            .map(|token| token.text.as_str())
            .take_while(|text| *text != "{" && *text != ";")
            .collect();
        signature
            .windows(4)
            .any(|text| text[..2] == ["-", ">"] && text[2..] == ["impl", "Future"])
    };
    let plain = file.find(&["pub", "fn"]).filter(|index| is_future(*index));
    let functions = file.find(&["pub", "async", "fn"]).chain(plain);
    functions
        .map(|index| file.tokens[index].line)
        .filter(|line| {
            let above = file.lines[..*line].iter().rev().map(|text| text.trim());
            !above
                .take_while(|text| text.starts_with("///") || text.starts_with("#["))
                .any(|text| text == "/// # Cancel safety")
        })
        .map(|line| {
            let what = "an async function without a section `# Cancel safety`";
            at(file, line, what)
        })
        .collect()
}

#[cfg(test)]
mod tests;
