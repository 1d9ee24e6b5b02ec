//! The report: all records, as one page and as a summary for a terminal.

mod announced;
mod plot;
mod text;

use std::fs;
use std::io::{Error, Result};
use std::path::Path;

use crate::record::{Comparison, PEER, Record};
use crate::stats::{Interval, median};

/// Records by section, with the values of a varied parameter side by side.
#[derive(Debug)]
pub struct Report {
    /// The command that repeats the report.
    command: String,
    records: Vec<Record>,
    groups: Vec<Group>,
    saved: Option<Saved>,
}

/// Records that were saved under a name, to compare with.
#[derive(Debug)]
pub struct Saved {
    /// The name.
    pub name: String,
    /// The records.
    pub records: Vec<Record>,
}

/// Comparisons that differ only in the varied parameter, in its order; or a single comparison.
#[derive(Debug)]
struct Group(Vec<Comparison>);

/// Whether Raddle is ahead of its main rival, as far as the interval and two decimals show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Ahead,
    Level,
    Behind,
}

impl Report {
    /// Arranges `records`, the oldest first. Of two records of the same measurement, the later one
    /// is used.
    pub fn new(command: String, records: Vec<Record>, saved: Option<Saved>) -> Self {
        let groups = groups(&records);
        Self {
            command,
            records,
            groups,
            saved,
        }
    }

    /// Returns the page, which needs no other file.
    pub fn page(&self) -> String {
        text::page(self)
    }

    /// Returns the tables and the totals, as Markdown for a terminal.
    pub fn summary(&self) -> String {
        text::summary(self)
    }

    /// Returns the machine and the tables, as Markdown for a page of the documentation.
    pub fn tables(&self) -> String {
        text::machine(self) + &text::tables(self, text::is_documented)
    }

    /// Returns the curves of these figures under a title that begins with `title`, as one
    /// stand-alone picture. `None` if one of them has no curve.
    pub fn picture(&self, title: &str, figures: &[&str]) -> Option<String> {
        let curves = figures.iter().map(|figure| {
            self.groups.iter().find(|group| {
                let first = group.first();
                group.is_curve() && first.title.starts_with(title) && first.figure == *figure
            })
        });
        let curves: Vec<_> = curves.collect::<Option<_>>()?;
        Some(plot::alone(&plot::curves(&curves)))
    }

    /// Returns how many times as good the first contestant is as each other one where the parameter
    /// has this `value`, as a stand-alone picture.
    pub fn leads(&self, label: &str, value: f64) -> String {
        let comparisons = self.comparisons().filter(|one| one.value() == value);
        plot::alone(&plot::forest(label, &leads(comparisons)))
    }

    fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        self.groups.iter().flat_map(|group| &group.0)
    }

    /// Returns the groups of each section.
    fn parts(&self) -> impl Iterator<Item = &[Group]> {
        let section = |group: &Group| group.first().section;
        self.groups.chunk_by(move |a, b| section(a) == section(b))
    }
}

/// Replaces the text between the marks of `name` in the `page` by `tables`.
pub fn renew(page: &Path, name: &str, tables: &str) -> Result<()> {
    let renewed = renewed(&fs::read_to_string(page)?, name, tables);
    let no_marks = || Error::other(format!("{} has no marks of {name}", page.display()));
    fs::write(page, renewed.ok_or_else(no_marks)?)
}

fn renewed(document: &str, name: &str, tables: &str) -> Option<String> {
    let [begin, end] = ["", "end of "].map(|what| format!("<!-- {what}{name} -->"));
    let (before, rest) = document.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n\n{tables}\n{end}{after}"))
}

fn groups(records: &[Record]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for comparison in records.iter().flat_map(|record| &record.comparisons) {
        let varied = |group: &&mut Group| group.first().is_varied(comparison);
        let Some(Group(group)) = groups.iter_mut().find(varied) else {
            groups.push(Group(vec![comparison.clone()]));
            continue;
        };
        match group.iter_mut().find(|one| one.is_same(comparison)) {
            Some(earlier) => earlier.clone_from(comparison),
            None => group.push(comparison.clone()),
        }
    }
    groups.sort_by_key(|group| group.first().section);
    for Group(group) in &mut groups {
        group.sort_by(|a, b| a.value().total_cmp(&b.value()));
    }
    groups
}

/// Returns a row for each comparison with Tokio or, where Tokio did not take part, with each other
/// contestant. The names omit the words with which all of them end.
fn leads<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> Vec<(String, Interval)> {
    let mut rows = Vec::new();
    for one in comparisons {
        let name = format!("{}, {}", one.name(), one.figure);
        if one.contestant(PEER).is_some() {
            rows.extend(one.lead(PEER).map(|lead| (name, lead)));
            continue;
        }
        for rival in one.contestants.iter().skip(1) {
            let name = format!("{}: {name}", rival.name);
            rows.extend(one.lead(&rival.name).map(|lead| (name, lead)));
        }
    }
    remove_common_end(&mut rows);
    rows
}

/// Removes the words, after a comma, with which the names of all rows end. Returns them, with the
/// comma.
fn remove_common_end<T>(rows: &mut [(String, T)]) -> String {
    let mut common = String::new();
    while let [(first, _), _, ..] = &rows[..]
        && let Some((_, last)) = first.rsplit_once(", ")
    {
        let end = format!(", {last}");
        if !rows.iter().all(|(name, _)| name.ends_with(&end)) {
            break;
        }
        for (name, _) in &mut *rows {
            name.truncate(name.len() - end.len());
        }
        common.insert_str(0, &end);
    }
    common
}

impl Group {
    fn first(&self) -> &Comparison {
        &self.0[0]
    }

    fn is_curve(&self) -> bool {
        self.0.len() > 1
    }

    /// Returns the comparison that represents the group: the one in the middle, or the next below
    /// it.
    fn usual(&self) -> &Comparison {
        &self.0[(self.0.len() - 1) / 2]
    }
}

impl Comparison {
    /// Returns the value of the varied parameter.
    fn value(&self) -> f64 {
        self.parameter.as_ref().map_or(0.0, |one| one.value)
    }

    /// Returns the main rival of Raddle: Tokio, or the next contestant.
    fn rival(&self) -> Option<&str> {
        let rival = self.contestant(PEER).or(self.contestants.get(1))?;
        Some(&rival.name)
    }

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

/// The number of comparisons with Tokio, by their outcome.
#[derive(Debug, Default)]
struct Tally {
    ahead: usize,
    level: usize,
    behind: usize,
    count: usize,
    /// The median of the leads.
    median: f64,
}

impl Tally {
    /// `None` if Tokio took part in none of them.
    fn of<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> Option<Self> {
        let (mut tally, mut leads) = (Self::default(), Vec::new());
        for one in comparisons {
            if one.rival() != Some(PEER) {
                continue;
            }
            let Some((lead, standing)) = one.standing() else {
                continue;
            };
            leads.push(lead.median);
            *match standing {
                Standing::Ahead => &mut tally.ahead,
                Standing::Level => &mut tally.level,
                Standing::Behind => &mut tally.behind,
            } += 1;
        }
        (!leads.is_empty()).then(|| Self {
            count: leads.len(),
            median: median(&leads),
            ..tally
        })
    }
}

#[cfg(test)]
mod tests;
