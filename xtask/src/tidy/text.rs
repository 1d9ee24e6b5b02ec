//! Source files, cut into tokens that remember their lines.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use walkdir::{DirEntry, WalkDir};

use crate::workspace::Package;

/// A file of Rust source.
pub(crate) struct File {
    /// The package it belongs to.
    pub(crate) package: String,
    /// Relative to the root of the workspace.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
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

impl Token {
    fn new(text: impl ToString, span: Span) -> Self {
        Self {
            text: text.to_string(),
            line: span.start().line - 1,
            bytes: span.byte_range(),
        }
    }
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
            text: text.to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
            tokens,
        })
    }

    /// Whether it holds tests, a benchmark or an example rather than the crate.
    pub(crate) fn is_apart(&self) -> bool {
        let apart = ["tests", "tests.rs", "benches", "examples"];
        // `benches/src` is the crate of the benchmarks.
        let mut parts = self.path.iter().skip(1);
        parts.any(|part| apart.iter().any(|apart| part == *apart))
    }

    /// Where the tokens read `pattern`, as indices of its first token.
    pub(crate) fn find<'a>(&'a self, pattern: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
        let windows = self.tokens.windows(pattern.len()).enumerate();
        let found = windows.filter(move |(_, window)| window.iter().map(|it| &it.text).eq(pattern));
        found.map(|(index, _)| index)
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
        let TokenTree::Group(group) = tree else {
            tokens.push(Token::new(&tree, tree.span()));
            continue;
        };
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => ("", ""),
        };
        tokens.push(Token::new(open, group.span_open()));
        flatten(group.stream(), tokens);
        tokens.push(Token::new(close, group.span_close()));
    }
}

/// Every source file of a package.
pub(crate) fn files(root: &Path, package: &Package) -> Result<Vec<File>> {
    let parse = |(path, text): (PathBuf, String)| File::new(&package.name, path, &text);
    sources(root, package)?.into_iter().map(parse).collect()
}

/// The paths of a package's source files, relative to the root, and their texts.
pub(crate) fn sources(root: &Path, package: &Package) -> Result<Vec<(PathBuf, String)>> {
    // A directory with a manifest of its own is another package.
    let is_own = |dir: &Path| !dir.ends_with("target") && !dir.join("Cargo.toml").is_file();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok((path.strip_prefix(root)?.to_owned(), text))
    };
    let paths = walk(&root.join(&package.dir), &["rs"], is_own)?;
    paths.into_iter().map(read).collect()
}

/// The files under `dir` that have one of `extensions`, without the directories that `enters`
/// refuses.
pub(crate) fn walk(
    dir: &Path,
    extensions: &[&str],
    enters: impl Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>> {
    let is_wanted = |entry: &DirEntry| {
        let extension = entry.path().extension();
        match entry.file_type().is_dir() {
            true => entry.depth() == 0 || enters(entry.path()),
            false => extension.is_some_and(|it| extensions.iter().any(|one| it == *one)),
        }
    };
    let mut paths = Vec::new();
    for entry in WalkDir::new(dir).into_iter().filter_entry(is_wanted) {
        let entry = entry?;
        if entry.file_type().is_file() {
            paths.push(entry.into_path());
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests;
