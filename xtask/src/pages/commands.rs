//! Finds the commands in the pages and in the documentation of the source.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::Result;
use regex::Regex;

use crate::tidy::text;

/// A command, as a reader would type it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The page, relative to the root.
    pub(crate) page: PathBuf,
    /// The number of its first line.
    pub(crate) line: usize,
    /// The variables that precede the program.
    pub(crate) variables: Vec<(String, String)>,
    /// The program and its arguments, up to a pipe or a redirection.
    pub(crate) words: Vec<String>,
}

impl Shown {
    pub(crate) fn text(&self) -> String {
        self.words.join(" ")
    }
}

/// The languages of blocks whose lines are commands.
const SHELLS: [&str; 4] = ["sh", "bash", "shell", "console"];

/// Code in a line or over lines of prose.
static INLINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"`([^`]+)`").expect("a valid pattern"));

static VARIABLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[A-Za-z_][A-Za-z0-9_]*=").expect("a valid pattern"));

/// Returns the Markdown files and the source files below the root, relative to it.
pub(crate) fn pages(root: &Path) -> Result<Vec<PathBuf>> {
    let is_own = |dir: &Path| {
        let hidden = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with('.');
        !dir.ends_with("target") && !dir.file_name().is_some_and(hidden)
    };
    let paths = text::walk(root, &["md", "rs"], is_own)?;
    Ok(paths
        .into_iter()
        .filter_map(|path| Some(path.strip_prefix(root).ok()?.to_owned()))
        .collect())
}

/// Returns the prose of a file, line by line: all of a page, and the documentation in source.
/// Other lines are empty, so that numbers of lines stay right.
pub(crate) fn prose(page: &Path, text: &str) -> Vec<String> {
    let is_page = page.extension().is_some_and(|it| it == "md");
    let documentation = |line: &str| {
        let line = line.trim_start();
        let rest = line
            .strip_prefix("//!")
            .or_else(|| line.strip_prefix("///"));
        rest.map(|rest| rest.strip_prefix(' ').unwrap_or(rest).to_owned())
    };
    let lines = text.lines();
    match is_page {
        true => lines.map(str::to_owned).collect(),
        false => lines
            .map(|line| documentation(line).unwrap_or_default())
            .collect(),
    }
}

/// The blocks of a text: the language, the number of the first line, and the lines.
pub(crate) fn blocks(lines: &[String]) -> Vec<(String, usize, &[String])> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, usize)> = None;
    for (index, line) in lines.iter().enumerate() {
        let Some(info) = line.trim_start().strip_prefix("```") else {
            continue;
        };
        open = match open {
            Some((language, first)) => {
                blocks.push((language, first + 1, &lines[first..index]));
                None
            }
            None => Some((info.trim().to_owned(), index + 1)),
        };
    }
    blocks
}

/// Returns the commands of a page.
pub(crate) fn find(page: &Path, text: &str) -> Vec<Shown> {
    let mut lines = prose(page, text);
    let mut found = Vec::new();
    let mut fenced = Vec::new();
    for (language, first, block) in blocks(&lines) {
        fenced.push(first - 1..first + block.len() + 1);
        if SHELLS.contains(&language.as_str()) {
            let is_console = language == "console";
            found.extend(of_block(page, first, block, is_console));
        }
    }
    for index in fenced.into_iter().flatten() {
        if let Some(line) = lines.get_mut(index - 1) {
            line.clear();
        }
    }
    let prose = lines.join("\n");
    for code in INLINE.captures_iter(&prose) {
        let whole = code.get(0).map_or(0, |it| it.start());
        let line = prose[..whole].matches('\n').count() + 1;
        let shown = parse(page, line, &code[1]);
        let is_command = |it: &Shown| {
            let program = it.words.first().map(String::as_str);
            program == Some("cargo") && it.words.len() > 1
        };
        found.extend(shown.filter(is_command));
    }
    found
}

/// Returns the commands of a block. A backslash joins lines; `$x` is replaced by what the block
/// assigns to `x`.
fn of_block(page: &Path, first: usize, block: &[String], is_console: bool) -> Vec<Shown> {
    let mut found = Vec::new();
    let mut assigned: Vec<(String, String)> = Vec::new();
    let mut joined = String::new();
    let mut start = first;
    for (number, line) in (first..).zip(block) {
        if joined.is_empty() {
            start = number;
        }
        let line = match (is_console, line.strip_prefix("$ ")) {
            (true, None) => continue,
            (true, Some(command)) => command,
            (false, _) => line,
        };
        if let Some(begun) = line.strip_suffix('\\') {
            joined += begun;
            continue;
        }
        joined += line;
        for (name, value) in &assigned {
            joined = joined.replace(&format!("${name}"), value);
        }
        if let Some(shown) = parse(page, start, &joined) {
            match shown.words.is_empty() {
                true => assigned.extend(shown.variables),
                false => found.push(shown),
            }
        }
        joined.clear();
    }
    found
}

/// Parses a command line. `None` if it is empty or a comment.
fn parse(page: &Path, line: usize, text: &str) -> Option<Shown> {
    let mut words = words(text);
    let end = words
        .iter()
        .position(|word| ["|", ">", "&", "&&", ";"].contains(&word.as_str()));
    words.truncate(end.unwrap_or(words.len()));
    let count = words.iter().take_while(|it| VARIABLE.is_match(it)).count();
    let variables = words.drain(..count);
    let variables = variables.filter_map(|it| {
        let (name, value) = it.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    });
    let variables: Vec<_> = variables.collect();
    (!words.is_empty() || !variables.is_empty()).then(|| Shown {
        page: page.to_owned(),
        line,
        variables,
        words,
    })
}

/// Splits a line as a shell does, without its comment.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}
