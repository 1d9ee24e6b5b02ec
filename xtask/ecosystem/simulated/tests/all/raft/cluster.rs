//! What the test sees of all nodes and clients, and what must not be.

use std::collections::{BTreeMap, BTreeSet};

use super::CLIENTS;
use super::client;

/// A list that all nodes agree on has one order, and each value has a position. So the operations
/// of clients are linearizable if each comes, in this order, behind those that ended before it
/// began.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    /// The leader of each term.
    leaders: BTreeMap<u64, u64>,
    /// The longest list of a node.
    values: Vec<u64>,
    /// The length of the list that the next operation has to see.
    seen: usize,
}

impl Cluster {
    pub(super) fn leader(&mut self, term: u64, node: u64) -> Result<(), String> {
        match *self.leaders.entry(term).or_insert(node) {
            first if first == node => Ok(()),
            first => Err(format!(
                "term {term} has two leaders: nodes {first} and {node}"
            )),
        }
    }

    /// Notes the list of a node.
    pub(super) fn list(&mut self, values: &[u64]) -> Result<(), String> {
        let known = &mut self.values;
        let common = known.len().min(values.len());
        if known[..common] != values[..common] {
            return Err(format!("two nodes disagree: {known:?} and {values:?}"));
        }
        for value in &values[common..] {
            if known.contains(value) {
                return Err(format!("{value} was appended twice: {values:?}"));
            }
            known.push(*value);
        }
        Ok(())
    }

    /// Returns what an operation that begins now has to see, for the methods that end it.
    pub(super) fn begin(&self) -> usize {
        self.seen
    }

    /// Ends an operation that has appended a value.
    pub(super) fn appended(&mut self, begun: usize, value: u64, at: u64) -> Result<(), String> {
        let position = usize::try_from(at).map_err(|error| error.to_string())?;
        if self.values.get(position) != Some(&value) {
            let values = &self.values;
            return Err(format!(
                "{value} is acknowledged at {at}, and not there: {values:?}"
            ));
        }
        self.end(begun, position + 1)
    }

    /// Ends an operation that has read the list.
    pub(super) fn read(&mut self, begun: usize, values: &[u64]) -> Result<(), String> {
        self.list(values)?;
        if values.len() < begun {
            let seen = &self.values[..begun];
            return Err(format!("a read is stale: it has {values:?} after {seen:?}"));
        }
        self.end(begun, values.len())
    }

    fn end(&mut self, begun: usize, length: usize) -> Result<(), String> {
        if length < begun {
            return Err(format!(
                "an operation at {length} began after {begun} had been seen"
            ));
        }
        self.seen = self.seen.max(length);
        Ok(())
    }

    /// Asserts that the list has each value of each client once.
    pub(super) fn assert_complete(&self) {
        let values: BTreeSet<_> = self.values.iter().copied().collect();
        let clients = (1..).take(CLIENTS.len());
        let expected: BTreeSet<_> = clients.flat_map(client::values).collect();
        assert_eq!(values, expected);
        assert_eq!(self.values.len(), expected.len());
    }
}
