//! Reads public items from the JSON that rustdoc writes.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::tidy::text;

/// Public items by path, without the name of the crate.
pub(super) type Items = BTreeMap<String, Item>;

#[derive(Debug, Default)]
pub(super) struct Item {
    /// The kind of the item, as rustdoc names it.
    pub(super) kind: String,
    /// Methods, variants and items of a trait, and whether each returns a future.
    pub(super) members: BTreeMap<String, bool>,
    /// Whether it is a function that returns a future.
    pub(super) is_future: bool,
    /// Whether its crate was not documented.
    pub(super) is_foreign: bool,
}

/// What rustdoc wrote of some crates, by name.
pub(super) struct Docs(HashMap<String, Value>);

/// An item, and the crate in which it was found.
type Found<'a> = (&'a Value, &'a Value);

impl Docs {
    pub(super) fn read(directory: &Path) -> Result<Self> {
        let mut docs = HashMap::new();
        for path in text::walk(directory, &["json"], |_| false)? {
            let name = path.file_stem().context("no name")?.to_string_lossy();
            let doc: Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
            docs.insert(name.into_owned(), doc);
        }
        Ok(Self(docs))
    }

    /// The public items of a crate.
    pub(super) fn items(&self, name: &str) -> Result<Items> {
        let doc = self.0.get(name);
        let doc = doc.with_context(|| format!("no rustdoc of {name}"))?;
        let root = get(doc, &doc["root"]).context("a crate without a root")?;
        let mut items = Items::new();
        self.walk((doc, root), "", &mut items);
        Ok(items)
    }

    fn walk(&self, (doc, module): Found<'_>, prefix: &str, items: &mut Items) {
        for id in list(&module["inner"]["module"]["items"]) {
            self.visit(doc, id, prefix, None, items);
        }
    }

    fn visit(&self, doc: &Value, id: &Value, prefix: &str, name: Option<&str>, items: &mut Items) {
        let path = |name: &str| match prefix {
            "" => name.to_owned(),
            _ => format!("{prefix}::{name}"),
        };
        let Some((doc, item)) = self.resolve(doc, id) else {
            let path_of = &doc["paths"][id.to_string()]["path"];
            let name = name.or_else(|| list(path_of).next_back()?.as_str());
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
        for member in self.members((doc, item)) {
            let Some(name) = member["name"].as_str() else {
                continue;
            };
            found.members.insert(name.to_owned(), gives_future(member));
        }
        // A type may have the same path as a macro or a module.
        if !items.contains_key(&path) || !found.members.is_empty() {
            items.insert(path, found);
        }
    }

    fn members<'a>(&'a self, (doc, item): Found<'a>) -> Vec<&'a Value> {
        let (kind, inner) = kind(item);
        let all = |list: &'a Value| self::list(list).filter_map(move |id| get(doc, id));
        match kind {
            "type_alias" => {
                let target = self.resolve(doc, &inner["type"]["resolved_path"]["id"]);
                target.map_or_else(Vec::new, |target| self.members(target))
            }
            "trait" => all(&inner["items"]).collect(),
            "struct" | "enum" | "union" => {
                let implementations = all(&inner["impls"]).map(|it| &it["inner"]["impl"]);
                let own = implementations.filter(|it| it["trait"].is_null());
                let items = own.flat_map(|it| all(&it["items"]));
                all(&inner["variants"]).chain(items).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the item with an id, in whichever crate it is.
    fn resolve<'a>(&'a self, doc: &'a Value, id: &Value) -> Option<Found<'a>> {
        if let Some(item) = get(doc, id) {
            return Some((doc, item));
        }
        let summary = doc["paths"].get(id.to_string())?;
        let origin = &doc["external_crates"][summary["crate_id"].to_string()];
        let other = self.0.get(origin["name"].as_str()?)?;
        let mut paths = other["paths"].as_object()?.iter();
        let same = paths.find(|(_, it)| it["crate_id"] == 0 && it["path"] == summary["path"]);
        let item = match same {
            Some((id, _)) => other["index"].get(id)?,
            // An item of a private module has the name that it has there.
            None => {
                let name = list(&summary["path"]).next_back()?;
                let mut items = other["index"].as_object()?.values();
                items.find(|it| it["name"] == *name && summary["kind"] == kind(it).0)?
            }
        };
        Some((other, item))
    }
}

/// The item of an id, if it is in that crate.
fn get<'a>(doc: &'a Value, id: &Value) -> Option<&'a Value> {
    doc["index"].get(id.to_string())
}

/// What is in an array.
fn list(array: &Value) -> impl DoubleEndedIterator<Item = &Value> {
    array.as_array().into_iter().flatten()
}

/// Returns the kind of an item, and its details.
fn kind(item: &Value) -> (&str, &Value) {
    let inner = item["inner"].as_object();
    let inner = inner.and_then(|inner| inner.iter().next());
    inner.map_or(("", &Value::Null), |(kind, inner)| (kind, inner))
}

/// Whether it is an `async fn`, or returns an `impl Future`.
fn gives_future(item: &Value) -> bool {
    let function = &item["inner"]["function"];
    let bounds = function["sig"]["output"]["impl_trait"].as_array();
    function["header"]["is_async"] == true
        || bounds.into_iter().flatten().any(|bound| {
            let path = bound["trait_bound"]["trait"]["path"].as_str();
            path.is_some_and(|path| path.ends_with("Future"))
        })
}
