//! The leads of a section, each with a name that is no longer than it must be.

use crate::record::{Comparison, PEER};
use crate::stats::Interval;

/// A row for each comparison with Tokio or, where that did not take part, with each
/// that did; without what all names end with.
pub(super) fn leads<'a>(
    comparisons: impl IntoIterator<Item = &'a Comparison>,
) -> Vec<(String, Interval)> {
    let mut rows = Vec::new();
    for one in comparisons {
        let name = format!("{}, {}", one.name(), one.figure);
        let parts: Vec<String> = name.split(", ").map(str::to_owned).collect();
        for (rival, lead) in against(one) {
            rows.push((parts.clone(), rival, lead));
        }
    }
    let end = |parts: &[String], place| parts.iter().rev().nth(place).cloned();
    let shared = (0..).take_while(|place| {
        let first = &rows[0].0;
        // A name is left of each.
        let has =
            |parts: &[String]| parts.len() > place + 1 && end(parts, *place) == end(first, *place);
        rows.iter().any(|(parts, ..)| parts != first) && rows.iter().all(|(parts, ..)| has(parts))
    });
    let shared = if rows.is_empty() { 0 } else { shared.count() };
    let named = rows.iter().map(|(parts, rival, lead)| {
        let name = parts[..parts.len() - shared].join(", ");
        match rival.as_str() {
            PEER => (name, *lead),
            rival => (format!("{rival}: {name}"), *lead),
        }
    });
    named.collect()
}

fn against(one: &Comparison) -> Vec<(String, Interval)> {
    let rivals: Vec<_> = match one.contestant(PEER) {
        Some(peer) => vec![peer],
        None => one.contestants.iter().skip(1).collect(),
    };
    let leads = rivals
        .into_iter()
        .filter_map(|rival| Some((rival.name.clone(), one.lead(&rival.name)?)));
    leads.collect()
}

#[cfg(test)]
mod tests;
