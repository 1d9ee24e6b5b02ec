//! Which public items of the facade lack an example in their documentation.
//!
//! The facade re-exports most items from the layers, so those are counted in the layers.

use super::text::File;

/// The packages that the facade re-exports: whole if the list is empty, else the types named
/// here, with their methods, and functions.
const RE_EXPORTED: &[(&str, &[&str])] = &[
    ("raddle", &[]),
    ("raddle-fs", &[]),
    ("raddle-io", &[]),
    ("raddle-net", &[]),
    ("raddle-process", &[]),
    ("raddle-sync", &[]),
    (
        "raddle-coop",
        &[
            "Coop",
            "RestoreOnPending",
            "Unconstrained",
            "consume_budget",
            "cooperative",
            "has_budget_remaining",
            "poll_proceed",
            "unconstrained",
        ],
    ),
    (
        "raddle-dump",
        &["Dump", "State", "TaskDump", "Wake", "WokenBy"],
    ),
    ("raddle-reactor", &["Interest", "Ready"]),
    (
        "raddle-recorder",
        &[
            "Archive",
            "ArchiveOptions",
            "Follower",
            "Options",
            "Recorder",
        ],
    ),
    (
        "raddle-sched",
        &[
            "HistogramConfiguration",
            "Id",
            "InvalidHistogramConfiguration",
            "LogHistogram",
            "LogHistogramBuilder",
            "Policy",
            "TaskMeta",
            "UnhandledPanic",
            "yield_now",
        ],
    ),
    (
        "raddle-task",
        &[
            "AbortHandle",
            "AccessError",
            "Id",
            "JoinError",
            "JoinHandle",
            "LocalEnterGuard",
            "LocalKey",
            "TaskLocalFuture",
            "id",
            "try_id",
        ],
    ),
    (
        "raddle-timer",
        &[
            "Elapsed",
            "Error",
            "Instant",
            "Interval",
            "MissedTickBehavior",
            "Sleep",
            "Timeout",
            "interval",
            "interval_at",
            "sleep",
            "sleep_until",
            "timeout",
            "timeout_at",
        ],
    ),
    (
        "raddle-watchdog",
        &[
            "Frame",
            "Report",
            "ShutdownReport",
            "SlowPoll",
            "StackTrace",
            "WaitingJobs",
            "warn",
        ],
    ),
];

/// Files, and items of files, that need no example, and why.
const EXEMPT: &[(&str, &str)] = &[
    ("crates/io/src/ext/fill_buf.rs", FUTURE),
    ("crates/io/src/ext/flush.rs", FUTURE),
    ("crates/io/src/ext/read.rs", FUTURE),
    ("crates/io/src/ext/read_exact.rs", FUTURE),
    ("crates/io/src/ext/read_int.rs", FUTURE),
    ("crates/io/src/ext/read_into.rs", FUTURE),
    ("crates/io/src/ext/read_line.rs", FUTURE),
    ("crates/io/src/ext/read_to_end.rs", FUTURE),
    ("crates/io/src/ext/read_to_string.rs", FUTURE),
    ("crates/io/src/ext/read_until.rs", FUTURE),
    ("crates/io/src/ext/seek.rs", FUTURE),
    ("crates/io/src/ext/shutdown.rs", FUTURE),
    ("crates/io/src/ext/write.rs", FUTURE),
    ("crates/io/src/ext/write_all.rs", FUTURE),
    ("crates/io/src/ext/write_all_buf.rs", FUTURE),
    ("crates/io/src/ext/write_buf.rs", FUTURE),
    ("crates/io/src/ext/write_int.rs", FUTURE),
    ("crates/io/src/ext/write_vectored.rs", FUTURE),
    ("crates/net/src/addr/lookup.rs", SIGNATURE),
    ("crates/net/src/addr/mod.rs: Sealed", SIGNATURE),
    ("crates/net/src/halves/mod.rs", SIGNATURE),
    (
        "crates/raddle/src/macros/support.rs",
        "called by the code of macros only",
    ),
];
const FUTURE: &str = "the future of an extension method, which has the example";
const SIGNATURE: &str = "public in signatures only, with no path of the facade";

/// Says what lacks an example.
pub(super) fn check<'a>(files: impl IntoIterator<Item = &'a File>) -> Vec<String> {
    files.into_iter().flat_map(lacking).collect()
}

/// The public items of a file without an example.
fn lacking(file: &File) -> Vec<String> {
    let Some((_, names)) = RE_EXPORTED
        .iter()
        .find(|(package, _)| *package == file.package)
    else {
        return Vec::new();
    };
    let path = file.path.display().to_string();
    let is_exempt = |what: &str| EXEMPT.iter().any(|(exempt, _)| *exempt == what);
    if is_exempt(&path)
        || file.is_apart()
        || !file.path.components().any(|part| part.as_os_str() == "src")
    {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut owner = None;
    for (index, line) in file.lines.iter().enumerate() {
        if let Some(of) = owner_of(line) {
            owner = of;
        }
        let Some(name) = item(line, owner.is_some_and(|owner: Owner<'_>| owner.is_trait)) else {
            continue;
        };
        let method = line.starts_with(' ');
        let of = owner.filter(|_| method).map_or(name, |owner| owner.name);
        let unnamed = !names.is_empty() && !names.contains(&of);
        if unnamed || is_exempt(&format!("{path}: {name}")) {
            continue;
        }
        let above = documentation(&file.lines[..index]);
        let settled = [
            "```",
            "doc = example!(",
            "doc(hidden)",
            "#[deprecated",
            "cfg(raddle_loom)",
        ];
        if !above
            .iter()
            .any(|line| settled.iter().any(|text| line.contains(text)))
        {
            findings.push(format!("{path}:{}: `{name}` lacks an example", index + 1));
        }
    }
    findings
}

/// The type or trait to which the following methods belong.
#[derive(Clone, Copy)]
struct Owner<'a> {
    name: &'a str,
    is_trait: bool,
}

/// Whether a line begins the methods of a type or trait, or, as `Some(None)`, ends them.
fn owner_of(line: &str) -> Option<Option<Owner<'_>>> {
    if line == "}" {
        return Some(None);
    }
    if let Some(rest) = line.strip_prefix("pub trait ") {
        return Some(Some(Owner {
            name: word(rest),
            is_trait: true,
        }));
    }
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        // Past the parameters, in which brackets may be nested.
        Some(parameters) => {
            let mut depth = 1_usize;
            let end = parameters.find(|letter| {
                depth = match letter {
                    '<' => depth + 1,
                    '>' => depth - 1,
                    _ => depth,
                };
                depth == 0
            })?;
            &parameters[end + 1..]
        }
        None => rest,
    };
    let path = rest.trim_start();
    Some(Some(Owner {
        name: word(path),
        is_trait: false,
    }))
}

/// The name of the public item that a line declares.
fn item(line: &str, in_trait: bool) -> Option<&str> {
    let mut words = line.trim_start();
    match words.strip_prefix("pub ") {
        Some(rest) => words = rest,
        None if in_trait && line.starts_with("    fn ") => {}
        None => return None,
    }
    for qualifier in ["const ", "async ", "unsafe "] {
        words = words.strip_prefix(qualifier).unwrap_or(words);
    }
    let kinds = ["fn ", "struct ", "enum ", "trait ", "union "];
    let name = kinds.iter().find_map(|kind| words.strip_prefix(kind))?;
    Some(word(name))
}

/// The word that a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The comments and attributes directly above an item, in reverse.
fn documentation(lines: &[String]) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_attribute = false;
    for line in lines.iter().rev().map(|line| line.trim()) {
        let comment = line.starts_with("//");
        let attribute = line.starts_with("#[");
        in_attribute = !attribute && (in_attribute || (!comment && line.ends_with(']')));
        if !(comment || attribute || in_attribute) {
            break;
        }
        found.push(line);
    }
    found
}

#[cfg(test)]
mod tests;
