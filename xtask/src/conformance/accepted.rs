//! The tests that are known to differ, each with a reason.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context as _, Result, bail, ensure};

use crate::workspace;

/// The list, relative to the root.
pub(super) const PAGE: &str = "xtask/conformance/accepted.txt";

/// How a test differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It expects the text, or the location, of a panic of Tokio.
    PanicText,
    /// It expects a behaviour of Tokio; the documentation says why Raddle's is better.
    Behaviour,
    /// It needs a user with fewer rights than root: it fails as root on Tokio too.
    Root,
}

/// The tests of the list.
pub(super) fn read() -> Result<BTreeMap<String, Kind>> {
    let path = workspace::root().join(PAGE);
    parse(&fs::read_to_string(path).context(PAGE)?)
}

/// Lines `package/file::test | kind | reason`, and comments.
fn parse(text: &str) -> Result<BTreeMap<String, Kind>> {
    let mut accepted = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let at = format!("{PAGE}:{number}");
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let (name, kind) = match cells[..] {
            [_, _, ""] => bail!("{at}: give the reason"),
            [name, "panic-text", _] => (name, Kind::PanicText),
            [name, "behaviour", _] => (name, Kind::Behaviour),
            [name, "root", _] => (name, Kind::Root),
            _ => bail!("{at}: write `package/file::test | panic-text, behaviour or root | reason`"),
        };
        let before = accepted.insert(name.to_owned(), kind);
        ensure!(before.is_none(), "{at}: {name} is listed twice");
    }
    Ok(accepted)
}
