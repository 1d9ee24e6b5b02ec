//! Which modules of a layer import each other: folders in one direction only, and no
//! more than [`MAX_CIRCLE`] files of one folder in a circle.
//!
//! A file imports another if it names it by a path, or something that is defined
//! there. A `pub use` is no import of the file that has it: who names the item through
//! it imports the file that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::layers;
use super::text::{File, Token};

/// How many files may import each other in a circle, within one folder.
const MAX_CIRCLE: usize = 3;

/// A circle that is there on purpose.
struct Known {
    package: &'static str,
    /// Files or folders; a circle may have fewer.
    modules: &'static [&'static str],
    /// For the reader of this table.
    _reason: &'static str,
}

const KNOWN: &[Known] = &[
    Known {
        package: "raddle-io",
        modules: &["read_buf", "traits"],
        _reason: "a read takes a `ReadBuf`, and the guard that fills one ends by a read",
    },
    Known {
        package: "raddle-io",
        modules: &["ext", "util"],
        _reason: "copying is made of the futures of extension methods, which share its buffers",
    },
    Known {
        package: "raddle-net",
        modules: &[
            "async_fd",
            "evented",
            "halves",
            "sys",
            "tcp",
            "unix",
            "unix/datagram",
        ],
        _reason: "all unsafe code is in one folder, which names the types that it converts",
    },
    Known {
        package: "raddle-task",
        modules: &[
            "cell",
            "current",
            "live",
            "live/page",
            "live/pages",
            "live/word",
            "run",
            "runnable",
            "waker",
        ],
        _reason: "the vtable of a cell runs it, and running it hands out wakers with that vtable",
    },
    Known {
        package: "raddle-timer",
        modules: &[
            "clock", "driver", "entry", "handle", "instant", "shard", "shared", "timers", "wheel",
        ],
        _reason: "an entry lies in the wheel of its shard, and names both to leave it when dropped",
    },
    Known {
        package: "raddle-primitives",
        modules: &[
            "count",
            "counting",
            "counting/atomic",
            "counting/tag",
            "named",
        ],
        _reason: "the counting build names the words that it counts by a counted word",
    },
];

/// The modules of a package, by their paths below `src`.
#[derive(Default)]
struct Modules<'a> {
    files: BTreeMap<Vec<String>, &'a File>,
    /// What a module exports that another defines.
    exports: BTreeMap<Vec<String>, BTreeMap<String, Vec<String>>>,
    /// The paths that a module names, from the root.
    named: BTreeMap<Vec<String>, Vec<Vec<String>>>,
}

/// Applies the rule to the files of one package.
pub(super) fn check(package: &str, files: &[File]) -> Vec<String> {
    if !layers::is_layer(package) {
        return Vec::new();
    }
    let modules = Modules::of(files);
    let imports = modules.imports();
    let folders = between_folders(&modules, &imports);
    let mut found = Vec::new();
    for circle in circles(&imports) {
        if circle.len() > MAX_CIRCLE || !in_one_folder(&circle) {
            found.push(circle);
        }
    }
    found.extend(circles(&folders));
    findings(package, &found)
}

fn findings(package: &str, found: &[BTreeSet<Vec<String>>]) -> Vec<String> {
    let named: Vec<BTreeSet<String>> = found
        .iter()
        .map(|circle| circle.iter().map(|module| module.join("/")).collect())
        .collect();
    let covers = |known: &Known, circle: &BTreeSet<String>| {
        known.package == package
            && circle
                .iter()
                .all(|module| known.modules.contains(&module.as_str()))
    };
    let unknown = named
        .iter()
        .filter(|circle| !KNOWN.iter().any(|known| covers(known, circle)))
        .map(|circle| {
            let modules: Vec<_> = circle.iter().map(String::as_str).collect();
            format!(
                "{package}: these import each other in a circle: {}",
                modules.join(", ")
            )
        });
    let gone = KNOWN
        .iter()
        .filter(|known| known.package == package)
        .filter(|known| !named.iter().any(|circle| covers(known, circle)))
        .map(|known| {
            format!(
                "{package}: the circle of {} is gone; take it out of xtask/src/tidy/imports.rs",
                known.modules.join(", ")
            )
        });
    unknown.chain(gone).collect()
}

impl<'a> Modules<'a> {
    fn of(files: &'a [File]) -> Self {
        let mut modules = Self::default();
        for file in files {
            if let Some(path) = module_path(&file.path).filter(|_| !file.is_apart()) {
                modules.files.insert(path, file);
            }
        }
        for (module, file) in &modules.files {
            let mut exports = BTreeMap::new();
            let mut named = Vec::new();
            for (is_export, path) in paths(&file.tokens) {
                let Some(path) = modules.absolute(module, &path) else {
                    continue;
                };
                match path.last() {
                    Some(name) if is_export => {
                        exports.insert(name.clone(), path);
                    }
                    _ => named.push(path),
                }
            }
            modules.exports.insert(module.clone(), exports);
            modules.named.insert(module.clone(), named);
        }
        modules
    }

    /// The path from the root of the package, if it does not leave that.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let mut base = match first.as_str() {
            "crate" => return Some(rest.to_vec()),
            "self" => return Some([module, rest].concat()),
            "super" => module.split_last()?.1.to_vec(),
            _ => {
                let inner = [module, std::slice::from_ref(first)].concat();
                return self
                    .files
                    .contains_key(&inner)
                    .then(|| [module, path].concat());
            }
        };
        let mut rest = rest;
        while rest.first().is_some_and(|part| part == "super") {
            base.pop()?;
            rest = &rest[1..];
        }
        Some([&base[..], rest].concat())
    }

    /// The module that defines what a path names.
    fn resolve(&self, path: &[String], depth: usize) -> Option<Vec<String>> {
        let length = (0..=path.len())
            .rev()
            .find(|length| self.files.contains_key(&path[..*length]) || *length == 0)?;
        let (module, rest) = path.split_at(length);
        let exports = self.exports.get(module);
        if let (Some(exports), Some(name)) = (exports, rest.first())
            && depth < 8
        {
            if let Some(origin) = exports.get(name) {
                return self.resolve(&[&origin[..], &rest[1..]].concat(), depth + 1);
            }
            if let Some(glob) = exports.get("*") {
                return self.resolve(&glob[..glob.len() - 1], depth + 1);
            }
        }
        (!module.is_empty()).then(|| module.to_vec())
    }

    fn imports(&self) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
        let import = |(module, named): (&Vec<String>, &Vec<Vec<String>>)| {
            let used = named.iter().filter_map(|path| self.resolve(path, 0));
            let used = used.filter(|used| used != module).collect();
            (module.clone(), used)
        };
        let inner = self.named.iter().filter(|(module, _)| !module.is_empty());
        inner.map(import).collect()
    }

    /// The folder that a module is in, with the file that has its name; none for a file
    /// directly in `src`.
    fn folder(&self, module: &[String]) -> Option<Vec<String>> {
        let has_inner = |folder: &[String]| {
            let mut inner = self.files.keys();
            inner.any(|file| file.len() > folder.len() && file.starts_with(folder))
        };
        match module {
            [_] => has_inner(module).then(|| module.to_vec()),
            [outer @ .., _] => Some(match has_inner(module) {
                true => module.to_vec(),
                false => outer.to_vec(),
            }),
            [] => None,
        }
    }
}

/// The module that a file is: empty for the root.
fn module_path(file: &Path) -> Option<Vec<String>> {
    let parts: Vec<_> = file.iter().filter_map(|part| part.to_str()).collect();
    let [_, _, "src", inner @ ..] = parts.as_slice() else {
        return None;
    };
    let mut module: Vec<String> = inner.iter().map(|part| (*part).to_owned()).collect();
    let last = module.pop()?;
    match last.strip_suffix(".rs")? {
        "lib" | "mod" => {}
        name => module.push(name.to_owned()),
    }
    Some(module)
}

/// The imports of folders by folders.
fn between_folders(
    modules: &Modules<'_>,
    imports: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>,
) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let mut folders = BTreeMap::<_, BTreeSet<_>>::new();
    for (module, used) in imports {
        let Some(from) = modules.folder(module) else {
            continue;
        };
        let into = used.iter().filter_map(|used| modules.folder(used));
        // What a folder and one within it share is one subject.
        let others = into.filter(|into| !into.starts_with(&from) && !from.starts_with(into));
        folders.entry(from.clone()).or_default().extend(others);
    }
    folders
}

/// Whether all are in one folder, or in one file and the folder of its name.
fn in_one_folder(circle: &BTreeSet<Vec<String>>) -> bool {
    let outer = |module: &Vec<String>| module[..module.len() - 1].to_vec();
    let folders: BTreeSet<_> = circle.iter().map(outer).collect();
    let first = |module: &Vec<String>| module[0].clone();
    let subjects: BTreeSet<_> = circle.iter().map(first).collect();
    folders.len() == 1 || subjects.len() == 1
}

/// The sets of at least two that reach each other.
fn circles(edges: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>) -> Vec<BTreeSet<Vec<String>>> {
    let reached: BTreeMap<_, _> = edges
        .keys()
        .map(|from| {
            let mut reached = BTreeSet::new();
            let mut next = vec![from];
            while let Some(at) = next.pop() {
                for to in edges.get(at).into_iter().flatten() {
                    if reached.insert(to) {
                        next.push(to);
                    }
                }
            }
            (from, reached)
        })
        .collect();
    let mut found = BTreeSet::new();
    for (from, reached_from) in &reached {
        let back = |to: &&Vec<String>| {
            let reached_to = reached.get(*to);
            reached_to.is_some_and(|reached| reached.contains(*from))
        };
        let circle: BTreeSet<_> = reached_from.iter().copied().filter(back).cloned().collect();
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

/// The paths that a file names, and whether it exports what they name.
fn paths(tokens: &[Token]) -> Vec<(bool, Vec<String>)> {
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text.as_str());
    let mut found = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        if text(index) == "use" {
            let before = index.checked_sub(1).map_or("", text);
            let is_export = before == "pub" || before == ")";
            let mut trees = Vec::new();
            index = use_tree(tokens, index + 1, &[], &mut trees);
            found.extend(trees.into_iter().map(|path| (is_export, path)));
            continue;
        }
        let follows_path = index >= 2 && text(index - 1) == ":" && text(index - 2) == ":";
        let mut path = vec![text(index).to_owned()];
        while !follows_path && is_path(tokens, index + 1) && is_name(text(index + 3)) {
            index += 3;
            path.push(text(index).to_owned());
        }
        if path.len() > 1 {
            found.push((false, path));
        }
        index += 1;
    }
    found
}

fn is_path(tokens: &[Token], index: usize) -> bool {
    let colon = |index: usize| tokens.get(index).is_some_and(|token| token.text == ":");
    colon(index) && colon(index + 1)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Reads what follows a `use`, and returns where it ends.
fn use_tree(
    tokens: &[Token],
    mut index: usize,
    outer: &[String],
    found: &mut Vec<Vec<String>>,
) -> usize {
    let mut path = outer.to_vec();
    while let Some(token) = tokens.get(index) {
        match token.text.as_str() {
            "{" => {
                index += 1;
                while tokens.get(index).is_some_and(|token| token.text != "}") {
                    index = use_tree(tokens, index, &path, found);
                    if tokens.get(index).is_some_and(|token| token.text == ",") {
                        index += 1;
                    }
                }
                return index + 1;
            }
            name => {
                path.push(name.to_owned());
                index += 1;
                if is_path(tokens, index) {
                    index += 2;
                    continue;
                }
                if tokens.get(index).is_some_and(|token| token.text == "as") {
                    index += 2;
                }
                // `{self}` names the module itself.
                path.pop_if(|last| last == "self");
                found.push(path);
                return index;
            }
        }
    }
    index
}

#[cfg(test)]
mod tests;
