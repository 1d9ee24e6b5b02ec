//! Source files as tokens with their lines.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use walkdir::{DirEntry, WalkDir};

use crate::workspace::Package;

/// A file of Rust source.
pub(crate) struct File {
    /// The package of the file.
    pub(crate) package: String,
    /// The path relative to the root of the workspace.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) lines: Vec<String>,
    /// Comments are no tokens; a string is a single token.
    pub(crate) tokens: Vec<Token>,
}

/// A token as it is written. A group is replaced by its content and brackets.
pub(crate) struct Token {
    pub(crate) text: String,
    /// Counted from 0.
    pub(crate) line: usize,
    /// The place in the text of the file.
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

    /// Whether it contains tests, a benchmark or an example.
    pub(crate) fn is_apart(&self) -> bool {
        let apart = ["tests", "tests.rs", "benches", "examples"];
        // `benches/src` belongs to the crate of the benchmarks.
        let mut parts = self.path.iter().skip(1);
        parts.any(|part| apart.iter().any(|apart| part == *apart))
    }

    /// Returns the places where the tokens match `pattern`, as indices of the first token.
    pub(crate) fn find<'a>(&'a self, pattern: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
        let windows = self.tokens.windows(pattern.len()).enumerate();
        let found = windows.filter(move |(_, window)| window.iter().map(|it| &it.text).eq(pattern));
        found.map(|(index, _)| index)
    }

    /// Returns the tokens from the bracket at `open` up to the one that closes it, without the
    /// latter. For another token, returns that token.
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

/// Returns every source file of a package.
pub(crate) fn files(root: &Path, package: &Package) -> Result<Vec<File>> {
    let parse = |(path, text): (PathBuf, String)| File::new(&package.name, path, &text);
    sources(root, package)?.into_iter().map(parse).collect()
}

/// Returns the paths of a package's source files, relative to the root, and their texts.
pub(crate) fn sources(root: &Path, package: &Package) -> Result<Vec<(PathBuf, String)>> {
    // A directory with its own manifest is another package.
    let is_own = |dir: &Path| !dir.ends_with("target") && !dir.join("Cargo.toml").is_file();
    let read = |path: PathBuf| Ok((path.strip_prefix(root)?.to_owned(), read(&path)?));
    let paths = walk(&root.join(&package.dir), &["rs"], is_own)?;
    paths.into_iter().map(read).collect()
}

/// Reads a file. An error names its path.
pub(crate) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// Returns the files below `dir` that have one of `extensions`. Skips directories for which
/// `enters` returns false.
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
