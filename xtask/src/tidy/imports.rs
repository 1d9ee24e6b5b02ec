//! Which modules of a layer import each other: folders only in one direction, and at most
//! [`MAX_CIRCLE`] files of one folder in a circle.
//!
//! A file imports another if it names that file, or an item that is defined there, by a path. A
//! `pub use` is not an import of the file that contains it: a file that names an item through it
//! imports the file that defines the item.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::path::Path;

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use super::layers;
use super::text::{File, Token};

/// The largest number of files of one folder that may import each other in a circle.
const MAX_CIRCLE: usize = 3;

/// The deliberate circles: a package, and files or folders. A circle may have fewer of them.
#[rustfmt::skip]
const KNOWN: &[(&str, &[&str])] = &[
    // A read takes a `ReadBuf`, and the guard that fills one ends with a read.
    ("raddle-io", &["read_buf", "traits"]),
    // Copying uses the futures of extension methods, which share its buffers.
    ("raddle-io", &["ext", "util"]),
    // All unsafe code is in one folder, which names the types that it converts.
    ("raddle-net", &["async_fd", "evented", "halves", "sys", "tcp", "unix", "unix/datagram"]),
    // The vtable of a cell runs the cell, and running it creates wakers with that vtable.
    ("raddle-task", &["cell", "current", "live", "live/page", "live/pages", "live/word", "run", "runnable", "waker"]),
    // An entry is in the wheel of its shard, and names both to leave the wheel when it is dropped.
    ("raddle-timer", &["clock", "driver", "entry", "handle", "instant", "shard", "shared", "timers", "wheel"]),
    // The counting build counts the words, and itself uses a counted word.
    ("raddle-primitives", &["count", "counting", "counting/atomic", "counting/tag", "named"]),
];

/// The path of a module or an item, from the root of a package.
type Route = Vec<String>;
/// Modules or folders, and what each imports.
type Imports = BTreeMap<Route, BTreeSet<Route>>;

/// The modules of a package.
#[derive(Default)]
struct Modules<'a> {
    files: BTreeMap<Route, &'a File>,
    /// The items that a module exports and another defines.
    exports: BTreeMap<Route, BTreeMap<String, Route>>,
    /// The paths that a module names.
    named: BTreeMap<Route, Vec<Route>>,
}

/// Applies the rule to the files of one package.
pub(super) fn check(package: &str, files: &[File]) -> Vec<String> {
    if !layers::is_layer(package) {
        return Vec::new();
    }
    let modules = Modules::of(files);
    let imports = modules.imports();
    let mut found = circles(&imports);
    found.retain(|circle| circle.len() > MAX_CIRCLE || !in_one_folder(circle));
    found.extend(circles(&modules.between_folders(&imports)));
    findings(package, &found)
}

fn findings(package: &str, found: &[BTreeSet<Route>]) -> Vec<String> {
    let names = |circle: &BTreeSet<Route>| Vec::from_iter(circle.iter().map(|it| it.join("/")));
    let found: Vec<_> = found.iter().map(names).collect();
    let known = KNOWN.iter().filter(|(of, _)| *of == package);
    let known: Vec<_> = known.map(|(_, modules)| *modules).collect();
    let covers = |known: &[&str], circle: &[String]| {
        let mut modules = circle.iter();
        modules.all(|module| known.contains(&module.as_str()))
    };
    let mut findings = Vec::new();
    let mut object = |what: String| findings.push(format!("{package}: {what}"));
    for circle in &found {
        if !known.iter().any(|known| covers(known, circle)) {
            let modules = circle.join(", ");
            object(format!("these import each other in a circle: {modules}"));
        }
    }
    for known in known {
        if !found.iter().any(|circle| covers(known, circle)) {
            let modules = known.join(", ");
            let cure = "take it out of xtask/src/tidy/imports.rs";
            object(format!("the circle of {modules} is gone; {cure}"));
        }
    }
    findings
}

impl<'a> Modules<'a> {
    fn of(files: &'a [File]) -> Self {
        let mut modules = Self::default();
        for file in files.iter().filter(|file| !file.is_apart()) {
            let path = module(&file.path);
            modules.files.extend(path.map(|path| (path, file)));
        }
        for (module, file) in &modules.files {
            let mut exports = BTreeMap::new();
            let mut named = Vec::new();
            for (is_export, path) in paths(&file.tokens) {
                match modules.absolute(module, &path) {
                    Some(path) if is_export => {
                        exports.extend(path.last().cloned().map(|name| (name, path)));
                    }
                    path => named.extend(path),
                }
            }
            modules.exports.insert(module.clone(), exports);
            modules.named.insert(module.clone(), named);
        }
        modules
    }

    /// Returns the path from the root of the package, unless it leads outside.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Route> {
        let (first, mut rest) = path.split_first()?;
        let mut base = module;
        match first.as_str() {
            "crate" => base = &[],
            "self" => {}
            "super" => base = base.split_last()?.1,
            _ => {
                rest = path;
                let inner = [base, &path[..1]].concat();
                self.files.get(&inner)?;
            }
        }
        while rest.first().is_some_and(|part| part == "super") {
            (base, rest) = (base.split_last()?.1, &rest[1..]);
        }
        Some([base, rest].concat())
    }

    /// Returns the module that defines what a path names.
    fn resolve(&self, path: &[String], depth: usize) -> Option<Route> {
        let mut lengths = (0..=path.len()).rev();
        let is_module = |length: &usize| *length == 0 || self.files.contains_key(&path[..*length]);
        let (module, rest) = path.split_at(lengths.find(is_module)?);
        if let (Some(exports), Some(name)) = (self.exports.get(module), rest.first())
            && depth < 8
        {
            if let Some(origin) = exports.get(name) {
                return self.resolve(&[origin, &rest[1..]].concat(), depth + 1);
            }
            if let Some(glob) = exports.get("*") {
                return self.resolve(&glob[..glob.len() - 1], depth + 1);
            }
        }
        (!module.is_empty()).then(|| module.to_vec())
    }

    fn imports(&self) -> Imports {
        let import = |(module, named): (&Route, &Vec<Route>)| {
            let used = named.iter().filter_map(|path| self.resolve(path, 0));
            let used = used.filter(|used| used != module).collect();
            (module.clone(), used)
        };
        let inner = self.named.iter().filter(|(module, _)| !module.is_empty());
        inner.map(import).collect()
    }

    /// Returns the imports of folders by folders.
    fn between_folders(&self, imports: &Imports) -> Imports {
        let mut folders = Imports::new();
        for (module, used) in imports {
            let Some(from) = self.folder(module) else {
                continue;
            };
            let into = used.iter().filter_map(|used| self.folder(used));
            // Imports between a folder and a folder inside it do not count.
            let others = into.filter(|into| !into.starts_with(from) && !from.starts_with(into));
            let others = others.map(<[_]>::to_vec);
            folders.entry(from.to_vec()).or_default().extend(others);
        }
        folders
    }

    /// Returns the folder of a module, or the folder with the name of its file. `None` for a file
    /// directly in `src`.
    fn folder<'m>(&self, module: &'m [String]) -> Option<&'m [String]> {
        let mut files = self.files.keys();
        let has_inner = files.any(|file| file.len() > module.len() && file.starts_with(module));
        match module {
            [] => None,
            _ if has_inner => Some(module),
            [outer @ .., _] => (!outer.is_empty()).then_some(outer),
        }
    }
}

/// Returns the path of the module of a file: empty for the root.
fn module(file: &Path) -> Option<Route> {
    let parts: Vec<_> = file.iter().filter_map(|part| part.to_str()).collect();
    let [_, _, "src", folders @ .., last] = parts.as_slice() else {
        return None;
    };
    let name = Some(last.strip_suffix(".rs")?);
    let name = name.filter(|name| !["lib", "mod"].contains(name));
    let path = folders.iter().copied().chain(name);
    Some(path.map(str::to_owned).collect())
}

/// Whether all modules are in one folder, or in one file and the folder with its name.
fn in_one_folder(circle: &BTreeSet<Route>) -> bool {
    let folders: BTreeSet<_> = circle.iter().map(|it| &it[..it.len() - 1]).collect();
    let subjects: BTreeSet<_> = circle.iter().map(|it| &it[0]).collect();
    folders.len() == 1 || subjects.len() == 1
}

/// Returns the sets of at least two modules that reach each other.
fn circles<'a>(imports: &'a Imports) -> Vec<BTreeSet<Route>> {
    let edges = |(from, used): (_, &'a BTreeSet<_>)| used.iter().map(move |to| (from, to));
    let edges = imports.iter().flat_map(edges);
    let mut circles = tarjan_scc(&DiGraphMap::<_, ()>::from_edges(edges));
    circles.retain(|circle| circle.len() > 1);
    let set = |circle: Vec<&Route>| circle.into_iter().cloned().collect();
    circles.into_iter().map(set).collect()
}

/// Returns the paths that a file names, and whether it exports them.
fn paths(tokens: &[Token]) -> Vec<(bool, Route)> {
    let mut found = Vec::new();
    let mut path = Route::new();
    // The path before each open `::{`.
    let mut groups = Vec::<Route>::new();
    let mut is_export = false;
    let before = |index: usize, distance: usize| {
        let token = index.checked_sub(distance).map(|index| &tokens[index]);
        token.map_or("", |token| token.text.as_str())
    };
    for (index, Token { text, .. }) in tokens.iter().enumerate() {
        let is_joined = before(index, 1) == ":" && before(index, 2) == ":";
        let is_name = text.starts_with(|first: char| first.is_alphabetic() || "_*".contains(first));
        match text.as_str() {
            ":" => continue,
            "{" if is_joined => {
                groups.push(mem::take(&mut path));
                continue;
            }
            _ if is_name && is_joined => {
                // Without a beginning it belongs to a type: `<T as Trait>::name`.
                if !path.is_empty() {
                    path.push(text.clone());
                }
                continue;
            }
            _ => {}
        }
        // `{self}` names the module itself.
        let is_module = path.pop_if(|last| last == "self").is_some();
        if path.len() > 1 || (is_module && !path.is_empty()) {
            found.push((is_export, mem::take(&mut path)));
        }
        path.clear();
        match text.as_str() {
            "as" => {}
            "use" => is_export = matches!(before(index, 1), "pub" | ")"),
            ";" => is_export = false,
            "}" => drop(groups.pop()),
            _ if is_name => {
                path = groups.last().cloned().unwrap_or_default();
                path.push(text.clone());
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests;
