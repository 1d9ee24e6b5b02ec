//! Source files, cut into tokens that remember their lines.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::workspace::Package;

/// A file of Rust source.
pub(super) struct File {
    /// The package it belongs to.
    pub(super) package: String,
    /// Relative to the root of the workspace.
    pub(super) path: PathBuf,
    pub(super) lines: Vec<String>,
    /// Comments are no tokens, and strings are single ones.
    pub(super) tokens: Vec<Token>,
}

/// A token as it is written, groups opened out into their brackets.
pub(super) struct Token {
    pub(super) text: String,
    /// The first line is 0.
    pub(super) line: usize,
}

impl File {
    pub(super) fn new(package: &str, path: PathBuf, text: &str) -> Result<Self> {
        let stream: TokenStream = text
            .parse()
            .map_err(|error| anyhow!("{}: {error}", path.display()))?;
        let mut tokens = Vec::new();
        flatten(stream, &mut tokens);
        Ok(Self {
            package: package.to_owned(),
            path,
            lines: text.lines().map(str::to_owned).collect(),
            tokens,
        })
    }

    /// Whether it holds tests, a benchmark or an example rather than the crate.
    pub(super) fn is_apart(&self) -> bool {
        let apart = |part: &str| matches!(part, "tests" | "tests.rs" | "benches" | "examples");
        // `benches/src` is the crate of the benchmarks.
        self.path
            .iter()
            .skip(1)
            .any(|part| part.to_str().is_some_and(apart))
    }

    /// Where the tokens read `pattern`, as indices of its first token.
    pub(super) fn find<'a>(&'a self, pattern: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
        let windows = self.tokens.windows(pattern.len()).enumerate();
        windows.filter_map(move |(index, window)| {
            let same = window
                .iter()
                .zip(pattern)
                .all(|(token, text)| token.text == *text);
            same.then_some(index)
        })
    }

    /// Where the statement, match arm or item around the token at `index` begins.
    pub(super) fn statement(&self, index: usize) -> usize {
        let text = |index: usize| self.tokens[index].text.as_str();
        let mut depth = 0_usize;
        // Behind a comma, which separates within braces only.
        let mut after_comma = None;
        for before in (0..index).rev() {
            let closes = matches!(text(before), ")" | "]" | "}");
            if depth == 0 {
                match text(before) {
                    ";" => return before + 1,
                    "{" => return after_comma.unwrap_or(before + 1),
                    "(" | "[" => after_comma = None,
                    "," => after_comma = after_comma.or(Some(before + 1)),
                    // What goes on after a brace does so with punctuation.
                    "}" if starts_anew(text(before + 1)) => return before + 1,
                    _ => {}
                }
            } else if matches!(text(before), "(" | "[" | "{") {
                depth -= 1;
            }
            if closes {
                depth += 1;
            }
        }
        0
    }

    /// The tokens from the bracket at `open` to before the one that closes it; of
    /// another token, itself.
    pub(super) fn group(&self, open: usize) -> &[Token] {
        let mut depth = 0_usize;
        let rest = &self.tokens[open..];
        for (length, token) in rest.iter().enumerate() {
            match token.text.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return &rest[..length.max(1)];
            }
        }
        rest
    }
}

/// Whether a token after a closing brace begins another statement.
fn starts_anew(token: &str) -> bool {
    let word = token.starts_with(|first: char| first.is_alphanumeric() || first == '_');
    word && !matches!(token, "as" | "else") || token == "#"
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line - 1;
        let mut push = |text: String, line| tokens.push(Token { text, line });
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                let last = group.span_close().start().line - 1;
                push(open.to_owned(), line);
                flatten(group.stream(), tokens);
                tokens.push(Token {
                    text: close.to_owned(),
                    line: last,
                });
            }
            other => push(other.to_string(), line),
        }
    }
}

/// Every source file of a package.
pub(super) fn files(root: &Path, package: &Package) -> Result<Vec<File>> {
    let mut paths = Vec::new();
    walk(&root.join(&package.dir), &mut paths)?;
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let relative = path.strip_prefix(root)?.to_owned();
        File::new(&package.name, relative, &text)
    };
    paths.into_iter().map(read).collect()
}

fn walk(dir: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            // What lies within, with a manifest of its own, is another package.
            if path.ends_with("target") || path.join("Cargo.toml").is_file() {
                continue;
            }
            walk(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
