//! The tests that are known to differ, with a reason each.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// The list, relative to the root.
pub(super) const PAGE: &str = "xtask/conformance/accepted.txt";

/// In what a test differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It asks for the text, or the place, of a panic of Tokio's.
    PanicText,
    /// It asks for behaviour of which the documentation says that ours is better.
    Behaviour,
}

#[derive(Debug)]
pub(super) struct Accepted(Vec<(String, Kind)>);

impl Accepted {
    pub(super) fn read(root: &Path) -> Result<Self> {
        Self::parse(&fs::read_to_string(root.join(PAGE)).context(PAGE)?)
    }

    /// Lines `package/file::test | kind | reason`, and comments.
    fn parse(text: &str) -> Result<Self> {
        let mut list: Vec<(String, Kind)> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let at = format!("{PAGE}:{}", index + 1);
            let cells: Vec<_> = line.split('|').map(str::trim).collect();
            let [name, kind, reason] = cells[..] else {
                bail!("{at}: write `package/file::test | kind | reason`");
            };
            let kind = match kind {
                "panic-text" => Kind::PanicText,
                "behaviour" => Kind::Behaviour,
                _ => bail!("{at}: the kind is `panic-text` or `behaviour`"),
            };
            if reason.is_empty() {
                bail!("{at}: give the reason");
            }
            if list.iter().any(|(known, _)| known == name) {
                bail!("{at}: {name} is listed twice");
            }
            list.push((name.to_owned(), kind));
        }
        Ok(Self(list))
    }

    pub(super) fn kind(&self, name: &str) -> Option<Kind> {
        let entry = self.0.iter().find(|(known, _)| known == name);
        entry.map(|(_, kind)| *kind)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_parsed_into_name_and_kind() {
        let text = "# comment\n\ntokio/a::b | panic-text | ours names the cure\n";
        let accepted = Accepted::parse(text).unwrap();
        assert_eq!(accepted.kind("tokio/a::b"), Some(Kind::PanicText));
        assert_eq!(accepted.kind("tokio/a::c"), None);
    }

    #[test]
    fn a_line_without_reason_or_with_another_kind_is_refused() {
        for line in [
            "tokio/a::b | panic-text |",
            "tokio/a::b | flaky | slow",
            "tokio/a::b",
        ] {
            assert!(Accepted::parse(line).is_err(), "{line}");
        }
        let twice = "a/b::c | behaviour | x\na/b::c | behaviour | y";
        assert!(Accepted::parse(twice).is_err());
    }
}
