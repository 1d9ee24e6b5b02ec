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
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::tidy::text::File;

/// A change of one file.
#[derive(Clone, Debug)]
pub(super) struct Mutant {
    pub(super) path: PathBuf,
    pub(super) package: String,
    /// The function that contains it.
    function: String,
    /// The line, counted from 1 as in an editor.
    pub(super) line: usize,
    /// The change in words: `AcqRel to Acquire`.
    change: String,
    /// A key that distinguishes it from all others, and does not change when lines are added above
    /// it.
    pub(super) key: String,
    range: Range<usize>,
    edit: Edit,
}

/// The texts before and after the original, where `ON` stands for "the mutant is on".
type Edit = (String, &'static str);

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        write!(f, "{path}:{} {}: {}", self.line, self.function, self.change)
    }
}

/// Returns the text of a file with all its mutants, each behind the switch with its number.
pub(super) fn instrument(text: &str, mutants: &[(usize, &Mutant)]) -> String {
    // A mutant may be inside a longer one.
    let mut inner_first = mutants.to_vec();
    inner_first.sort_by_key(|(_, mutant)| mutant.range.len());
    // What is added at a place: first the ends of mutants, then the beginnings of others.
    let mut added = BTreeMap::<usize, [String; 2]>::new();
    for (id, Mutant { range, edit, .. }) in inner_first {
        let before = edit.0.replace("ON", &format!("::mutant_switch::on({id})"));
        added.entry(range.start).or_default()[1].insert_str(0, &before);
        added.entry(range.end).or_default()[0].push_str(edit.1);
    }
    let mut text = text.to_owned();
    for (place, added) in added.into_iter().rev() {
        text.insert_str(place, &added.concat());
    }
    text
}

static COMMENT: LazyLock<Regex> = LazyLock::new(|| regex("//.*"));
static ORDERING: LazyLock<Regex> = LazyLock::new(|| regex(r"\bOrdering::(\w+)"));
static FENCE: LazyLock<Regex> = LazyLock::new(|| regex(r"\bfence\([^()]*\)"));
static FUNCTION: LazyLock<Regex> = LazyLock::new(|| regex(r"\bfn (\w+)"));

/// The line above a check before sleep.
static CHECK: LazyLock<Regex> = LazyLock::new(|| regex("(?m)^ *// CHECK:"));

/// A line that a file with mutants has: an argued ordering, as the files without locks have, or a
/// check.
static MARK: LazyLock<Regex> = LazyLock::new(|| regex("(?m)^ *// (ORDERING|CHECK):"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

/// Returns a mutant for each ordering, fence and check of a file.
pub(super) fn of(file: &File) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    if !file.is_of_library() || !MARK.is_match(&file.text) {
        return mutants;
    }
    // Blanks in place of comments keep the places of everything else.
    let blanks = |comment: &Captures<'_>| " ".repeat(comment[0].len());
    let code = COMMENT.replace_all(&file.text, blanks);
    let mut add = |range: Range<usize>, change: String, edit: Edit| {
        let before = &code[..range.start];
        let function = FUNCTION.captures_iter(before).last();
        let function = function.map_or_else(String::new, |function| function[1].to_owned());
        let line = before.matches('\n').count();
        let source = file.text.lines().nth(line).unwrap_or_default().trim();
        mutants.push(Mutant {
            key: format!("{}|{function}|{change}|{source}", file.path.display()),
            path: file.path.clone(),
            package: file.package.clone(),
            function,
            line: line + 1,
            change,
            range,
            edit,
        });
    };
    let instead = |other: &str| (format!("(if ON {{ {other} }} else {{ "), " })");
    for found in ORDERING.captures_iter(&code) {
        let place = found.get_match().range();
        for weaker in weaker(&found[1], callee(&code[..place.start])) {
            let change = format!("{} to {weaker}", &found[1]);
            add(
                place.clone(),
                change,
                instead(&format!("Ordering::{weaker}")),
            );
        }
    }
    for fence in FENCE.find_iter(&code) {
        add(fence.range(), "fence removed".to_owned(), instead("()"));
    }
    for mark in CHECK.find_iter(&file.text) {
        let range = check(&code, mark.end());
        let words = Vec::from_iter(code[range.clone()].split_whitespace()).join(" ");
        // A condition with `let` cannot be in parentheses, and its names are used after it.
        let edit = match words.starts_with("let ") {
            true => ("!ON && ".to_owned(), ""),
            false => ("(!ON && (".to_owned(), "))"),
        };
        add(range, format!("`{words}` never holds"), edit);
    }
    mutants.sort_by_key(|mutant| mutant.range.start);
    let mut like = BTreeMap::new();
    for mutant in &mut mutants {
        let before = like.entry(mutant.key.clone()).or_insert(0);
        *before += 1;
        mutant.key += &format!("|{before}");
    }
    mutants
}

/// Returns the next weaker orderings that the called operation accepts.
fn weaker(ordering: &str, callee: &str) -> &'static [&'static str] {
    match (ordering, callee) {
        ("SeqCst", "load") => &["Acquire"],
        ("SeqCst", "store") => &["Release"],
        ("SeqCst", _) => &["AcqRel"],
        // A fence must not be relaxed: it is removed instead.
        (_, "fence") => &[],
        ("AcqRel", _) => &["Acquire", "Release"],
        ("Acquire" | "Release", _) => &["Relaxed"],
        _ => &[],
    }
}

/// Returns the function whose arguments begin in `code` and do not end there.
fn callee(code: &str) -> &str {
    let mut depth = 0_usize;
    let open = code.rfind(|letter| {
        match letter {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth == 0 => return true,
            '(' | '[' | '{' => depth -= 1,
            _ => {}
        }
        false
    });
    let before = &code[..open.unwrap_or(0)];
    before
        .rsplit(|letter: char| letter != '_' && !letter.is_alphanumeric())
        .next()
        .unwrap_or("")
}

/// Returns the place of the check that begins after `start`.
fn check(code: &str, start: usize) -> Range<usize> {
    let mut rest = code[start..].trim_start();
    for word in ["if ", "while ", "|| ", "&& "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let start = code.len() - rest.len();
    let has_pattern = rest.starts_with("let ");
    let mut depth = 0_usize;
    let mut letters = rest.char_indices();
    let end = letters.find(|&(place, letter)| {
        let is_operator = ["||", "&&"].iter().any(|it| rest[place..].starts_with(it));
        match letter {
            '{' | '}' | ')' | ']' | ';' | ',' if depth == 0 => return true,
            '|' | '&' if depth == 0 => return is_operator && !has_pattern,
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        false
    });
    let check = &rest[..end.map_or(rest.len(), |(place, _)| place)];
    start..start + check.trim_end().len()
}
