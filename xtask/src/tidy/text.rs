//! Source files, cut into tokens that remember their lines.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

use crate::workspace::Package;

/// A file of Rust source.
pub(crate) struct File {
    /// The package it belongs to.
    pub(crate) package: String,
    /// Relative to the root of the workspace.
    pub(crate) path: PathBuf,
    pub(crate) lines: Vec<String>,
    /// Comments are no tokens, and strings are single ones.
    pub(crate) tokens: Vec<Token>,
}

/// A token as it is written, groups opened out into their brackets.
pub(crate) struct Token {
    pub(crate) text: String,
    /// The first line is 0.
    pub(crate) line: usize,
    /// Where it stands in the text of the file.
    pub(crate) bytes: Range<usize>,
}

impl File {
    pub(crate) fn new(package: &str, path: PathBuf, text: &str) -> Result<Self> {
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
    pub(crate) fn is_apart(&self) -> bool {
        let apart = |part: &str| matches!(part, "tests" | "tests.rs" | "benches" | "examples");
        // `benches/src` is the crate of the benchmarks.
        self.path
            .iter()
            .skip(1)
            .any(|part| part.to_str().is_some_and(apart))
    }

    /// Where the tokens read `pattern`, as indices of its first token.
    pub(crate) fn find<'a>(&'a self, pattern: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
        let windows = self.tokens.windows(pattern.len()).enumerate();
        windows.filter_map(move |(index, window)| {
            let same = window
                .iter()
                .zip(pattern)
                .all(|(token, text)| token.text == *text);
            same.then_some(index)
        })
    }

    /// The tokens from the bracket at `open` to before the one that closes it; of
    /// another token, itself.
    pub(crate) fn group(&self, open: usize) -> &[Token] {
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

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let mut push = |text: String, span: Span| {
            tokens.push(Token {
                text,
                line: span.start().line - 1,
                bytes: span.byte_range(),
            });
        };
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                push(open.to_owned(), group.span_open());
                flatten(group.stream(), tokens);
                tokens.push(Token {
                    text: close.to_owned(),
                    line: group.span_close().start().line - 1,
                    bytes: group.span_close().byte_range(),
                });
            }
            other => push(other.to_string(), other.span()),
        }
    }
}

/// Every source file of a package.
pub(crate) fn files(root: &Path, package: &Package) -> Result<Vec<File>> {
    let parse = |(path, text): (PathBuf, String)| File::new(&package.name, path, &text);
    sources(root, package)?.into_iter().map(parse).collect()
}

/// The paths of a package's source files, relative to the root, and their texts.
pub(crate) fn sources(root: &Path, package: &Package) -> Result<Vec<(PathBuf, String)>> {
    let mut paths = Vec::new();
    // A directory with a manifest of its own is another package.
    let is_own = |dir: &Path| !dir.ends_with("target") && !dir.join("Cargo.toml").is_file();
    walk(&root.join(&package.dir), &["rs"], &is_own, &mut paths)?;
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok((path.strip_prefix(root)?.to_owned(), text))
    };
    paths.into_iter().map(read).collect()
}

/// Collects the files under `dir` that have one of `extensions`, without the directories that
/// `enters` refuses.
pub(crate) fn walk(
    dir: &Path,
    extensions: &[&str],
    enters: &dyn Fn(&Path) -> bool,
    paths: &mut Vec<PathBuf>,
) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            if enters(&path) {
                walk(&path, extensions, enters, paths)?;
            }
        } else if path
            .extension()
            .is_some_and(|extension| extensions.iter().any(|one| extension == *one))
        {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
