//! Checks that the lists of the test `api` name all types and futures.

use anyhow::Result;

use super::docs::Items;
use super::is_absent;
use crate::tidy::text;
use crate::workspace;

/// The directory of the lists, relative to the root.
const FOLDER: &str = "xtask/proof/tests/api";

/// Types that have another path in the lists.
const ELSEWHERE: [&str; 1] = ["task::join_set::JoinSet"];

/// Methods of extension traits that return a type instead of a future.
const GIVE_TYPES: [&str; 5] = ["chain", "consume", "lines", "split", "take"];

/// Returns the items that the lists lack.
pub(super) fn check(tokio: &Items) -> Result<Vec<String>> {
    let read = |name: &str| text::read(&workspace::root().join(FOLDER).join(name));
    let types = Entries::new(&read("types.rs")?);
    let futures = Entries::new(&read("futures.rs")?);
    let mut findings = Vec::new();
    let mut expect = |path: &str, is_listed: bool| {
        if !is_listed && !is_absent(path) {
            findings.push(format!("{path} is not in the lists of {FOLDER}"));
        }
    };
    for (path, item) in tokio {
        if ELSEWHERE.contains(&path.as_str()) {
            continue;
        }
        match item.kind.as_str() {
            "struct" | "enum" | "union" => expect(path, types.has(path)),
            "function" if item.is_future => expect(path, futures.calls(path)),
            _ => {}
        }
        let is_extension = item.kind == "trait" && path.ends_with("Ext");
        for (member, is_future) in &item.members {
            let is_listed = match is_extension {
                true => GIVE_TYPES.contains(&member.as_str()) || futures.calls_on("Stream", member),
                false => !is_future || futures.calls_on(path, member),
            };
            expect(&format!("{path}::{member}"), is_listed);
        }
    }
    Ok(findings)
}

/// The entries of a list, without whitespace and comments.
struct Entries(Vec<String>);

impl Entries {
    fn new(text: &str) -> Self {
        let code = text.lines().flat_map(|line| line.split("//").take(1));
        let code = String::from_iter(code.flat_map(str::split_whitespace));
        Self(code.split([';', '{', '}']).map(str::to_owned).collect())
    }

    fn has(&self, path: &str) -> bool {
        self.0.iter().any(|entry| is_of(entry, path))
    }

    /// Whether the list calls a function.
    fn calls(&self, path: &str) -> bool {
        let call = format!("{path}(");
        self.0.iter().any(|entry| entry.starts_with(&call))
    }

    /// Whether the list calls a method or a function of a type.
    fn calls_on(&self, path: &str, method: &str) -> bool {
        let call = format!(",{method}(");
        let mut lists = self.0.iter().filter_map(|entry| entry.split_once("=>"));
        self.calls(&format!("{path}::{method}"))
            || lists.any(|(receiver, calls)| {
                let receiver = receiver.strip_prefix("Arc<").unwrap_or(receiver);
                is_of(receiver, path) && format!(",{calls}").contains(&call)
            })
    }
}

/// Whether an entry or a receiver belongs to a type.
fn is_of(entry: &str, path: &str) -> bool {
    let entry = entry.strip_prefix("&'static").unwrap_or(entry);
    let entry = entry.strip_prefix("mut").unwrap_or(entry);
    let rest = entry.strip_prefix(path);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['<', '>']))
}
