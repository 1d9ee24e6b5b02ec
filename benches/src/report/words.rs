//! What each section is about, and what to make of it.

use crate::record::{Comparison, Section};

use super::{Standing, Tally};
use crate::table::short;

/// How many figures at which Raddle is behind are named.
const LISTED: usize = 8;

/// A title and a text for each [`Section`], in their order.
const SECTIONS: &str = include_str!("sections.md");

/// The title of a section, and how to read it.
pub(super) fn about(section: Section) -> (&'static str, &'static str) {
    let text = SECTIONS.split("\n## ").nth(1 + section as usize);
    let (title, about) = text
        .and_then(|text| text.split_once("\n\n"))
        .unwrap_or_default();
    (title, about.trim_end())
}

/// How a section turned out.
pub(super) fn verdict<'a>(
    comparisons: impl IntoIterator<Item = &'a Comparison> + Clone,
) -> Option<String> {
    let tally = Tally::of(comparisons.clone());
    let middle = tally.middle()?;
    let mut text = format!(
        "Of {} figures that Tokio has too, Raddle is ahead at {}, level at {} and behind at {}; in the middle it is \
         {} times as good.",
        tally.count(),
        tally.ahead,
        tally.level,
        tally.behind,
        short(middle)
    );
    let behind: Vec<_> = comparisons.into_iter().filter_map(behind).collect();
    if !behind.is_empty() {
        let listed = behind.len().min(LISTED);
        text += &format!(" Behind: {}", behind[..listed].join("; "));
        text += &match behind.len() - listed {
            0 => ".".to_owned(),
            more => format!(", and {more} more."),
        };
    }
    Some(text)
}

fn behind(comparison: &Comparison) -> Option<String> {
    let (lead, standing) = comparison.standing()?;
    let tokio = comparison.rival() == Some(crate::record::PEER);
    (tokio && standing == Standing::Behind).then(|| {
        let figure = &comparison.figure;
        format!("{}, {figure} ({})", comparison.name(), short(lead.median))
    })
}
