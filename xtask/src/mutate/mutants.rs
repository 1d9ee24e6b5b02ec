//! Single changes of a source file that weaken the order of operations between threads:
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

use crate::tidy::text::File;

/// The line above a check before sleep.
const CHECK: &str = "// CHECK:";

/// A change of one file.
#[derive(Clone, Debug)]
pub(super) struct Mutant {
    pub(super) path: PathBuf,
    pub(super) package: String,
    /// The function that contains it.
    pub(super) function: String,
    /// The line, counted from 1 as in an editor.
    pub(super) line: usize,
    /// The change in words: `AcqRel to Acquire`.
    pub(super) change: String,
    /// A key that distinguishes it from all others, and does not change when lines are added above
    /// it.
    pub(super) key: String,
    range: Range<usize>,
    edit: Edit,
}

/// How the text of a mutant changes.
#[derive(Clone, Debug)]
enum Edit {
    /// Another expression replaces this one.
    Other(String),
    /// The condition never holds.
    Never,
    /// Like `Never`, for a condition with `let`, which cannot be in parentheses and whose names are
    /// used after it.
    NeverMatches,
}

impl Mutant {
    /// Makes a mutant, whose key is that of every equal change of an equal line in the function.
    /// `line` is counted from 0.
    fn new(file: &File, line: usize, range: Range<usize>, change: String, edit: Edit) -> Self {
        let path = file.path.clone();
        let function = function(file, range.start);
        let source = file.lines[line].trim();
        Self {
            key: format!("{}|{function}|{change}|{source}", path.display()),
            path,
            package: file.package.clone(),
            function,
            line: line + 1,
            change,
            range,
            edit,
        }
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        write!(f, "{path}:{} {}: {}", self.line, self.function, self.change)
    }
}

/// Returns the text of a file with all its mutants, each behind the switch with its number.
pub(super) fn instrument(text: &str, mutants: &[(usize, &Mutant)]) -> String {
    let mut additions = Vec::new();
    for &(id, mutant) in mutants {
        let on = format!("::mutant_switch::on({id})");
        let (before, after) = match &mutant.edit {
            Edit::Other(other) => (format!("(if {on} {{ {other} }} else {{ "), " })"),
            Edit::Never => (format!("(!{on} && ("), "))"),
            Edit::NeverMatches => (format!("!{on} && "), ""),
        };
        let Range { start, end } = mutant.range;
        let length = end - start;
        // At the same place, an end comes before a beginning, and a mutant may be inside a longer
        // one.
        additions.push(((start, 1, usize::MAX - length, id), before));
        additions.push(((end, 0, length, usize::MAX - id), after.to_owned()));
    }
    additions.sort();
    let mut text = text.to_owned();
    for ((place, ..), addition) in additions.into_iter().rev() {
        text.insert_str(place, &addition);
    }
    text
}

/// Whether a text has anything to mutate: an argued ordering, as the files without locks have, or a
/// check.
pub(super) fn is_mutable(text: &str) -> bool {
    let marked = |line: &str| line.starts_with("// ORDERING:") || line.starts_with(CHECK);
    text.lines().any(|line| marked(line.trim_start()))
}

/// Returns a mutant for each ordering, fence and check of a file.
pub(super) fn of(file: &File, text: &str) -> Vec<Mutant> {
    let mut mutants = orderings(file);
    mutants.extend(fences(file));
    mutants.extend(checks(file, text));
    mutants.sort_by_key(|mutant| mutant.range.start);
    let mut like = BTreeMap::new();
    for mutant in &mut mutants {
        let before = like.entry(mutant.key.clone()).or_insert(0);
        *before += 1;
        mutant.key += &format!("|{before}");
    }
    mutants
}

/// Weakens each ordering stronger than `Relaxed`.
fn orderings(file: &File) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for index in file.find(&["Ordering", ":", ":"]) {
        let Some(token) = file.tokens.get(index + 3) else {
            continue;
        };
        for weaker in weaker(&token.text, callee(file, index)) {
            let range = file.tokens[index].bytes.start..token.bytes.end;
            let change = format!("{} to {weaker}", token.text);
            let edit = Edit::Other(format!("Ordering::{weaker}"));
            mutants.push(Mutant::new(file, token.line, range, change, edit));
        }
    }
    mutants
}

/// Returns the next weaker orderings that the called operation accepts.
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

/// Returns the function whose arguments contain the token at `index`.
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

/// Removes each fence.
fn fences(file: &File) -> Vec<Mutant> {
    let removed = |index: usize| {
        let name = &file.tokens[index];
        let close = index + 1 + file.group(index + 1).len();
        let range = name.bytes.start..file.tokens[close].bytes.end;
        let edit = Edit::Other("()".to_owned());
        Mutant::new(file, name.line, range, "fence removed".to_owned(), edit)
    };
    file.find(&["fence", "("]).map(removed).collect()
}

/// Makes each marked check find nothing.
fn checks(file: &File, text: &str) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    let mut lines = file.lines.iter().enumerate();
    while let Some((mark, _)) = lines.find(|(_, line)| line.trim_start().starts_with(CHECK)) {
        // The comment may have several lines; the code follows it.
        let Some(first) = file.tokens.iter().position(|token| token.line > mark) else {
            continue;
        };
        let range = check(file, first);
        let check = &text[range.clone()];
        let words: Vec<_> = check.split_whitespace().collect();
        let change = format!("`{}` never holds", words.join(" "));
        let edit = match check.starts_with("let ") {
            true => Edit::NeverMatches,
            false => Edit::Never,
        };
        let line = file.tokens[first].line;
        mutants.push(Mutant::new(file, line, range, change, edit));
    }
    mutants
}

/// Returns the place of the check that begins with, or after, the token at `first`.
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

/// Returns the name of the function around a place in the text.
fn function(file: &File, at: usize) -> String {
    let names = file.find(&["fn"]).map(|index| &file.tokens[index + 1]);
    names
        .take_while(|name| name.bytes.start < at)
        .last()
        .map_or_else(String::new, |name| name.text.clone())
}
