//! The table of strings: names, and locations in the source.

use std::collections::{BTreeMap, HashMap};
use std::panic::Location;

use crate::StringId;
use raddle_primitives::sync::{Mutex, Rank};

/// The strings that events refer to. A string stays for as long as the table.
#[derive(Debug)]
pub(crate) struct Strings {
    limit: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    texts: BTreeMap<StringId, String>,
    by_text: HashMap<String, StringId>,
    by_location: HashMap<&'static Location<'static>, StringId>,
}

impl Strings {
    /// Makes a table for at most `limit` strings.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            table: Mutex::ranked(Rank::leaf("recorder strings"), Table::default()),
        }
    }

    /// Returns the id of a text, or [`StringId::UNKNOWN`] if the table is full.
    pub(crate) fn text(&self, text: &str) -> StringId {
        self.table.lock().add(text, self.limit)
    }

    /// Returns the id of a source location.
    pub(crate) fn location(&self, location: &'static Location<'static>) -> StringId {
        let mut table = self.table.lock();
        if let Some(id) = table.by_location.get(location) {
            return *id;
        }
        let id = table.add(&location.to_string(), self.limit);
        // Their number is bounded by the number of calls in the program.
        table.by_location.insert(location, id);
        id
    }

    /// Returns all strings.
    pub(crate) fn all(&self) -> BTreeMap<StringId, String> {
        self.table.lock().texts.clone()
    }
}

impl Table {
    fn add(&mut self, text: &str, limit: usize) -> StringId {
        if let Some(id) = self.by_text.get(text) {
            return *id;
        }
        let next = u32::try_from(self.texts.len() + 1).ok();
        let id = next
            .filter(|&number| number as usize <= limit)
            .and_then(StringId::new);
        let Some(id) = id else {
            return StringId::UNKNOWN;
        };
        self.texts.insert(id, text.to_owned());
        self.by_text.insert(text.to_owned(), id);
        id
    }
}
