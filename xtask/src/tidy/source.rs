//! Which primitives the sources may name, and which comments they need. Clippy checks `SAFETY:`
//! comments and leftovers such as `todo!`.

use std::sync::LazyLock;

use regex::Regex;

use super::layers;
use super::text::File;

/// The number of lines above an atomic operation in which its `ORDERING:` comment may begin.
const ORDERING_REACH: usize = 8;

/// Primitives of std that loom cannot model. Clippy checks the types that raddle-primitives wraps.
static PRIMITIVES: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"\b(std|core)::(sync::(\{[^}]*\b)?atomic\b|thread::(\{[^}]*\b)?park(_timeout)?\b)")
});

/// An atomic operation or a fence, with an ordering among its arguments.
static ATOMIC: LazyLock<Regex> = LazyLock::new(|| {
    let call = r"(\.(load|store|swap|compare_exchange(_weak)?|fetch_\w+)|\bfence)\s*\(";
    regex(&format!(
        r"{call}[^;{{}}]*?\b(Relaxed|Acquire|Release|AcqRel|SeqCst)\b"
    ))
});

static LOCK: LazyLock<Regex> = LazyLock::new(|| regex(r"\bMutex::new\("));

/// A public function that is async, or returns `impl Future`.
static FUTURE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?m)^ *pub (async fn\b|fn\b[^{;]*-> impl Future\b)"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

/// Applies every rule to one file.
pub(super) fn check(file: &File) -> Vec<String> {
    if !file.is_of_library() {
        return Vec::new();
    }
    let lines = Vec::from_iter(file.text.lines());
    let mut findings = Vec::new();
    let mut expect = |pattern: &Regex, is_right: &dyn Fn(usize) -> bool, what: &str| {
        for found in pattern.find_iter(&file.text) {
            let line = file.text[..found.start()].matches('\n').count();
            let is_code = !lines[line].trim_start().starts_with("//");
            if is_code && !is_right(line) {
                findings.push(format!("{}:{}: {what}", file.path.display(), line + 1));
            }
        }
    };
    let is_primitives = file.package == "raddle-primitives";
    if layers::is_layer(&file.package) {
        // A static may be one of std, because the types of loom have no constant initial value.
        let may_be_of_std = |line: usize| is_primitives || lines[line].contains("static ");
        let what = "take it from raddle_primitives, so that loom can model it";
        expect(&PRIMITIVES, &may_be_of_std, what);
        let is_argued = |line: usize| {
            let above = &lines[line.saturating_sub(ORDERING_REACH)..=line];
            above.iter().any(|line| line.contains("// ORDERING:"))
        };
        let what = "an atomic operation without an ORDERING: comment";
        expect(&ATOMIC, &is_argued, what);
    }
    // The locks of raddle-sync with the same name are for tasks.
    let has_reason = |line: usize| is_primitives || has_above(&lines[..line], "// UNRANKED:");
    let what = "give the lock a Rank, or say why it has none";
    expect(&LOCK, &has_reason, what);
    let is_documented = |line: usize| has_above(&lines[..line], "/// # Cancel safety");
    let what = "an async function without a section `# Cancel safety`";
    expect(&FUTURE, &is_documented, what);
    findings
}

/// Whether the comments and attributes at the end of `lines`, including those that a macro takes
/// from its caller, contain a line that begins with `mark`.
fn has_above(lines: &[&str], mark: &str) -> bool {
    let is_above = |line: &&str| {
        ["//", "#[", "$(#["]
            .iter()
            .any(|open| line.starts_with(open))
    };
    let above = lines.iter().rev().map(|line| line.trim());
    above
        .take_while(is_above)
        .any(|line| line.starts_with(mark))
}

#[cfg(test)]
mod tests;
