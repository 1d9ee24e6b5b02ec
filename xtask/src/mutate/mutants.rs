//! One change of a source file, and those that weaken what orders its threads:
//!
//! - An ordering becomes the next weaker: `AcqRel` becomes `Acquire` and, as
//!   another mutant, `Release`; these become `Relaxed`.
//! - A fence is removed, and a sequentially consistent one weakened.
//! - A check before sleeping finds nothing. In the source a line `// CHECK:`
//!   stands above it, and says what would be missed: above the `if` whose
//!   condition it is, or above the one operand of a condition.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use super::schema::Schema;
use crate::tidy::text::File;

/// The line above a check that precedes sleep.
const CHECK: &str = "// CHECK:";

/// One change of one file.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    pub(crate) path: PathBuf,
    pub(crate) package: String,
    /// The function it is in.
    pub(crate) function: String,
    /// As an editor counts: the first is 1.
    pub(crate) line: usize,
    /// What is done, in words: `AcqRel to Acquire`.
    pub(crate) change: String,
    /// The line that changes, as it is.
    pub(crate) source: String,
    /// How many like it stand before it in the file.
    pub(crate) place: usize,
    range: Range<usize>,
    replacement: String,
    /// None where a switch cannot be asked.
    pub(super) schema: Option<Schema>,
}

impl Mutant {
    /// The text of the file with the change made.
    pub(crate) fn apply(&self, text: &str) -> String {
        let (before, after) = (&text[..self.range.start], &text[self.range.end..]);
        format!("{before}{}{after}", self.replacement)
    }

    /// The cells of a table that name it: file, function and change.
    pub(crate) fn row(&self) -> String {
        let change = self.change.replace('|', "\\|");
        let function = match self.function.as_str() {
            "" => "constant".to_owned(),
            name => format!("`{name}`"),
        };
        format!("| `{}` | {function} | {change} |", self.path.display())
    }

    /// What tells it from all others, also when lines were added above it.
    pub(crate) fn key(&self) -> String {
        let path = self.path.display();
        let Self {
            function,
            change,
            source,
            place,
            ..
        } = self;
        format!("{path}|{function}|{change}|{source}|{place}")
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        write!(f, "{path}:{} {}: {}", self.line, self.function, self.change)
    }
}

/// Whether a text has anything to take away: it argues an ordering, as the files
/// without locks do, or has a check.
pub(crate) fn is_mutable(text: &str) -> bool {
    let marked = |line: &str| line.starts_with("// ORDERING:") || line.starts_with(CHECK);
    text.lines().any(|line| marked(line.trim_start()))
}

/// Every ordering, fence and check of a file, taken away one at a time.
pub(crate) fn of(file: &File, text: &str) -> Vec<Mutant> {
    let mut changes = orderings(file);
    changes.extend(fences(file));
    changes.extend(checks(file, text));
    in_order(file, changes)
}

/// The mutants that make these changes, in the order of their lines.
pub(super) fn in_order(file: &File, mut changes: Vec<Change>) -> Vec<Mutant> {
    let mut mutants: Vec<Mutant> = Vec::new();
    let mut like = BTreeMap::new();
    changes.sort_by_key(|change| change.range.start);
    for change in changes {
        let source = file.lines[change.line].trim().to_owned();
        let mut mutant = Mutant {
            path: file.path.clone(),
            package: file.package.clone(),
            function: function(file, change.range.start),
            line: change.line + 1,
            change: change.words,
            source,
            place: 0,
            range: change.range,
            replacement: change.replacement,
            schema: change.schema,
        };
        let before = like.entry(mutant.key()).or_insert(0);
        mutant.place = *before;
        *before += 1;
        mutants.push(mutant);
    }
    mutants
}

/// One change before it has a name.
pub(super) struct Change {
    pub(super) words: String,
    /// The first line is 0.
    pub(super) line: usize,
    pub(super) range: Range<usize>,
    pub(super) replacement: String,
    pub(super) schema: Option<Schema>,
}

/// Each ordering stronger than `Relaxed`, weakened.
fn orderings(file: &File) -> Vec<Change> {
    let mut changes = Vec::new();
    for index in file.find(&["Ordering", ":", ":"]) {
        let Some(token) = file.tokens.get(index + 3) else {
            continue;
        };
        for weaker in weaker(&token.text, callee(file, index)) {
            changes.push(Change {
                words: format!("{} to {weaker}", token.text),
                line: token.line,
                range: token.bytes.clone(),
                replacement: (*weaker).to_owned(),
                schema: Some(Schema::other(
                    file.tokens[index].bytes.start..token.bytes.end,
                    &format!("Ordering::{weaker}"),
                )),
            });
        }
    }
    changes
}

/// The next weaker orderings that the called operation can have.
fn weaker(ordering: &str, callee: Option<&str>) -> &'static [&'static str] {
    match (ordering, callee) {
        ("SeqCst", Some("load")) => &["Acquire"],
        ("SeqCst", Some("store")) => &["Release"],
        ("SeqCst", _) => &["AcqRel"],
        // A fence must not be relaxed: it is removed instead.
        (_, Some("fence")) => &[],
        ("AcqRel", _) => &["Acquire", "Release"],
        ("Acquire" | "Release", _) => &["Relaxed"],
        _ => &[],
    }
}

/// The function in whose arguments the token at `index` stands.
fn callee(file: &File, index: usize) -> Option<&str> {
    let mut depth = 0_usize;
    for before in (1..index).rev() {
        match file.tokens[before].text.as_str() {
            ")" | "]" | "}" => depth += 1,
            "(" if depth == 0 => return Some(&file.tokens[before - 1].text),
            "[" | "{" if depth == 0 => return None,
            "(" | "[" | "{" => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Each fence, removed.
fn fences(file: &File) -> Vec<Change> {
    file.find(&["fence", "("])
        .map(|index| {
            let name = &file.tokens[index];
            let close = index + 1 + file.group(index + 1).len();
            let range = name.bytes.start..file.tokens[close].bytes.end;
            Change {
                words: "fence removed".to_owned(),
                line: name.line,
                schema: Some(Schema::other(range.clone(), "()")),
                range,
                replacement: "()".to_owned(),
            }
        })
        .collect()
}

/// Each check that is marked, so that it finds nothing.
fn checks(file: &File, text: &str) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut lines = file.lines.iter().enumerate();
    while let Some((mark, _)) = lines.find(|(_, line)| line.trim_start().starts_with(CHECK)) {
        // The comment goes on as far as it likes; the code follows.
        let Some(first) = file.tokens.iter().position(|token| token.line > mark) else {
            continue;
        };
        let range = check(file, first);
        let check = text[range.clone()].to_owned();
        let has_pattern = check.starts_with("let ");
        changes.push(Change {
            words: format!("`{}` never holds", one_line(&check)),
            line: file.tokens[first].line,
            // The name of a pattern is used behind it, so that one stays.
            replacement: match has_pattern {
                true => format!("false && {check}"),
                false => "false".to_owned(),
            },
            schema: Some(Schema::never(range.clone(), has_pattern)),
            range,
        });
    }
    changes
}

/// Where the check stands that begins with, or behind, the token at `first`.
fn check(file: &File, first: usize) -> Range<usize> {
    let text = |index: usize| file.tokens[index].text.as_str();
    let mut first = first;
    while matches!(text(first), "if" | "while" | "|" | "&") {
        first += 1;
    }
    let mut last = first;
    let mut index = first;
    let pattern = text(first) == "let";
    while index < file.tokens.len() {
        let twice = |sign| text(index) == sign && text(index + 1) == sign;
        match text(index) {
            "{" | "}" | ")" | "]" | ";" | "," => break,
            "|" | "&" if !pattern && (twice("|") || twice("&")) => break,
            "(" | "[" => index += file.group(index).len(),
            _ => {}
        }
        last = index;
        index += 1;
    }
    file.tokens[first].bytes.start..file.tokens[last].bytes.end
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of the function around a place of the text.
pub(super) fn function(file: &File, at: usize) -> String {
    let names = file.find(&["fn"]).map(|index| &file.tokens[index + 1]);
    names
        .take_while(|name| name.bytes.start < at)
        .last()
        .map_or_else(String::new, |name| name.text.clone())
}

#[cfg(test)]
mod tests;
