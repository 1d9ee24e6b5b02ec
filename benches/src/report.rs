//! The report: everything that was recorded, as one page and as a summary for a
//! terminal.

mod announced;
mod compare;
mod leads;
mod markdown;
mod page;
mod plot;
mod words;

use crate::record::{Comparison, PEER, Record, Section};
use crate::stats::{Interval, median};

/// Records as a reader wants them: by section, and what was varied side by side.
#[derive(Debug)]
pub struct Report {
    /// The command that a reader would repeat.
    command: String,
    records: Vec<Record>,
    parts: Vec<Part>,
    saved: Option<Saved>,
}

/// What was kept under a name, to be compared with.
#[derive(Debug)]
pub struct Saved {
    /// The name.
    pub name: String,
    /// What was kept.
    pub records: Vec<Record>,
}

/// A section with what was measured.
#[derive(Debug)]
struct Part {
    section: Section,
    groups: Vec<Group>,
}

/// Comparisons that differ in what was varied only, in its order; or one.
#[derive(Debug)]
struct Group(Vec<Comparison>);

/// Whether Raddle is ahead of the contestant that matters most, as far as the
/// interval says and two decimals show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Ahead,
    Level,
    Behind,
}

impl Report {
    /// Arranges `records`, the oldest first: where two measured the same, the later
    /// one counts.
    pub fn new(command: String, records: Vec<Record>, saved: Option<Saved>) -> Self {
        Self {
            command,
            parts: parts(&records),
            records,
            saved,
        }
    }

    /// The page, on its own.
    pub fn page(&self) -> String {
        page::page(self)
    }

    /// The tables and the total, as Markdown for a terminal.
    pub fn summary(&self) -> String {
        markdown::summary(self)
    }

    /// The curve of what ran under a title that begins so, as a picture that stands alone.
    pub fn picture(&self, title: &str, figure: &str) -> Option<String> {
        Some(plot::alone(&self.curve(title, figure)?))
    }

    /// The curves of these figures, side by side in one picture that stands alone. None if one of
    /// them has no curve.
    pub fn pictures(&self, title: &str, figures: &[&str]) -> Option<String> {
        let curves = figures.iter().map(|figure| self.curve(title, figure));
        let curves: Option<Vec<_>> = curves.collect();
        Some(plot::alone(&plot::grid(&curves?)))
    }

    fn curve(&self, title: &str, figure: &str) -> Option<String> {
        let mut groups = self.parts.iter().flat_map(|part| &part.groups);
        let group = groups.find(|group| {
            let first = group.first();
            group.0.len() > 1 && first.title.starts_with(title) && first.figure == figure
        });
        Some(plot::curve(group?))
    }

    /// How many times as good the first contestant is as each other one where the number that was
    /// varied has this `value`, as a picture that stands alone.
    pub fn leads(&self, label: &str, value: f64) -> String {
        let comparisons = self.comparisons().filter(|one| self::value(one) == value);
        plot::alone(&plot::forest(label, &leads::leads(comparisons)))
    }

    /// A page of the documentation with the tables of this report in place of those
    /// between its marks. None if it has no marks.
    pub fn renewed(&self, document: &str) -> Option<String> {
        markdown::renewed(self, document)
    }

    fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        let groups = self.parts.iter().flat_map(|part| &part.groups);
        groups.flat_map(|group| &group.0)
    }
}

fn parts(records: &[Record]) -> Vec<Part> {
    let mut latest: Vec<Comparison> = Vec::new();
    for comparison in records.iter().flat_map(|record| &record.comparisons) {
        match latest.iter_mut().find(|one| one.is_same(comparison)) {
            Some(earlier) => earlier.clone_from(comparison),
            None => latest.push(comparison.clone()),
        }
    }
    // In the order of sections, and within one as they ran.
    latest.sort_by_key(|comparison| comparison.section);
    let mut parts: Vec<Part> = Vec::new();
    for comparison in latest {
        if parts
            .last()
            .is_none_or(|part| part.section != comparison.section)
        {
            parts.push(Part {
                section: comparison.section,
                groups: Vec::new(),
            });
        }
        let Some(part) = parts.last_mut() else {
            continue;
        };
        match part
            .groups
            .iter_mut()
            .find(|group| group.first().is_varied(&comparison))
        {
            Some(group) => group.0.push(comparison),
            None => part.groups.push(Group(vec![comparison])),
        }
    }
    for group in parts.iter_mut().flat_map(|part| &mut part.groups) {
        group.0.sort_by(|a, b| value(a).total_cmp(&value(b)));
    }
    parts
}

fn value(comparison: &Comparison) -> f64 {
    comparison
        .parameter
        .as_ref()
        .map_or(0.0, |parameter| parameter.value)
}

impl Part {
    /// The name of its heading in the page.
    fn anchor(&self) -> String {
        format!("{:?}", self.section).to_lowercase()
    }

    fn comparisons(&self) -> impl Iterator<Item = &Comparison> + Clone {
        self.groups.iter().flat_map(|group| &group.0)
    }
}

impl Group {
    fn first(&self) -> &Comparison {
        &self.0[0]
    }

    /// One that stands for all: in the middle, or next below it.
    fn usual(&self) -> &Comparison {
        &self.0[(self.0.len() - 1) / 2]
    }
}

impl Comparison {
    /// The contestant that Raddle is compared with first: Tokio, or the next one.
    fn rival(&self) -> Option<&str> {
        let rival = self.contestant(PEER).or(self.contestants.get(1))?;
        Some(&rival.name)
    }

    /// How many times as good as that.
    fn standing(&self) -> Option<(Interval, Standing)> {
        let lead = self.lead(self.rival()?)?;
        Some((lead, Standing::of(lead)))
    }
}

impl Standing {
    fn of(lead: Interval) -> Self {
        match lead {
            _ if !lead.is_sure() => Self::Level,
            Interval { low, .. } if low >= 1.005 => Self::Ahead,
            Interval { high, .. } if high < 0.995 => Self::Behind,
            _ => Self::Level,
        }
    }
}

/// How a number of comparisons turned out.
#[derive(Debug, Default)]
struct Tally {
    ahead: usize,
    level: usize,
    behind: usize,
    leads: Vec<f64>,
}

impl Tally {
    /// Of those in which Tokio took part.
    fn of<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> Self {
        let mut tally = Self::default();
        for comparison in comparisons {
            if comparison.rival() != Some(PEER) {
                continue;
            }
            let Some((lead, standing)) = comparison.standing() else {
                continue;
            };
            tally.leads.push(lead.median);
            match standing {
                Standing::Ahead => tally.ahead += 1,
                Standing::Level => tally.level += 1,
                Standing::Behind => tally.behind += 1,
            }
        }
        tally
    }

    fn count(&self) -> usize {
        self.leads.len()
    }

    /// The lead in the middle.
    fn middle(&self) -> Option<f64> {
        (!self.leads.is_empty()).then(|| median(&self.leads))
    }
}

#[cfg(test)]
mod tests;
