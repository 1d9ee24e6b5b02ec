//! Public items, out of the JSON that rustdoc writes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};

/// The package whose items are looked for; the workspace has an old one, too.
pub(super) const TOKIO: &str = "tokio@1.54.1";

/// Public items by path, without the name of the crate.
pub(super) type Items = BTreeMap<String, Item>;

#[derive(Debug, Default)]
pub(super) struct Item {
    /// What it is, in rustdoc's words.
    pub(super) kind: String,
    /// Methods, variants and items of a trait, and whether each gives a future.
    pub(super) members: BTreeMap<String, bool>,
    /// Whether it is a function that gives a future.
    pub(super) is_future: bool,
    /// Whether it is of a crate that was not documented.
    pub(super) is_foreign: bool,
    /// The functions among the members, and the item itself as an empty name, whose
    /// documentation lacks an example.
    pub(super) without_example: BTreeSet<String>,
}

/// The documentation of some crates, by name.
pub(super) struct Docs(HashMap<String, Doc>);

struct Doc {
    root: String,
    index: Map<String, Value>,
    paths: Map<String, Value>,
    crates: Map<String, Value>,
}

/// An item, and the crate that it was found in.
type Found<'a> = (&'a Doc, &'a Value);

impl Docs {
    pub(super) fn read(directory: &Path) -> Result<Self> {
        let mut docs = HashMap::new();
        for entry in fs::read_dir(directory).context("rustdoc wrote nothing")? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let name = path.file_stem().context("no name")?.to_string_lossy();
            let text = fs::read_to_string(&path)?;
            let doc = serde_json::from_str(&text)
                .ok()
                .and_then(Doc::new)
                .with_context(|| format!("{} is no rustdoc of this version", path.display()))?;
            docs.insert(name.into_owned(), doc);
        }
        Ok(Self(docs))
    }

    /// The public items of a crate.
    pub(super) fn items(&self, name: &str) -> Result<Items> {
        let doc = self
            .0
            .get(name)
            .with_context(|| format!("no rustdoc of {name}"))?;
        let mut items = Items::new();
        let root = doc.index.get(&doc.root).context("a crate without a root")?;
        self.walk((doc, root), "", &mut items);
        Ok(items)
    }

    fn walk(&self, (doc, module): Found<'_>, prefix: &str, items: &mut Items) {
        for id in module["inner"]["module"]["items"]
            .as_array()
            .into_iter()
            .flatten()
        {
            self.visit(doc, id, prefix, None, items);
        }
    }

    fn visit(&self, doc: &Doc, id: &Value, prefix: &str, name: Option<&str>, items: &mut Items) {
        let path = |name: &str| match prefix {
            "" => name.to_owned(),
            _ => format!("{prefix}::{name}"),
        };
        let Some((doc, item)) = self.resolve(doc, id) else {
            let name = name.or_else(|| doc.path(id)?.last()?.as_str());
            let foreign = Item {
                is_foreign: true,
                ..Item::default()
            };
            items.extend(name.map(|name| (path(name), foreign)));
            return;
        };
        let (kind, inner) = kind(item);
        if kind == "use" {
            match self.resolve(doc, &inner["id"]) {
                Some(target) if inner["is_glob"] == true => self.walk(target, prefix, items),
                _ => self.visit(doc, &inner["id"], prefix, inner["name"].as_str(), items),
            }
            return;
        }
        let Some(name) = name.or_else(|| item["name"].as_str()) else {
            return;
        };
        let path = path(name);
        if kind == "module" {
            if items.insert(path.clone(), Item::default()).is_none() {
                self.walk((doc, item), &path, items);
            }
            return;
        }
        let mut found = Item {
            kind: kind.to_owned(),
            is_future: gives_future(item),
            ..Item::default()
        };
        if lacks_example(item) {
            found.without_example.insert(String::new());
        }
        for member in self.members((doc, item)) {
            let Some(name) = member["name"].as_str() else {
                continue;
            };
            found.members.insert(name.to_owned(), gives_future(member));
            if lacks_example(member) {
                found.without_example.insert(name.to_owned());
            }
        }
        // A type and a macro or module may have one path.
        if !items.contains_key(&path) || !found.members.is_empty() {
            items.insert(path, found);
        }
    }

    fn members<'a>(&'a self, (doc, item): Found<'a>) -> Vec<&'a Value> {
        let (kind, inner) = kind(item);
        let ids = |list: &Value| {
            list.as_array()
                .into_iter()
                .flatten()
                .cloned()
                .collect::<Vec<_>>()
        };
        let mut members = Vec::new();
        match kind {
            "type_alias" => {
                let target = self.resolve(doc, &inner["type"]["resolved_path"]["id"]);
                return target
                    .map(|target| self.members(target))
                    .unwrap_or_default();
            }
            "trait" => members = ids(&inner["items"]),
            "struct" | "enum" | "union" => {
                members = ids(&inner["variants"]);
                for id in ids(&inner["impls"]) {
                    let Some(implementation) = doc.get(&id) else {
                        continue;
                    };
                    let implementation = &implementation["inner"]["impl"];
                    if implementation["trait"].is_null() {
                        members.extend(ids(&implementation["items"]));
                    }
                }
            }
            _ => {}
        }
        members.iter().filter_map(|id| doc.get(id)).collect()
    }

    /// The item of an id, in whichever crate it is.
    fn resolve<'a>(&'a self, doc: &'a Doc, id: &Value) -> Option<Found<'a>> {
        if let Some(item) = doc.get(id) {
            return Some((doc, item));
        }
        let summary = doc.paths.get(&key(id))?;
        let number = key(&summary["crate_id"]);
        let other = self.0.get(doc.crates.get(&number)?["name"].as_str()?)?;
        let path = summary["path"].as_array()?;
        let same = other
            .paths
            .iter()
            .find(|(_, other)| other["crate_id"] == 0 && other["path"].as_array() == Some(path));
        let item = match same {
            Some((id, _)) => other.index.get(id)?,
            // Of a private module, under the name that it has there.
            None => other.index.values().find(|item| {
                item["name"] == *path.last().unwrap_or(&Value::Null)
                    && kind(item).0 == summary["kind"].as_str().unwrap_or("")
            })?,
        };
        Some((other, item))
    }
}

impl Doc {
    fn new(mut json: Value) -> Option<Self> {
        let mut object = |name: &str| match json[name].take() {
            Value::Object(object) => Some(object),
            _ => None,
        };
        let (index, paths, crates) = (
            object("index")?,
            object("paths")?,
            object("external_crates")?,
        );
        Some(Self {
            root: key(&json["root"]),
            index,
            paths,
            crates,
        })
    }

    fn get(&self, id: &Value) -> Option<&Value> {
        self.index.get(&key(id))
    }

    fn path(&self, id: &Value) -> Option<&Vec<Value>> {
        self.paths.get(&key(id))?["path"].as_array()
    }
}

/// A number as the name of a field.
fn key(id: &Value) -> String {
    id.to_string()
}

/// What an item is, and what is said of it as such.
fn kind(item: &Value) -> (&str, &Value) {
    let inner = item["inner"]
        .as_object()
        .and_then(|inner| inner.iter().next());
    inner.map_or(("", &Value::Null), |(kind, inner)| (kind, inner))
}

/// Whether it is a type, trait or function whose documentation has no example. One that is
/// deprecated needs none.
fn lacks_example(item: &Value) -> bool {
    let kinds = ["struct", "enum", "union", "trait", "function"];
    let has_example = item["docs"]
        .as_str()
        .is_some_and(|docs| docs.contains("```"));
    kinds.contains(&kind(item).0) && item["deprecation"].is_null() && !has_example
}

/// Whether it is an `async fn`, or gives some `impl Future`.
fn gives_future(item: &Value) -> bool {
    let function = &item["inner"]["function"];
    let bounds = function["sig"]["output"]["impl_trait"].as_array();
    function["header"]["is_async"] == true
        || bounds.into_iter().flatten().any(|bound| {
            let path = bound["trait_bound"]["trait"]["path"].as_str();
            path.is_some_and(|path| path.ends_with("Future"))
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A facade that passes on a module and a type of another crate.
    #[test]
    fn items_are_found_in_the_crate_that_has_them() {
        let facade = json!({
            "root": 0,
            "index": {
                "0": {"name": "facade", "inner": {"module": {"items": [1, 2, 5]}}},
                "1": {"inner": {"use": {"id": 7, "name": "Renamed", "is_glob": false}}},
                "2": {"name": "inside", "inner": {"module": {"items": [3]}}},
                "3": {"inner": {"use": {"id": 8, "name": "layer", "is_glob": true}}},
                "5": {"inner": {"use": {"id": 9, "name": "Foreign", "is_glob": false}}}
            },
            "paths": {
                "7": {"crate_id": 4, "path": ["layer", "Type"], "kind": "struct"},
                "8": {"crate_id": 4, "path": ["layer"], "kind": "module"},
                "9": {"crate_id": 6, "path": ["std", "Foreign"], "kind": "struct"}
            },
            "external_crates": {"4": {"name": "layer"}, "6": {"name": "std"}}
        });
        let layer = json!({
            "root": 0,
            "index": {
                "0": {"name": "layer", "inner": {"module": {"items": [1, 4]}}},
                "1": {"name": "Type", "docs": "```", "inner": {"struct": {"impls": [2, 5]}}},
                "2": {"inner": {"impl": {"trait": null, "items": [3]}}},
                "3": {"name": "wait", "inner": {"function": {
                    "header": {"is_async": true}, "sig": {"output": null}
                }}},
                "4": {"name": "make", "inner": {"function": {
                    "header": {"is_async": false}, "sig": {"output": null}
                }}},
                "5": {"inner": {"impl": {"trait": {"path": "Clone"}, "items": [4]}}}
            },
            "paths": {
                "0": {"crate_id": 0, "path": ["layer"], "kind": "module"},
                "1": {"crate_id": 0, "path": ["layer", "Type"], "kind": "struct"}
            },
            "external_crates": {}
        });
        let docs = [("facade", facade), ("layer", layer)]
            .map(|(name, json)| (name.to_owned(), Doc::new(json).unwrap()));
        let items = Docs(docs.into()).items("facade").unwrap();
        let paths: Vec<_> = items.keys().map(String::as_str).collect();
        assert_eq!(
            paths,
            [
                "Foreign",
                "Renamed",
                "inside",
                "inside::Type",
                "inside::make"
            ]
        );
        assert!(items["Foreign"].is_foreign);
        for path in ["Renamed", "inside::Type"] {
            assert_eq!(items[path].kind, "struct");
            assert_eq!(items[path].members, [("wait".to_owned(), true)].into());
            assert_eq!(items[path].without_example, ["wait".to_owned()].into());
        }
        assert!(!items["inside::make"].is_future);
    }
}
