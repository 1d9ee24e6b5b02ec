//! One source file with all of its mutants in it, each behind a switch.
//!
//! [`Schema`] is the text that surrounds one mutant's place: `(if on(7) { a <= b }
//! else { ` before `a < b`, and ` })` after it. The switches are in a crate that
//! the copy has more than the tree: see `switch.rs.in`.

use std::ops::Range;

use super::mutants::Mutant;

/// Stands for the question whether the mutant is on.
const ON: char = '\u{a7}';

/// How one mutant is put into its file beside the others.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    /// What is surrounded.
    pub(super) range: Range<usize>,
    /// Where the function stands.
    pub(super) body: Range<usize>,
    before: String,
    after: &'static str,
    /// Whether what stands behind it relies on it: a jump or an assignment is
    /// dropped, and a value that was moved is used, or a variable without one.
    pub(super) is_relied_on: bool,
}

impl Schema {
    fn new(range: Range<usize>, before: String, after: &'static str) -> Self {
        Self {
            range,
            body: 0..0,
            before,
            after,
            is_relied_on: false,
        }
    }

    /// Another expression instead of this one.
    pub(super) fn other(range: Range<usize>, other: &str) -> Self {
        Self::new(range, format!("(if {ON} {{ {other} }} else {{ "), " })")
    }

    /// A condition never holds. One with a pattern cannot stand in parentheses.
    pub(super) fn never(range: Range<usize>, has_pattern: bool) -> Self {
        match has_pattern {
            true => Self::new(range, format!("!{ON} && "), ""),
            false => Self::new(range, format!("(!{ON} && ("), "))"),
        }
    }

    /// A condition always holds.
    pub(super) fn always(range: Range<usize>) -> Self {
        Self::new(range, format!("({ON} || ("), "))")
    }

    /// A statement is dropped.
    pub(super) fn dropped(range: Range<usize>, is_relied_on: bool) -> Self {
        Self {
            is_relied_on,
            ..Self::new(range, format!("if !{ON} {{ "), " }")
        }
    }

    /// A function whose statements begin at `start` returns a value.
    pub(super) fn returned(start: usize, value: &str) -> Self {
        Self::new(start..start, format!(" if {ON} {{ return {value}; }} "), "")
    }

    /// An arm, without a guard, whose pattern ends at `end` never matches.
    pub(super) fn unmatched(end: usize) -> Self {
        Self::new(end..end, format!(" if !{ON} "), "")
    }

    /// The same in a function that stands there.
    pub(super) fn within(self, body: Range<usize>) -> Self {
        Self { body, ..self }
    }
}

/// A file with its mutants in it.
pub(super) struct Instrumented {
    pub(super) text: String,
    /// Where text was put in: its place in the original, its place in `text`, and
    /// the mutant that it belongs to if it stands before that one's place.
    added: Vec<(usize, Range<usize>, Option<usize>)>,
}

impl Instrumented {
    /// Puts mutants into their file, behind `first`: those of `mutants`, each with
    /// the number of its switch.
    pub(super) fn new(original: &str, first: &str, mutants: &[(usize, &Mutant)]) -> Self {
        // Of two at one place the longer is outside.
        let mut ends = vec![((0, 0, 0, 0), first.to_owned(), None)];
        for &(id, mutant) in mutants {
            if let Some(schema) = &mutant.schema {
                let Range { start, end } = schema.range;
                let length = end - start;
                let before = schema
                    .before
                    .replace(ON, &format!("::mutant_switch::on({id})"));
                // At one place what ends comes before what begins.
                ends.push(((start, 1, usize::MAX - length, id), before, Some(id)));
                if !schema.after.is_empty() {
                    let place = (end, 0, length, usize::MAX - id);
                    ends.push((place, schema.after.to_owned(), None));
                }
            }
        }
        ends.sort();
        let mut text = String::new();
        let mut added = Vec::new();
        let mut copied = 0;
        for ((place, ..), addition, id) in ends {
            text.push_str(&original[copied..place]);
            copied = place;
            added.push((place, text.len()..text.len() + addition.len(), id));
            text.push_str(&addition);
        }
        text.push_str(&original[copied..]);
        Self { text, added }
    }

    /// The mutant whose own text stands at a place.
    pub(super) fn mutant_at(&self, at: usize) -> Option<usize> {
        let added = self.added.iter().find(|(_, range, _)| range.contains(&at));
        added.and_then(|&(_, _, id)| id)
    }

    /// The place in the original.
    pub(super) fn original(&self, at: usize) -> usize {
        let before = self.added.iter().rfind(|(_, range, _)| range.start <= at);
        match before {
            Some((place, range, _)) => place + at.saturating_sub(range.end),
            None => at,
        }
    }
}

#[cfg(test)]
mod tests;
